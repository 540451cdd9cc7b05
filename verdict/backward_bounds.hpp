// SPDX-License-Identifier: Apache-2.0
// How far the gradients of a correct kernel may be from the exact ones. Derived in
// docs/bounds-backward.md.
#pragma once

#include <span>
#include <vector>

#include "cases/spec.hpp"
#include "verdict/contract.hpp"
#include "verdict/forward_bounds.hpp"

namespace plumbline::verdict {

/// One query row of the backward pass, exact (that is: in double) over its n >= 1 visible keys.
struct BackwardRow {
  std::span<const double> score;             ///< s_j, after bias and SSMax
  std::span<const double> score_error;       ///< sigma_j
  std::span<const double> probability;       ///< p_j
  double lse = 0.0, lse_error = 0.0;         ///< L, and lambda: bound of the kernel's own L
  std::span<const double> grad_probability;  ///< dP_j = dO . v_j
  std::span<const double> grad_products;     ///< sum_d |dO_d| |v_jd|
  /// sum_d (|dO_d| + |v_jd|): what meets an operand that underflows. Or empty, where none does.
  std::span<const double> grad_operands;
  double common = 0.0;        ///< D = sum_j p_j dP_j
  double common_error = 0.0;  ///< of D formed from o: common_error()
  double scale = 1.0;         ///< tau
  double factor = 1.0;        ///< c
  bool ssmax = false;
  int head_dim = 1;
};

/// Bound of the error of D = sum_d dO_d o_d with the kernel's own o.
/// @param forward, bounds that row's forward pass, o in the format it is stored in.
double common_error(const Contract& contract, const ForwardRow& forward,
                    const ForwardRowBounds& bounds, std::span<const float> grad_output,
                    std::span<const double> grad_probability, double common);

/// Errors of a row's P and dS, before they are rounded for a product. With a common |delta| <=
/// lambda and |delta_D| <= epsilon_D, whether D comes from o or is sum_j p_j dP_j, dS^_j = e^-delta
/// (dS_j - p_j delta_D + rho_j); what the row shares is kept apart, because it hardly moves the
/// row's own sums:
///   |sum_j dS^_j x_j - sum_j dS_j x_j|
///       <= growth |sum_j dS_j x_j| + common |sum_j p_j x_j| + sum_j own_j |x_j|.
struct BackwardRowErrors {
  double growth = 0.0;              ///< e^lambda - 1
  double common = 0.0;              ///< e^lambda epsilon_D
  std::vector<double> own;          ///< [n], e^lambda |rho_j|
  std::vector<double> total;        ///< [n], all of the error of dS_j
  std::vector<double> probability;  ///< [n], of p_j
};
BackwardRowErrors backward_row_errors(const Contract& contract, const BackwardRow& row);

/// What a number y, off by at most e, does as an operand in a product with a matrix: y^ x^ is
/// within error |x| of y x, and at most magnitude |x|.
struct Operand {
  double error = 0.0, magnitude = 0.0;
};
/// @param largest_factor by which the number may be multiplied before it is rounded.
Operand rounded_operand(const Contract& contract, double magnitude, double error,
                        double largest_factor = 1.0);

/// The bound of a gradient that is a sum of products: (error + (gamma_n + 4u) magnitude), what
/// underflows, and the rounding to `format`. Infinite where a correct kernel may overflow.
/// @param value the exact gradient; @param error sum of the terms' errors; @param magnitude sum of
/// the computed terms' magnitudes; @param additions n; @param largest factor of a term that the sum
/// does not have: an underflow of the other one loses 2^-149 of it.
double gradient_bound(const Contract& contract, cases::Format format, double value, double error,
                      double magnitude, double additions, double largest);

}  // namespace plumbline::verdict
