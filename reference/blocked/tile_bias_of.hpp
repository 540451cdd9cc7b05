// SPDX-License-Identifier: Apache-2.0
// The fastest tile bias there is for a bias of the equations.
#pragma once

#include <memory>
#include <utility>

#include "reference/blocked/distance_bias.hpp"
#include "reference/blocked/scalar_bias.hpp"

namespace plumbline::reference::blocked {

/// Null for NoPE, which adds nothing. @throws std::invalid_argument if the bias does not reach over
/// the shape's positions.
template <DifferentiableBias<double> B>
std::unique_ptr<DifferentiableTileBias<typename B::Grad>> tile_bias_of(
    B bias, [[maybe_unused]] const AttentionShape& shape, [[maybe_unused]] const Mask& mask) {
  if constexpr (std::is_same_v<B, Nope<double>>) {
    return nullptr;
  } else if constexpr (depends_on_distance<B>) {
    return std::make_unique<DistanceBias<B>>(std::move(bias), shape, mask);
  } else {
    return std::make_unique<ScalarBias<B>>(std::move(bias));
  }
}

}  // namespace plumbline::reference::blocked
