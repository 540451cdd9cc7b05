// SPDX-License-Identifier: Apache-2.0
// RoPE in an attention layer: position/rope.hpp on every query and key, and no bias.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "reference/position/layer_position.hpp"
#include "reference/position/rope.hpp"
#include "reference/position/sliding_window.hpp"

namespace plumbline::reference {

/// The default base is RoFormer's; BAM's baseline has interleaved pairs and base 500000.
struct RopePosition : NothingLearned {
  RopePairs pairs = RopePairs::interleaved;
  double base = 10000;
  /// Local RoPE: a sliding window, `window` meaning what `window_count` says.
  std::optional<int> window;
  WindowCount window_count = WindowCount::distance;

  template <Real R>
  std::vector<Nope<R>> biases(const Parameters<R>&, const Matrix<R>&, int heads, Cache<R>&) const {
    return std::vector<Nope<R>>(heads);
  }
  template <Real R>
  Matrix<R> rotated(const Matrix<R>& X, int offset) const {
    return rope(X, offset, R(base), pairs);
  }
  template <Real R>
  Matrix<R> rotated_grad(const Matrix<R>& grad, int offset) const {
    return rope_grad(grad, offset, R(base), pairs);
  }
  bool causal_only() const { return false; }
  /// The model's mask with the window: of two, the narrower.
  /// @throws std::invalid_argument as sliding_window does.
  Mask mask(Mask of_model) const {
    if (!window) return of_model;
    const int own = sliding_window(*window, window_count).window.left;
    for (int* side : {&of_model.window.left, &of_model.window.right}) {
      *side = *side < 0 ? own : std::min(own, *side);
    }
    return of_model;
  }
};

}  // namespace plumbline::reference
