// SPDX-License-Identifier: Apache-2.0
// How far the gradients of a correct kernel may be from the exact ones. Derived in
// docs/bounds-backward.md.
#pragma once

#include <span>
#include <vector>

#include "verdict/cases/spec.hpp"
#include "verdict/judge/contract.hpp"

namespace plumbline::verdict {

/// One query row of the backward pass, exact (that is: in double) over its n >= 1 visible keys.
struct BackwardRow {
  std::span<const double> score;        ///< s_j, after bias and SSMax
  std::span<const double> score_error;  ///< sigma_j
  std::span<const double> probability;  ///< p_j
  /// L that p is taken from, p_j = e^(s_j - L), and lambda: the bound of the kernel's own L; 0
  /// where L is the very number that the kernel was given.
  double lse = 0.0, lse_error = 0.0;
  std::span<const double> grad_probability;  ///< dP_j = m_j dO . v_j
  std::span<const double> grad_products;     ///< m_j sum_d |dO_d| |v_jd|
  /// m_j sum_d (|dO_d| + |v_jd|): what meets an operand that underflows. Or empty, where none does.
  std::span<const double> grad_operands;
  double common = 0.0;  ///< D; with a gradient through lse D - dlse
  /// epsilon_D: common_error_of_output() or _of_probabilities(), and with_lse_gradient() of it.
  double common_error = 0.0;
  double grad_lse = 0.0;  ///< |dlse|, of the natural logarithm
  double factor = 1.0;    ///< c
  bool ssmax = false;
  int value_dim = 1;
  /// The largest m_j, 1 without dropout, and the relative error of a product with one.
  double largest_factor = 1.0, dropout_error = 0.0;
};

/// Bound of the error of D = sum_d dO_d o_d, o being the numbers that the kernel was given.
double common_error_of_output(const Contract& contract, std::span<const float> grad_output,
                              std::span<const float> output);

/// Bound of the error of D = sum_j p_j dP_j, p not rounded for a product.
/// @param row all but its common_error.
double common_error_of_probabilities(const Contract& contract, const BackwardRow& row);

/// Bound of the error of D - dlse, from that of D. @param grad_lse dlse, of the natural logarithm.
double with_lse_gradient(const Contract& contract, double common, double common_error,
                         double grad_lse);

/// Errors of a row's P and dS, before they are rounded for a product. With a common |delta| <=
/// lambda and |delta_D| <= epsilon_D, dS^_j = e^-delta (dS_j - p_j delta_D + rho_j); what the row
/// shares is kept apart, because it hardly moves the row's own sums:
///   |sum_j dS^_j x_j - sum_j dS_j x_j|
///       <= growth |sum_j dS_j x_j| + common |sum_j p_j x_j| + sum_j own_j |x_j| + left_out(x),
/// where keys are left out: left_out(x) = min(sum_j left_out_j |x_j|, max_j left_out_rate_j |x_j|),
/// for those of a row have no more than skipped_mass of its probability together.
struct BackwardRowErrors {
  double growth = 0.0;           ///< e^lambda - 1
  double common = 0.0;           ///< e^lambda epsilon_D
  std::vector<double> own;       ///< [n], e^lambda |rho_j|
  std::vector<double> left_out;  ///< [n], what more dS_j is off by where key j is left out
  std::vector<double>
      left_out_rate;                ///< [n], skipped_mass |dS_j / p_j| at most; 0: is not left out
  std::vector<double> total;        ///< [n], all of the error of dS_j
  std::vector<double> probability;  ///< [n], of p_j
};
BackwardRowErrors backward_row_errors(const Contract& contract, const BackwardRow& row);

/// What a number y, off by at most e, does as an operand in a product with a matrix: y^ x^ is
/// within error |x| of y x, and at most magnitude |x|.
struct Operand {
  double error = 0.0, magnitude = 0.0;
};
/// @param largest a number that may be rounded in its place: y before a factor, or after it.
/// @param underflow_factor what an underflow of that number may be multiplied by to give y's.
Operand rounded_operand(const Contract& contract, double magnitude, double error,
                        double largest = 0.0, double underflow_factor = 1.0);
/// The same of P, which probability_scale may multiply first.
Operand rounded_probability(const Contract& contract, double magnitude, double error,
                            double underflow_factor = 1.0);

/// The bound of a gradient that is a sum of products: (error + (gamma_n + 4u) magnitude), what
/// underflows, and the rounding to `format`. Infinite where a correct kernel may overflow.
/// @param value the exact gradient; @param error sum of the terms' errors; @param magnitude sum of
/// the computed terms' magnitudes; @param additions n; @param largest factor of a term that the sum
/// does not have: an underflow of the other one loses 2^-149 of it.
double gradient_bound(const Contract& contract, cases::Format format, double value, double error,
                      double magnitude, double additions, double largest);

}  // namespace plumbline::verdict
