// SPDX-License-Identifier: Apache-2.0
// What the kernels make of plain pointers.
#pragma once

#if defined(_OPENMP) && !defined(EIGEN_DONT_PARALLELIZE)
#error "threads belong to those who call the kernels"
#endif
#include <Eigen/Core>

#include "reference/blocked/kernels.hpp"

namespace plumbline::reference::blocked::simd {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixMap = Eigen::Map<RowMajor>;
using ConstMatrixMap = Eigen::Map<const RowMajor>;
using ArrayMap = Eigen::Map<Eigen::ArrayXd>;
using ConstArrayMap = Eigen::Map<const Eigen::ArrayXd>;

/// A row of a tile.
inline ArrayMap row_of(double* tile, int r, int keys) {
  return ArrayMap(tile + static_cast<std::ptrdiff_t>(r) * keys, keys);
}
inline ConstArrayMap row_of(const double* tile, int r, int keys) {
  return ConstArrayMap(tile + static_cast<std::ptrdiff_t>(r) * keys, keys);
}

/// The chosen rows as doubles, [rows, columns]: where they are, if they are doubles and neighbours,
/// else widened into `room`.
const double* load_rows(const Stored& x, std::span<const int> rows, double* room);

/// Numbers of one row of a tile, on the stack.
using TileRow = Eigen::Array<double, Eigen::Dynamic, 1, Eigen::ColMajor, key_tile, 1>;

/// ln(1 + x) for x >= 0. With u = fl(1 + x), ln(1 + x) = ln u + ln(1 + (x - (u - 1)) / u), and the
/// last logarithm is its argument but for half its square, below 2^-107.
inline TileRow log_1_plus(const TileRow& x) {
  const TileRow u = 1.0 + x;
  return u.log() + (x - (u - 1.0)) / u;
}

}  // namespace plumbline::reference::blocked::simd
