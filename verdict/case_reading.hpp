// SPDX-License-Identifier: Apache-2.0
// A case as the equations read it: the same numbers in any scalar.
#pragma once

#include <optional>
#include <stdexcept>
#include <vector>

#include "cases/case.hpp"
#include "reference/attention/attention.hpp"
#include "reference/bias/alibi.hpp"
#include "reference/bias/cable.hpp"
#include "reference/bias/cable_nw.hpp"
#include "reference/bias/ggd.hpp"
#include "reference/bias/k_cable.hpp"
#include "reference/bias/k_cable_nw.hpp"
#include "reference/bias/nope.hpp"

namespace plumbline::verdict {

inline reference::Mask mask_of(const cases::Case& c) {
  return {c.spec.mask.causal, c.spec.mask.window, c.lengths, c.documents};
}

/// Rows [first, first + rows) of a tensor with `columns` numbers a row.
template <reference::Real R>
reference::Matrix<R> matrix_of(const std::vector<float>& tensor, std::size_t first, int rows,
                               int columns) {
  reference::Matrix<R> matrix(rows, columns);
  const float* source = tensor.data() + first * columns;
  for (Eigen::Index n = 0; n < matrix.size(); ++n) matrix.data()[n] = R(double{source[n]});
  return matrix;
}

template <reference::Real R>
reference::Vector<R> vector_of(const std::vector<float>& tensor, std::size_t first, int size) {
  return matrix_of<R>(tensor, first / size, 1, size).row(0);
}

/// A case in scalar R, ready to be read row by row.
template <reference::Real R>
class CaseReading {
 public:
  explicit CaseReading(const cases::Case& c) : case_(c), mask_(mask_of(c)) {
    const auto& s = c.spec;
    for (int head = 0; head < s.batch * s.kv_heads; ++head) {
      k_.push_back(matrix_of<R>(c.k, static_cast<std::size_t>(head) * s.keys, s.keys, s.head_dim));
      v_.push_back(matrix_of<R>(c.v, static_cast<std::size_t>(head) * s.keys, s.keys, s.head_dim));
    }
    for (int head = 0; head < s.batch * s.heads; ++head) {
      const std::size_t start = static_cast<std::size_t>(head);
      if (!c[PLUMBLINE_INCREMENTS].empty()) {
        prefix_sum_.push_back(
            reference::prefix_sum(vector_of<R>(c[PLUMBLINE_INCREMENTS], start * s.keys, s.keys)));
      }
      const auto& gain = c[PLUMBLINE_GAIN];
      if (!gain.empty()) gain_.push_back(vector_of<R>(gain, start * s.queries, s.queries));
    }
  }

  std::vector<int> visible(int batch, int query) const {
    return reference::visible_keys(mask_, batch, query + case_.spec.query_offset, case_.spec.keys);
  }

  /// Calls `use` with the bias of head `head` in sequence `batch`.
  template <class Use>
  auto with_bias(int batch, int head, const Use& use) const {
    using cases::BiasMethod;
    const auto& s = case_.spec;
    const int row = batch * s.heads + head;
    const auto parameter = [&](plumbline_parameter which) { return R(double{case_[which][head]}); };
    switch (s.bias) {
      case BiasMethod::nope:
        return use(reference::Nope<R>{});
      case BiasMethod::alibi:
        return use(reference::Alibi<R>{parameter(PLUMBLINE_SLOPES)});
      case BiasMethod::cable:
        return use(reference::Cable<R>{prefix_sum_[row], gain_[row], s.query_offset});
      case BiasMethod::cable_nw:
        return use(reference::CableNw<R>{prefix_sum_[row]});
      case BiasMethod::k_cable:
        return use(reference::KCable<R>{prefix_sum_[row], gain_[row], s.query_offset});
      case BiasMethod::k_cable_nw:
        return use(reference::KCableNw<R>{prefix_sum_[row]});
      case BiasMethod::ggd:
        return use(reference::Ggd<R>(parameter(PLUMBLINE_THETA_ALPHA),
                                     parameter(PLUMBLINE_THETA_BETA), parameter(PLUMBLINE_THETA_MU),
                                     R(case_.options[PLUMBLINE_EPSILON])));
      default:
        break;
    }
    throw std::logic_error("a bias method without a reading");
  }

  reference::AttentionRow<R> row(int batch, int head, int query,
                                 const std::vector<int>& visible) const {
    const auto& s = case_.spec;
    const int kv = batch * s.kv_heads + head / (s.heads / s.kv_heads);
    const std::size_t q_row =
        (static_cast<std::size_t>(batch) * s.heads + head) * s.queries + query;
    const reference::Vector<R> q = vector_of<R>(case_.q, q_row * s.head_dim, s.head_dim);
    std::optional<R> ssmax;
    const auto& scales = case_[PLUMBLINE_SSMAX_SCALE];
    if (!scales.empty()) ssmax = R(double{scales[head]});
    return with_bias(batch, head, [&](const auto& bias) {
      return reference::attention_row(q, k_[kv], v_[kv], visible, R(case_.scale), bias,
                                      query + s.query_offset, ssmax);
    });
  }

 private:
  const cases::Case& case_;
  reference::Mask mask_;
  std::vector<reference::Matrix<R>> k_, v_;       // [batch * kv_heads]
  std::vector<reference::Vector<R>> prefix_sum_;  // [batch * heads]
  std::vector<reference::Vector<R>> gain_;        // [batch * heads]
};

}  // namespace plumbline::verdict
