// SPDX-License-Identifier: Apache-2.0
// b_ij of plumbline_kernel.h as the campaign's kernel computes it, with its faults.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "kernel_abi/methods.hpp"
#include "tests/bias_of_head.hpp"
#include "tests/faults/judge/arithmetic.hpp"
#include "tests/faults/judge/problem.hpp"

namespace plumbline::bench {

/// A pair of a query and a key, and what its bias is made of.
struct Pair {
  int batch, head, row, key;  ///< the head and the row whose parameters count
  int i, j;                   ///< positions
};

template <class Real>
class Bias {
 public:
  Bias(const Problem& problem, const Fault& fault) : in_(problem), fault_(fault) {}

  /// Also of DAPE the bias that it corrects.
  int method() const { return in_.p.bias; }

  /// What is added to the scaled product.
  Real operator()(int batch, int head, int row, int key) const {
    const Pair at = pair(batch, head, row, key);
    Real b = value(at);
    if (fault_.is(FaultKind::bias_sign)) b = -b;
    if (fault_.is(FaultKind::bias_missing)) b = 0;
    if (fault_.is(FaultKind::bias_off)) b *= static_cast<Real>(1 + fault_.amount);
    if (fault_.is(FaultKind::bias_in_bf16)) b = lost(b, PLUMBLINE_BF16);
    if (fault_.is(FaultKind::bias_in_fp16)) b = lost(b, PLUMBLINE_FP16);
    return b;
  }

  Pair pair(int batch, int head, int row, int key) const {
    const auto& p = in_.p;
    if (fault_.is(FaultKind::first_batch_bias)) batch = 0;
    if (fault_.is(FaultKind::next_head)) head = (head + 1) % p.heads;
    if (fault_.is(FaultKind::heads_reversed)) head = p.heads - 1 - head;
    Pair at{batch, head, row, key, row + first_position(p, batch), key};
    if (fault_.is(FaultKind::bias_without_offset)) at.i = row;
    if (fault_.is(FaultKind::bias_at_common_end)) at.i = row + p.query_offset;
    if (fault_.is(FaultKind::bias_offset_by_one)) at.i += at.i + 1 < p.keys ? 1 : -1;
    if (fault_.is(FaultKind::key_within_tile)) at.j = key % 32;
    return at;
  }

  /// |i - j|, or signed where it is a fault.
  Real distance(const Pair& at) const {
    int x = std::abs(at.i - at.j);
    if (fault_.is(FaultKind::signed_distance)) x = at.i - at.j;
    if (fault_.is(FaultKind::distance_plus_one)) ++x;
    if (fault_.is(FaultKind::distance_clamped)) x = std::min(x, 32);
    return static_cast<Real>(x);
  }

  /// S_i - S_j.
  Real difference(const Pair& at) const {
    const int head =
        fault_.is(FaultKind::prefix_of_next_head) ? (at.head + 1) % in_.p.heads : at.head;
    const double* s =
        in_.prefix.data() + (static_cast<std::size_t>(at.batch) * in_.p.heads + head) * in_.p.keys;
    const auto stored = [&](double sum) {
      if (fault_.is(FaultKind::prefix_in_bf16)) {
        return static_cast<double>(nearest(static_cast<float>(sum), 7));
      }
      if (fault_.is(FaultKind::prefix_in_fp16)) {
        return static_cast<double>(rounded(static_cast<float>(sum), PLUMBLINE_FP16));
      }
      return sum;
    };
    return static_cast<Real>(stored(s[std::max(at.i, 0)]) - stored(s[at.j]));
  }

  Real gain(const Pair& at) const {
    if (fault_.is(FaultKind::gain_missing)) return 1;
    int row = at.row;
    if (fault_.is(FaultKind::gain_of_key)) row = std::min(at.j, in_.p.queries - 1);
    const Real g = in_.parameter(PLUMBLINE_GAIN)[in_.query_row(at.batch, at.head, row)];
    return fault_.is(FaultKind::gain_twice) ? 2 * g : g;
  }

  /// A parameter of the head.
  Real of_head(plumbline_parameter which, const Pair& at) const {
    const bool by_batch = which == PLUMBLINE_SLOPES && in_.option(PLUMBLINE_SLOPES_PER_BATCH) != 0;
    const Real value = in_.parameter(which)[by_batch ? at.batch * in_.p.heads + at.head : at.head];
    return fault_.is(FaultKind::parameter_off) ? value * static_cast<Real>(1 + fault_.amount)
                                               : value;
  }

  Real mu(const Pair& at) const {
    const Real theta = in_.parameter(PLUMBLINE_THETA_MU)[at.head];
    const Real mu = std::exp(theta) - std::exp(-theta);
    if (fault_.is(FaultKind::mu_missing)) return 0;
    return fault_.is(FaultKind::mu_sign) ? -mu : mu;
  }
  Real epsilon() const {
    const auto e = static_cast<Real>(in_.option(PLUMBLINE_EPSILON));
    if (fault_.is(FaultKind::epsilon_missing)) return 0;
    return fault_.is(FaultKind::epsilon_twice) ? 2 * e : e;
  }
  Real beta(const Pair& at) const {
    return fault_.is(FaultKind::beta_of_one) ? Real(1)
                                             : in_.parameter(PLUMBLINE_THETA_BETA)[at.head];
  }

  test::BiasOfHead<Real> plain(const Pair& at) const;

  /// A bias of a formula that its user has declared.
  CustomValue<Real> custom(const Pair& at) const;

  /// The row of T5's table.
  int table_row(const Pair& at) const;

  /// FIRE's y and what its derivatives need.
  struct Reach {
    Real numerator, denominator, y, threshold;
    bool by_threshold;  ///< max(i, |L L0|) is |L L0|
  };
  Reach reach(const Pair& at) const;
  /// What comes into unit w of FIRE's hidden layer.
  Real unit(const Reach& reach, int w) const {
    const Real bias = fault_.is(FaultKind::fire_without_hidden_bias)
                          ? Real(0)
                          : Real(in_.parameter(PLUMBLINE_HIDDEN_BIAS)[w]);
    return in_.parameter(PLUMBLINE_HIDDEN_WEIGHT)[w] * reach.y + bias;
  }
  int hidden() const { return static_cast<int>(in_.option(PLUMBLINE_HIDDEN)); }

  const Problem& problem() const { return in_; }
  const Fault& fault() const { return fault_; }

 private:
  Real value(const Pair& at) const;
  /// ln, or what is taken for it.
  Real logarithm(Real x) const {
    if (fault_.is(FaultKind::log_without_one)) return std::log(x - 1);
    if (fault_.is(FaultKind::log_base_2)) return std::log2(x);
    if (fault_.is(FaultKind::log_base_10)) return std::log10(x);
    return std::log(x);
  }
  Real slope(const Pair& at) const {
    if (fault_.is(FaultKind::naive_slopes)) {
      return static_cast<Real>(std::exp2(-8.0 * (at.head + 1) / in_.p.heads));
    }
    return of_head(PLUMBLINE_SLOPES, at);
  }
  Real fire(const Pair& at) const;

  const Problem& in_;
  const Fault& fault_;
};

}  // namespace plumbline::bench
