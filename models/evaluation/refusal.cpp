// SPDX-License-Identifier: Apache-2.0
#include "models/evaluation/refusal.hpp"

#include <fmt/format.h>

#include "model/position_method.hpp"

namespace plumbline::evaluation {

std::string refusal(const gpu::ModelConfiguration& model, int tokens) {
  const bool table =
      gpu::position_method(model.position).embedded == gpu::EmbeddedPositions::learnable;
  if (!table || tokens <= model.context) return "";
  return fmt::format("its table of positions has {} rows", model.context);
}

}  // namespace plumbline::evaluation
