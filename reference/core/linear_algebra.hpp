// SPDX-License-Identifier: Apache-2.0
// Vectors and matrices of scalars. Eigen holds them; the sums are ours (core/sum.hpp), because
// Eigen's products choose their own summation order.
#pragma once

#include <Eigen/Core>
#include <span>

#include "reference/core/preconditions.hpp"
#include "reference/core/real.hpp"

namespace plumbline::reference {

template <class R>
using Vector = Eigen::Matrix<R, Eigen::Dynamic, 1>;

/// Row-major: row i is contiguous.
template <class R>
using Matrix = Eigen::Matrix<R, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <Real R>
Vector<R> zeros(int size) {
  return Vector<R>::Constant(size, R(0.0));
}

template <Real R>
Matrix<R> zeros(int rows, int columns) {
  return Matrix<R>::Constant(rows, columns, R(0.0));
}

template <class R>
std::span<const R> view(const Vector<R>& x) {
  return {x.data(), static_cast<std::size_t>(x.size())};
}

/// Row i of a matrix. @throws std::invalid_argument if there is none.
template <class R>
std::span<const R> row(const Matrix<R>& x, int i) {
  require(0 <= i && i < x.rows(), "row", i, "a row of the matrix");
  return {x.data() + static_cast<std::ptrdiff_t>(i) * x.cols(), static_cast<std::size_t>(x.cols())};
}

}  // namespace plumbline::reference
