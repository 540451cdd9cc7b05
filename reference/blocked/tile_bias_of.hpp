// SPDX-License-Identifier: Apache-2.0
// The fastest tile bias there is for a bias of the equations.
#pragma once

#include <memory>
#include <utility>

#include "reference/blocked/distance_bias.hpp"
#include "reference/blocked/fire_bias.hpp"
#include "reference/blocked/prefix_bias.hpp"
#include "reference/blocked/scalar_bias.hpp"
#include "reference/scalars/double.hpp"

namespace plumbline::reference::blocked {

/// Null for NoPE, which adds nothing. @throws std::invalid_argument if the bias does not reach over
/// the shape's positions.
template <DifferentiableBias<double> B>
std::unique_ptr<DifferentiableTileBias<typename B::Grad>> tile_bias_of(B bias,
                                                                       const AttentionShape& shape,
                                                                       const Mask& mask) {
  if constexpr (std::is_same_v<B, Nope<double>>) {
    return nullptr;
  } else if constexpr (depends_on_distance<B>) {
    return std::make_unique<DistanceBias<B>>(std::move(bias), shape, mask);
  } else if constexpr (PrefixDifferenceBias<B>) {
    return std::make_unique<PrefixBias<B>>(std::move(bias), shape);
  } else if constexpr (std::is_same_v<B, Fire<double>>) {
    return std::make_unique<FireBias>(std::move(bias), shape);
  } else {
    return std::make_unique<ScalarBias<B>>(std::move(bias));
  }
}

}  // namespace plumbline::reference::blocked
