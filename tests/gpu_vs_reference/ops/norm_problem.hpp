// SPDX-License-Identifier: Apache-2.0
// Random inputs of LayerNorm and RMSNorm.
#pragma once

#include <cstdint>
#include <vector>

#include "core/float16.cuh"
#include "ops/column_sums.cuh"
#include "ops/norm_shape.cuh"
#include "ops/reduce.cuh"
#include "tests/gpu_vs_reference/ops/harness.hpp"
#include "tests/reference/numbers.hpp"
#include "verdict/bounds/ops/norm.hpp"

namespace plumbline::op_tests {

/// One of the values.
template <class T, std::size_t n>
T any(reference::Numbers& numbers, const T (&values)[n]) {
  return values[static_cast<std::size_t>(numbers.between(0, n - 0x1p-20))];
}

/// Rows of any kind: around 0, far from 0, constant, of a single outlier, subnormal.
template <class Element>
op_bounds::NormProblem norm_problem(std::uint64_t seed) {
  reference::Numbers numbers(seed);
  constexpr int widths[] = {1, 2, 3, 31, 32, 33, 48, 64, 65, 100, 160};
  constexpr int heights[] = {1, 2, 3, 5, 8, 63, 64, 65, 130};
  constexpr bool fp16 = std::is_same_v<Element, gpu::float16>;
  op_bounds::NormProblem p;
  p.rows = any(numbers, heights);
  p.width = any(numbers, widths);
  p.epsilon = fp16 || numbers.between(0, 1) < 0.5 ? 1e-5f : 1e-12f;
  for (int t = 0; t < p.rows; ++t) {
    const double scale = std::exp2(fp16 ? numbers.between(-4, 4) : numbers.between(-20, 20));
    const int kind = static_cast<int>(numbers.between(0, 7.99));
    const double mean = kind == 1 ? 100 * scale : 0.0;
    for (int c = 0; c < p.width; ++c) {
      double x = mean + scale * numbers.between(-1, 1);
      if (kind == 2) x = c == 0 ? x : p.x.back();           // constant
      if (kind == 3 && c == p.width / 2) x = 1000 * scale;  // an outlier
      if (kind == 4) x *= 0x1p-140 / scale;                 // subnormal
      p.x.push_back(x);
    }
  }
  p.x = representable<Element>(p.x);
  p.gamma = representable<float>(numbers.between(-2, 2, p.width));
  p.beta = representable<float>(numbers.between(-2, 2, p.width));
  p.grad_y = representable<Element>(numbers.between(-1, 1, p.rows * p.width));
  if (numbers.between(0, 1) < 0.5) {
    p.previous_gamma = representable<float>(numbers.between(-3, 3, p.width));
    p.previous_beta = representable<float>(numbers.between(-3, 3, p.width));
  }
  return p;
}

template <class Element>
op_bounds::NormContract norm_contract(const op_bounds::NormProblem& p) {
  return {storage<Element>(), gpu::warp_row_chain(p.width), gpu::column_chain(p.rows), true};
}

inline gpu::Gradient gradient_mode(const op_bounds::NormProblem& p) {
  return p.previous_gamma.empty() ? gpu::Gradient::overwrite : gpu::Gradient::accumulate;
}

/// The gradient's buffer: what was there, or poison.
inline Device<float> gradient(const std::vector<double>& previous, int width) {
  return previous.empty() ? Device<float>(width) : on_device<float>(previous);
}

/// The oracle's gradient on top of what was there.
inline reference::Vector<reference::RunningError> on_top(
    reference::Vector<reference::RunningError> gradient, const std::vector<double>& previous) {
  for (std::size_t c = 0; c < previous.size(); ++c)
    gradient[c] += reference::RunningError(previous[c]);
  return gradient;
}

}  // namespace plumbline::op_tests
