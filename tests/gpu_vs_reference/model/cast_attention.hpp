// SPDX-License-Identifier: Apache-2.0
// Attention of one sequence as the CUDA path computes it on tensor cores, in double with the casts
// of a format: the equations of reference/attention/attention.hpp and attention_grad.hpp.
#pragma once

#include <vector>

#include "tests/gpu_vs_reference/model/cast_position.hpp"
#include "tests/gpu_vs_reference/model/casts.hpp"

namespace plumbline::gpu_tests {

/// One sequence in one layer. Queries, keys and values are what the linear layers stored, rotated
/// where the method rotates them.
struct CastAttention {
  using Matrix = reference::Matrix<double>;

  const Casts& casts;
  reference::Mask mask;
  LayerBiases& biases;
  std::vector<double> ssmax_scale;  ///< [heads], or empty: no SSMax
  std::vector<Matrix> q, k, v;      ///< [heads], each [T, head_dim]
  std::vector<Matrix> o = {};       ///< likewise, stored
  std::vector<std::vector<double>> lse = {};

  /// Fills o and lse.
  void forward();

  struct Grads {
    std::vector<Matrix> q, k, v;      ///< [heads], not stored yet, of the rotated ones
    std::vector<double> ssmax_scale;  ///< as above
  };
  /// After forward, with dL/do stored. Adds to the gradients of the biases.
  Grads backward(const std::vector<Matrix>& grad_o);

 private:
  int tokens() const { return static_cast<int>(q[0].rows()); }
  int heads() const { return static_cast<int>(q.size()); }
  double scale() const;
  /// SSMax's c for `visible` keys, or 1.
  double factor(int head, std::size_t visible) const;
};

}  // namespace plumbline::gpu_tests
