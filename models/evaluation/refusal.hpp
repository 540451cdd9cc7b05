// SPDX-License-Identifier: Apache-2.0
// What a model cannot read.
#pragma once

#include <string>

#include "model/configuration.hpp"

namespace plumbline::evaluation {

/// Why the model reads no sequence of so many tokens: its table of learnable positions ends before.
/// Empty if it does.
std::string refusal(const gpu::ModelConfiguration&, int tokens);

inline constexpr const char* not_enough_memory = "not enough memory";

}  // namespace plumbline::evaluation
