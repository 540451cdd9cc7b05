// SPDX-License-Identifier: Apache-2.0
// The position methods by name, as docs/methods.md has them: where each one enters a model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "methods.hpp"

namespace plumbline::gpu {

/// What a model adds to its embeddings.
enum class EmbeddedPositions { none, learnable, sinusoidal, sinusoidal_own_frequency };

/// What is visible beside what the model says: |i - j| <= window, or `window` keys.
enum class PositionWindow { none, distance, keys };

struct PositionMethod {
  std::string name;
  methods::Bias bias;  ///< of the attention layers
  EmbeddedPositions embedded = EmbeddedPositions::none;
  PositionWindow window = PositionWindow::none;
  bool causal_only = false;       ///< says nothing of keys after the query
  bool geometric_slopes = false;  ///< ALiBi: 2^(-8(h+1)/H) for every number of heads
};

const std::vector<PositionMethod>& position_methods();

/// By name or short name; `rope` stands for rope_interleaved.
/// @throws BadInput listing the names for any other.
const PositionMethod& position_method(std::string_view name);

}  // namespace plumbline::gpu
