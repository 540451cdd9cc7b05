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
#include "reference/bias/fire.hpp"
#include "reference/bias/fox.hpp"
#include "reference/bias/ggd.hpp"
#include "reference/bias/k_cable.hpp"
#include "reference/bias/k_cable_nw.hpp"
#include "reference/bias/kerple.hpp"
#include "reference/bias/nope.hpp"
#include "reference/bias/t5.hpp"
#include "reference/position/rope.hpp"

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

/// How RoPE pairs the components; nothing for the other methods.
inline std::optional<reference::RopePairs> rope_pairs(cases::BiasMethod bias) {
  if (bias == cases::BiasMethod::rope_interleaved) return reference::RopePairs::interleaved;
  if (bias == cases::BiasMethod::rope_half_split) return reference::RopePairs::half_split;
  return std::nullopt;
}

/// A case in scalar R, ready to be read row by row.
template <reference::Real R>
class CaseReading {
 public:
  explicit CaseReading(const cases::Case& c) : case_(c), mask_(mask_of(c)) {
    const auto& s = c.spec;
    for (int head = 0; head < s.batch * s.kv_heads; ++head) {
      k_.push_back(turned(
          matrix_of<R>(c.k, static_cast<std::size_t>(head) * s.keys, s.keys, s.head_dim), 0));
      v_.push_back(matrix_of<R>(c.v, static_cast<std::size_t>(head) * s.keys, s.keys, s.head_dim));
    }
    const bool fox = s.bias == cases::BiasMethod::fox;
    const auto& increments = c[fox ? PLUMBLINE_LOG_FORGET : PLUMBLINE_INCREMENTS];
    const auto& gain = c[PLUMBLINE_GAIN];
    for (int head = 0; head < s.batch * s.heads; ++head) {
      const std::size_t start = static_cast<std::size_t>(head);
      if (!increments.empty()) {
        increments_.push_back(vector_of<R>(increments, start * s.keys, s.keys));
      }
      if (!gain.empty()) gain_.push_back(vector_of<R>(gain, start * s.queries, s.queries));
    }
    if (s.bias == cases::BiasMethod::t5 || s.bias == cases::BiasMethod::t5_bidirectional) {
      buckets_.emplace(static_cast<int>(c.options[PLUMBLINE_BUCKETS]),
                       static_cast<int>(c.options[PLUMBLINE_MAX_DISTANCE]),
                       s.bias == cases::BiasMethod::t5_bidirectional);
    }
  }

  std::vector<int> visible(int batch, int query) const {
    return reference::visible_keys(mask_, batch, query + case_.spec.query_offset, case_.spec.keys);
  }

  /// Calls `use` with the bias of head `head` in sequence `batch`, for the query at `position`.
  template <class Use>
  auto with_bias(int batch, int head, int position, const Use& use) const {
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
        return use(reference::Cable<R>{prefix_sum(row, position), gain_[row], s.query_offset});
      case BiasMethod::cable_nw:
        return use(reference::CableNw<R>{prefix_sum(row, position)});
      case BiasMethod::k_cable:
        return use(reference::KCable<R>{prefix_sum(row, position), gain_[row], s.query_offset});
      case BiasMethod::k_cable_nw:
        return use(reference::KCableNw<R>{prefix_sum(row, position)});
      case BiasMethod::cable_paper:
        return use(reference::CablePaper<R>{prefix_sum(row, position), gain_[row], s.query_offset});
      case BiasMethod::cable_nw_paper:
        return use(reference::CableNwPaper<R>{prefix_sum(row, position)});
      case BiasMethod::k_cable_paper:
        return use(
            reference::KCablePaper<R>{prefix_sum(row, position), gain_[row], s.query_offset});
      case BiasMethod::ggd:
        return use(reference::Ggd<R>(parameter(PLUMBLINE_THETA_ALPHA),
                                     parameter(PLUMBLINE_THETA_BETA), parameter(PLUMBLINE_THETA_MU),
                                     R(case_.options[PLUMBLINE_EPSILON])));
      case BiasMethod::kerple_log:
        return use(reference::KerpleLog<R>(parameter(PLUMBLINE_P), parameter(PLUMBLINE_A)));
      case BiasMethod::kerple_power:
        return use(reference::KerplePower<R>(parameter(PLUMBLINE_P), parameter(PLUMBLINE_A)));
      case BiasMethod::t5:
      case BiasMethod::t5_bidirectional:
        return use(reference::T5<R>(table(head), *buckets_));
      case BiasMethod::t5_clipped:
        return use(reference::T5Clipped<R>(table(head), reference::ClippedDistance(largest())));
      case BiasMethod::t5_clipped_offset:
        return use(reference::T5ClippedOffset<R>(table(head), reference::ClippedOffset(largest())));
      case BiasMethod::fire:
        return use(reference::Fire<R>(fire(head), R(case_.options[PLUMBLINE_L0]),
                                      R(case_.options[PLUMBLINE_EPSILON])));
      case BiasMethod::fox:
        return use(reference::Fox<R>{prefix_sum(row, position)});
      case BiasMethod::rope_interleaved:
      case BiasMethod::rope_half_split:
        return use(reference::Nope<R>{});
    }
    throw std::logic_error("a bias method without a reading");
  }

  /// The row of T5's table that the bias of i and j stands in.
  int table_row(int i, int j) const {
    switch (case_.spec.bias) {
      case cases::BiasMethod::t5_clipped:
        return reference::ClippedDistance(largest())(i, j);
      case cases::BiasMethod::t5_clipped_offset:
        return reference::ClippedOffset(largest())(i, j);
      default:
        return (*buckets_)(i, j);
    }
  }

  /// Keys and values of key head `kv`, counted over the batch; RoPE has turned the keys.
  const reference::Matrix<R>& k(int kv) const { return k_[kv]; }
  const reference::Matrix<R>& v(int kv) const { return v_[kv]; }
  /// The query of a row, counted over batch and heads; RoPE has turned it.
  reference::Vector<R> q(int batch, int head, int query) const {
    const auto& s = case_.spec;
    const std::size_t row = (static_cast<std::size_t>(batch) * s.heads + head) * s.queries + query;
    return turned(matrix_of<R>(case_.q, row, 1, s.head_dim), query + s.query_offset).row(0);
  }

  reference::AttentionRow<R> row(int batch, int head, int query,
                                 const std::vector<int>& visible) const {
    const auto& s = case_.spec;
    const int kv = batch * s.kv_heads + head / (s.heads / s.kv_heads);
    std::optional<R> ssmax;
    const auto& scales = case_[PLUMBLINE_SSMAX_SCALE];
    if (!scales.empty()) ssmax = R(double{scales[head]});
    return with_bias(batch, head, query + s.query_offset, [&](const auto& bias) {
      return reference::attention_row(q(batch, head, query), k_[kv], v_[kv], visible,
                                      R(case_.scale), bias, query + s.query_offset, ssmax);
    });
  }

 private:
  /// RoPE's rotation, the first row at position `offset`; the same matrix for the other methods.
  reference::Matrix<R> turned(const reference::Matrix<R>& X, int offset) const {
    const auto pairs = rope_pairs(case_.spec.bias);
    return pairs ? reference::rope(X, offset, R(case_.options[PLUMBLINE_BASE]), *pairs) : X;
  }
  /// S_j - S_i of the query at position i: a bias depends on differences alone, and these are sums
  /// of the increments in between, with no error from those before.
  reference::Vector<R> prefix_sum(int row, int i) const {
    const reference::Vector<R>& increments = increments_[row];
    reference::Vector<R> sums = reference::zeros<R>(static_cast<int>(increments.size()));
    for (int j = i - 1; j >= 0; --j) sums[j] = sums[j + 1] - increments[j + 1];
    for (int j = i + 1; j < sums.size(); ++j) sums[j] = sums[j - 1] + increments[j];
    return sums;
  }
  int largest() const { return static_cast<int>(case_.options[PLUMBLINE_LARGEST]); }
  reference::Vector<R> table(int head) const {
    const auto& numbers = case_[PLUMBLINE_TABLE];
    const std::size_t rows = numbers.size() / case_.spec.heads;
    return vector_of<R>(numbers, head * rows, static_cast<int>(rows));
  }
  reference::FireParameters<R> fire(int head) const {
    const int width = static_cast<int>(case_[PLUMBLINE_HIDDEN_WEIGHT].size());
    return {vector_of<R>(case_[PLUMBLINE_HIDDEN_WEIGHT], 0, width),
            vector_of<R>(case_[PLUMBLINE_HIDDEN_BIAS], 0, width),
            vector_of<R>(case_[PLUMBLINE_OUTPUT_WEIGHT], std::size_t(head) * width, width),
            R(double{case_[PLUMBLINE_OUTPUT_BIAS][head]}),
            R(double{case_[PLUMBLINE_C][0]}),
            R(double{case_[PLUMBLINE_L][0]})};
  }

  const cases::Case& case_;
  reference::Mask mask_;
  std::vector<reference::Matrix<R>> k_, v_;       // [batch * kv_heads]
  std::vector<reference::Vector<R>> increments_;  // [batch * heads], of FoX log_forget
  std::vector<reference::Vector<R>> gain_;        // [batch * heads]
  std::optional<reference::T5Buckets> buckets_;
};

}  // namespace plumbline::verdict
