// SPDX-License-Identifier: Apache-2.0
// What a positional bias is to attention.
#pragma once

#include <concepts>

#include "reference/core/real.hpp"

namespace plumbline::reference {

/// b_ij, added to the scaled logit of the query at position i and the key at position j.
template <class B, class R>
concept Bias = Real<R> && requires(const B& bias, int i, int j) {
  { bias(i, j) } -> std::same_as<R>;
};

/// A bias with its hand-written adjoint: `accumulate_grad(grad, i, j, g)` adds g * (derivative of
/// b_ij) to every parameter's gradient in `grad`, g being the derivative of the loss in b_ij.
template <class B, class R>
concept DifferentiableBias = Bias<B, R> &&
    requires(const B& bias, typename B::Grad& grad, int i, int j, const R& g) {
  { bias.zero_grad() } -> std::same_as<typename B::Grad>;
  bias.accumulate_grad(grad, i, j, g);
};

}  // namespace plumbline::reference
