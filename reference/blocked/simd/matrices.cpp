// SPDX-License-Identifier: Apache-2.0
#include "reference/blocked/simd/matrices.hpp"

#include <algorithm>
#include <bit>

#include "reference/blocked/simd/functions.hpp"

namespace plumbline::reference::blocked::simd {
namespace {

double widened(double x) { return x; }
double widened(float x) { return x; }
double widened(std::uint16_t x) { return std::bit_cast<float>(std::uint32_t{x} << 16); }

/// Calls f(numbers) with the matrix's numbers in their own type.
template <class F>
auto with_numbers(const Stored& x, const F& f) {
  switch (x.format) {
    case Format::fp32:
      return f(static_cast<const float*>(x.data));
    case Format::bf16:
      return f(static_cast<const std::uint16_t*>(x.data));
    default:
      return f(static_cast<const double*>(x.data));
  }
}

}  // namespace

const double* load_rows(const Stored& x, std::span<const int> rows, double* room) {
  const int count = static_cast<int>(rows.size());
  if (x.format == Format::fp64 && rows.back() - rows.front() == count - 1) {
    bool neighbours = true;
    for (int n = 1; n < count; ++n) neighbours &= rows[n] == rows[n - 1] + 1;
    if (neighbours) {
      return static_cast<const double*>(x.data) + std::ptrdiff_t{rows.front()} * x.columns;
    }
  }
  with_numbers(x, [&](const auto* numbers) {
    for (int n = 0; n < count; ++n) {
      const auto* from = numbers + std::ptrdiff_t{rows[n]} * x.columns;
      double* to = room + std::ptrdiff_t{n} * x.columns;
      for (int c = 0; c < x.columns; ++c) to[c] = widened(from[c]);
    }
  });
  return room;
}

void row_products(const Stored& a, const Stored& b, std::span<const int> rows, double* sums) {
  with_numbers(a, [&](const auto* left) {
    with_numbers(b, [&](const auto* right) {
      for (std::size_t n = 0; n < rows.size(); ++n) {
        const auto* x = left + std::ptrdiff_t{rows[n]} * a.columns;
        const auto* y = right + std::ptrdiff_t{rows[n]} * a.columns;
        double sum = 0.0;
        for (int c = 0; c < a.columns; ++c) sum += widened(x[c]) * widened(y[c]);
        sums[n] = sum;
      }
    });
  });
}

bool all_finite(const Stored& x) {
  return with_numbers(x, [&](const auto* numbers) {
    const std::ptrdiff_t size = std::ptrdiff_t{x.rows} * x.columns;
    // 0 x is 0 for finite x and NaN for others; sums of zeros stay 0.
    double zero = 0.0;
    for (std::ptrdiff_t n = 0; n < size; ++n) zero += 0.0 * widened(numbers[n]);
    return zero == 0.0;
  });
}

void multiply(int m, int n, int k, Dense a, Dense b, double* c, std::ptrdiff_t c_stride) {
  using Stride = Eigen::OuterStride<>;
  using Input = Eigen::Map<const RowMajor, 0, Stride>;
  const Input A(a.data, a.transposed ? k : m, a.transposed ? m : k, Stride(a.stride));
  const Input B(b.data, b.transposed ? n : k, b.transposed ? k : n, Stride(b.stride));
  Eigen::Map<RowMajor, 0, Stride> C(c, m, n, Stride(c_stride));
  if (a.transposed && b.transposed) {
    C.noalias() = A.transpose() * B.transpose();
  } else if (a.transposed) {
    C.noalias() = A.transpose() * B;
  } else if (b.transposed) {
    C.noalias() = A * B.transpose();
  } else {
    C.noalias() = A * B;
  }
}

void exponential(std::span<const double> x, double* y) {
  ArrayMap(y, x.size()) = ConstArrayMap(x.data(), x.size()).exp();
}

void log_kernel(std::span<const double> d, double* y) {
  for (std::size_t first = 0; first < d.size(); first += key_tile) {
    const Eigen::Index n = std::min<std::size_t>(key_tile, d.size() - first);
    const TileRow squares = ConstArrayMap(d.data() + first, n).square();
    ArrayMap(y + first, n) = log_1_plus(squares);
  }
}

}  // namespace plumbline::reference::blocked::simd
