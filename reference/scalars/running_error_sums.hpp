// SPDX-License-Identifier: Apache-2.0
// The sums of the running-error scalar, bounded as a whole: fast enough for whole problems.
// The last part of scalars/running_error.hpp, which includes it.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "reference/core/sum.hpp"
#include "reference/scalars/running_error.hpp"

namespace plumbline::reference {

/// Sums bounded as a whole: the same values, and, with n terms and gamma_n = nu/(1 - nu) (Higham,
/// "Accuracy and Stability of Numerical Algorithms", 2nd edition, section 3.1),
///   |fl(sum x y) - sum x' y'| <= gamma_n sum |x||y| + sum (|x| e_y + e_x (|y| + e_y)).
/// Domain: n < 2^40.
template <>
struct Summation<RunningError> {
  using E = RunningError;

  static E sum(std::span<const E> terms) {
    double value = 0.0, magnitude = 0.0, error = 0.0;
    for (const E& x : terms) {
      value += x.value();
      magnitude += std::fabs(x.value());
      error += x.error();
    }
    return {value, bound(terms.size(), magnitude, error)};
  }

  static E dot(std::span<const E> x, std::span<const E> y) {
    double value = 0.0, magnitude = 0.0, error = 0.0;
    for (std::size_t n = 0; n < x.size(); ++n) {
      add_product(x[n], y[n], value, magnitude, error);
    }
    return {value, bound(x.size(), magnitude, error)};
  }

  static Vector<E> weighted_sum(std::span<const E> weights, const Matrix<E>& rows,
                                const std::vector<int>& chosen) {
    const Eigen::Index size = rows.cols();
    Vector<double> value = zeros<double>(static_cast<int>(size));
    Vector<double> magnitude = value, error = value;
    for (std::size_t n = 0; n < chosen.size(); ++n) {
      const std::span<const E> x = row(rows, chosen[n]);
      for (Eigen::Index d = 0; d < size; ++d) {
        add_product(weights[n], x[d], value[d], magnitude[d], error[d]);
      }
    }
    Vector<E> total(size);
    for (Eigen::Index d = 0; d < size; ++d) {
      total[d] = E(value[d], bound(chosen.size(), magnitude[d], error[d]));
    }
    return total;
  }

 private:
  static void add_product(const E& x, const E& y, double& value, double& magnitude, double& error) {
    const double product = x.value() * y.value();
    value += product;
    magnitude += std::fabs(product);
    error += std::fabs(x.value()) * y.error() + x.error() * (std::fabs(y.value()) + y.error());
  }
  /// Each of the sums of n non-negative terms loses a factor of at most (1 - u)^(n+3) to its own
  /// roundings; 1 + 2(n+8)u makes up for it as long as nu < 1/4. n tiny is for underflow, of which
  /// a term has five.
  static double bound(std::size_t n, double magnitude, double error) {
    const double nu = static_cast<double>(n) * E::unit_roundoff;
    const double gamma = E::rounded_up(nu / (1.0 - nu));
    const double lost = 1.0 + 2.0 * (nu + 8 * E::unit_roundoff);
    return E::rounded_up((gamma * magnitude + error + static_cast<double>(n) * E::tiny) * lost);
  }
};

}  // namespace plumbline::reference
