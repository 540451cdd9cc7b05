// SPDX-License-Identifier: Apache-2.0
// Matrices as they are stored: a long context fits in memory in the format of its kernel only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "reference/core/linear_algebra.hpp"
#include "reference/core/preconditions.hpp"

namespace plumbline::reference::blocked {

enum class Format { fp64, fp32, bf16 };

/// A row-major matrix [rows, columns] that belongs to somebody else. Each of its numbers is a
/// double exactly; tiles of it are widened when they are needed.
struct Stored {
  const void* data = nullptr;
  Format format = Format::fp64;
  int rows = 0, columns = 0;
};

inline Stored stored(const Matrix<double>& x) {
  return {x.data(), Format::fp64, static_cast<int>(x.rows()), static_cast<int>(x.cols())};
}

/// @throws std::invalid_argument unless there are rows * columns numbers.
template <class Number>
void require_size(std::span<const Number> x, int rows, int columns) {
  require(rows >= 0, "rows", rows, "at least 0");
  require(columns >= 0, "columns", columns, "at least 0");
  require(x.size() == static_cast<std::size_t>(rows) * columns, "numbers", x.size(),
          "rows * columns");
}

/// @throws std::invalid_argument unless there are rows * columns numbers.
inline Stored stored(std::span<const double> x, int rows, int columns) {
  require_size(x, rows, columns);
  return {x.data(), Format::fp64, rows, columns};
}
inline Stored stored(std::span<const float> x, int rows, int columns) {
  require_size(x, rows, columns);
  return {x.data(), Format::fp32, rows, columns};
}
/// bfloat16: the upper half of a float. @throws std::invalid_argument unless sizes fit.
inline Stored stored_bf16(std::span<const std::uint16_t> x, int rows, int columns) {
  require_size(x, rows, columns);
  return {x.data(), Format::bf16, rows, columns};
}

}  // namespace plumbline::reference::blocked
