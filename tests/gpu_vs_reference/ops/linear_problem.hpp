// SPDX-License-Identifier: Apache-2.0
// Random linear layers, their exact results and their bounds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/formats.cuh"
#include "ops/column_sums.cuh"
#include "ops/linear.cuh"
#include "reference/model/linear_layer.hpp"
#include "tests/gpu_vs_reference/ops/harness.hpp"
#include "tests/reference/numbers.hpp"
#include "verdict/bounds/ops/linear.hpp"

namespace plumbline::op_tests::linear_problem {

using gpu::Format;
using op_bounds::Computed;
using reference::RunningError;

struct FormatOf {
  Format format;
  const char* name;
  op_bounds::Storage storage;
  op_bounds::ProductNumerics numerics;
};
inline const FormatOf formats[] = {
    {Format::fp32, "fp32", op_bounds::stored_fp32, op_bounds::fp32_products},
    {Format::tf32, "tf32", op_bounds::stored_fp32, op_bounds::tf32_products},
    {Format::bf16, "bf16", op_bounds::stored_bf16, op_bounds::fp32_products},
    {Format::fp16, "fp16", op_bounds::stored_fp16, op_bounds::fp32_products},
};

inline std::vector<double> representable_in(Format format, std::vector<double> x) {
  if (format == Format::bf16) return representable<gpu::bfloat16>(x);
  if (format == Format::fp16) return representable<gpu::float16>(x);
  return representable<float>(x);
}

/// An array of a format that is known at run time only.
class Array {
 public:
  Array(Format format, std::size_t count)
      : format_(format), count_(count), bytes_(count * gpu::element_bytes(format)) {}
  Array(Format format, const std::vector<double>& numbers)
      : format_(format), count_(numbers.size()), bytes_(stored(format, numbers)) {}
  void* data() const { return bytes_.data(); }
  std::vector<double> numbers() const {
    const auto bytes = bytes_.values();
    std::vector<double> x(count_);
    for (std::size_t n = 0; n < count_; ++n) x[n] = gpu::load_element(bytes.data(), format_, n);
    return x;
  }

 private:
  static std::vector<unsigned char> stored(Format format, const std::vector<double>& numbers) {
    std::vector<unsigned char> bytes(numbers.size() * gpu::element_bytes(format));
    for (std::size_t n = 0; n < numbers.size(); ++n)
      gpu::store_element(bytes.data(), format, n, static_cast<float>(numbers[n]));
    return bytes;
  }

  Format format_;
  std::size_t count_;
  Device<unsigned char> bytes_;
};

struct Problem {
  gpu::LinearShape shape;
  std::vector<double> x, w, b, pre, grad_y, old_w, old_b;
  bool bias, accumulate;
};

inline Problem problem(std::uint64_t seed, Format format) {
  reference::Numbers numbers(seed);
  constexpr int sizes[] = {1, 2, 3, 7, 8, 31, 33, 48, 70};
  constexpr int heights[] = {1, 2, 9, 63, 65, 130};
  const auto size = [&] { return sizes[static_cast<int>(numbers.between(0, 8.99))]; };
  Problem p;
  p.shape = {heights[static_cast<int>(numbers.between(0, 5.99))], size(), size()};
  p.bias = numbers.between(0, 1) < 0.8;
  p.accumulate = numbers.between(0, 1) < 0.5;
  const auto many = [&](int rows, int columns, double most) {
    return representable_in(format, numbers.between(-most, most, rows * columns));
  };
  const auto [rows, in, out] = p.shape;
  p.x = many(rows, in, 2);
  p.w = many(out, in, 0.5);
  p.b = many(1, out, 3);
  p.pre = many(rows, in, 4);
  p.grad_y = many(rows, out, 1);
  p.old_w = representable<float>(numbers.between(-1, 1, out * in));
  p.old_b = representable<float>(numbers.between(-1, 1, out));
  return p;
}

/// The oracle's layer.
struct Exact {
  reference::Matrix<RunningError> y;
  reference::LinearLayerGrad<RunningError> grad;

  explicit Exact(const Problem& p) {
    const auto [rows, in, out] = p.shape;
    const auto x = matrix(p.x, rows, in), w = matrix(p.w, out, in);
    const auto b =
        p.bias ? reference::lifted<RunningError>(p.b) : reference::Vector<RunningError>();
    y = reference::linear_layer(x, w, b);
    grad = reference::linear_layer_grad(x, w, matrix(p.grad_y, rows, out));
  }
};

/// x W^T + b in fp32, not yet stored.
inline std::vector<Computed> computed_sums(const Problem& p, const FormatOf& f) {
  std::vector<Computed> sums;
  const auto [rows, in, out] = p.shape;
  for (int t = 0; t < rows; ++t)
    for (int o = 0; o < out; ++o) {
      const Computed product = op_bounds::dot(&p.x[t * in], 1, &p.w[o * in], 1, in, f.numerics);
      sums.push_back(p.bias ? product + Computed{p.b[o]} : product);
    }
  return sums;
}

/// The sum over the rows of one column, in fp32, and what was there before.
inline Computed computed_column(const std::vector<double>& matrix, int rows, int columns,
                                int column, double old, bool accumulate) {
  std::vector<Computed> terms;
  for (int t = 0; t < rows; ++t) terms.push_back(Computed{matrix[t * columns + column]});
  if (accumulate) terms.push_back(Computed{old});
  // In an epilogue one term after the other, or as the kernel has it.
  return op_bounds::sum(terms, std::max(gpu::column_chain(rows), rows + 1));
}

inline std::string called(const char* what, const FormatOf& f) {
  std::string words = what;
  words += ' ';
  words += f.name;
  return words;
}

}  // namespace plumbline::op_tests::linear_problem
