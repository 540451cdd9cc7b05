// SPDX-License-Identifier: Apache-2.0
// How a model begins. Host code.
#pragma once

#include <cstdint>
#include <span>

#include "model/parameters.hpp"

namespace plumbline::gpu {

/// The parameter's first values: a function of its name, its shape, `start` and the seed, and of
/// nothing else, so that models that differ in their position method begin with the same numbers
/// everywhere else. Number n is number n of support/draw.hpp's stream of the name: the same bits on
/// every machine, rounded to float once.
/// @throws std::invalid_argument unless there is room for exactly the parameter's size.
void set_initial_values(const Parameter&, std::uint64_t seed, std::span<float> values);

/// All of them, and 0 in the padding. `values` is a flat buffer.
/// @throws std::invalid_argument unless its size is that of the layout.
void set_initial_values(const ParameterLayout&, std::uint64_t seed, std::span<float> values);

}  // namespace plumbline::gpu
