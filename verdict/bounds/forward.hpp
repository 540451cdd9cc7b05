// SPDX-License-Identifier: Apache-2.0
// How far the outputs of a correct kernel may be from the exact ones. Derived in docs/bounds.md.
#pragma once

#include <span>
#include <vector>

#include "verdict/bounds/random_rounding.hpp"
#include "verdict/cases/spec.hpp"
#include "verdict/judge/contract.hpp"

namespace plumbline::verdict {

/// One query row, exact (that is: in double) over its n >= 1 visible keys.
struct ForwardRow {
  std::span<const double> score;        ///< s_j, after bias and SSMax
  std::span<const double> score_error;  ///< sigma_j: bound of |computed s_j - s_j|
  std::span<const double> probability;  ///< p_j
  /// With dropout the m_j of what is kept, times which the values are meant; those of dropped keys
  /// are zeros. And the relative error of m_j p_j beside p_j's.
  double value_factor = 1.0, dropout_error = 0.0;
  std::vector<const float*> value;  ///< row v_j, value_dim numbers each
  std::span<const double> output;   ///< o, value_dim numbers
  double lse = 0.0;
  bool random_signs = false;  ///< of v, whatever q and k are (random_rounding.hpp)
  double spread = 0.0;        ///< standard deviation of c tau q.k over the keys; 0: not known
  double keys = 0.0;  ///< of the case, hidden ones and a sink too: sum_blocks(); 0: visible ones
};

struct ForwardRowBounds {
  std::vector<double> output;  ///< one for each component of o
  double lse = 0.0;
  /// The first-order weight error sum_j p_j (e^h_j - 1) exceeds 0.1: fp32 does not determine this
  /// row's softmax, and o is only held to the convex hull of the visible values.
  bool ill_conditioned = false;
  double weight_error = 0.0;  ///< that sum
  bool overflows = false;     ///< a sum of o kept in 16 bits may leave its format
  /// Of `output`: all but what rounding P and o to 16 bits adds.
  std::vector<double> systematic;
  /// Of `output`: of the result before it is rounded to o's format.
  std::vector<double> before_storing;
  /// With random signs, of `output`: errors of weights and roundings of operands are within
  /// largest_deviation of `random`, and all else, storing o included, within `beside_random`.
  std::vector<double> random, beside_random;
  SumError weight_sum;                   ///< of l: worst case but with random signs
  double largest_weight_exponent = 0.0;  ///< max h_j
  int rescales = 0;                      ///< R
};

/// Error of tau q.k relative to tau sum|q||k|: gamma_D + 3u + r(2 + r)(1 + gamma_D).
double product_roundoff(const Contract& contract, int head_dim);

/// What rounding a score to score_format adds to sigma_j / |c|: q.k, its product with tau, the sum
/// with the bias and SSMax's product are rounded one after the other. Infinite where the format
/// overflows.
/// @param product tau q.k; @param magnitude tau sum|q||k|; @param bias_error beta_j.
double score_rounding(const Contract& contract, int head_dim, double scale, bool ssmax,
                      double factor, double score, double product, double magnitude,
                      double bias_error);

/// sigma_j = |c| (tau (gamma_D + 3u + r(2 + r)(1 + gamma_D)) sum|q||k| + beta_j + u |t_j| +
/// (D+2) 2^-150) + 6u |s_j| [SSMax], t = tau q.k + b, s = c t, r the roundoff of operands. Infinite
/// where a correct kernel may overflow.
/// @param scale tau; @param products tau * sum_d |q_d| |k_jd|; @param bias_error beta_j; @param
/// factor c.
std::vector<double> score_errors(const Contract& contract, int head_dim, double scale, bool ssmax,
                                 double factor, std::span<const double> score,
                                 std::span<const double> products,
                                 std::span<const double> bias_error);

/// @param format in which o is stored.
ForwardRowBounds forward_row_bounds(const Contract& contract, cases::Format format,
                                    const ForwardRow& row);

}  // namespace plumbline::verdict
