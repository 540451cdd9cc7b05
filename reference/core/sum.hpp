// SPDX-License-Identifier: Apache-2.0
// Sums in a fixed order, left to right: the same bits on every machine.
#pragma once

#include <span>
#include <vector>

#include "reference/core/linear_algebra.hpp"
#include "reference/core/preconditions.hpp"
#include "reference/core/real.hpp"

namespace plumbline::reference {

/// The sums of a scalar. A scalar may specialise this for speed, with the same order of operations
/// on its values (RunningError bounds a whole sum at once).
template <Real R>
struct Summation {
  static R sum(std::span<const R> terms) {
    R total(0.0);
    for (const R& term : terms) total += term;
    return total;
  }

  static R dot(std::span<const R> x, std::span<const R> y) {
    R total(0.0);
    for (std::size_t n = 0; n < x.size(); ++n) total += x[n] * y[n];
    return total;
  }

  static Vector<R> weighted_sum(std::span<const R> weights, const Matrix<R>& rows,
                                const std::vector<int>& chosen) {
    Vector<R> total = zeros<R>(static_cast<int>(rows.cols()));
    for (std::size_t n = 0; n < chosen.size(); ++n) {
      const std::span<const R> x = row(rows, chosen[n]);
      for (Eigen::Index d = 0; d < total.size(); ++d) total[d] += weights[n] * x[d];
    }
    return total;
  }
};

/// sum_n terms[n], left to right from 0; 0 for no terms.
template <Real R>
R sum(const Vector<R>& terms) {
  return Summation<R>::sum(view(terms));
}

/// sum_n x[n] y[n], left to right from 0, each product rounded before it is added.
/// @throws std::invalid_argument if the sizes differ.
template <Real R>
R dot(std::span<const R> x, std::span<const R> y) {
  require(x.size() == y.size(), "y.size()", y.size(), "the size of x");
  return Summation<R>::dot(x, y);
}

template <Real R>
R dot(const Vector<R>& x, const Vector<R>& y) {
  return dot(view(x), view(y));
}

/// sum_n weights[n] rows[chosen[n]], left to right from 0 in every component.
/// Shapes: weights [n], chosen [n], result [columns of rows].
/// @throws std::invalid_argument if the sizes differ or a chosen row does not exist.
template <Real R>
Vector<R> weighted_sum(const Vector<R>& weights, const Matrix<R>& rows,
                       const std::vector<int>& chosen) {
  require(weights.size() == static_cast<Eigen::Index>(chosen.size()), "weights.size()",
          weights.size(), "the number of chosen rows");
  return Summation<R>::weighted_sum(view(weights), rows, chosen);
}

}  // namespace plumbline::reference
