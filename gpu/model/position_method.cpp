// SPDX-License-Identifier: Apache-2.0
#include "model/position_method.hpp"

#include <string>

#include "plumbline_kernel.h"
#include "support/error.hpp"
#include "support/text.hpp"

namespace plumbline::gpu {

const std::vector<PositionMethod>& position_methods() {
  using enum EmbeddedPositions;
  static const auto list = [] {
    const methods::Bias rope(PLUMBLINE_NOPE, 0, PLUMBLINE_ROPE_INTERLEAVED);
    std::vector<PositionMethod> all;
    for (const methods::Method& method : methods::all) {
      if (!method.in_models) continue;
      all.push_back({.name = method.name,
                     .bias = method.bias,
                     .causal_only = method.causal_only || method.of_the_past});
      for (int dape = 1; method.with_dape && dape <= 2; ++dape)
        all.push_back({.name = methods::name_of({method.bias, dape}), .bias = {method.bias, dape}});
    }
    all.insert(all.end(),
               {{.name = "learnable", .bias = PLUMBLINE_NOPE, .embedded = learnable},
                {.name = "sinusoidal", .bias = PLUMBLINE_NOPE, .embedded = sinusoidal},
                {.name = "sinusoidal_own_frequency",
                 .bias = PLUMBLINE_NOPE,
                 .embedded = sinusoidal_own_frequency},
                {.name = "alibi_geometric", .bias = PLUMBLINE_ALIBI, .geometric_slopes = true},
                {.name = "rope_interleaved", .bias = rope},
                {.name = "rope_half_split", .bias = {PLUMBLINE_NOPE, 0, PLUMBLINE_ROPE_HALF_SPLIT}},
                {.name = "local_rope", .bias = rope, .window = PositionWindow::distance},
                {.name = "local_rope_keys", .bias = rope, .window = PositionWindow::keys}});
    return all;
  }();
  return list;
}

const PositionMethod& position_method(std::string_view name) {
  std::string_view full = name == "rope" ? "rope_interleaved" : name;
  for (const methods::Method& method : methods::all)
    if (method.short_name && name == method.short_name) full = method.name;
  std::string names;
  for (const PositionMethod& method : position_methods()) {
    if (method.name == full) return method;
    names += (names.empty() ? "" : ", ") + method.name;
  }
  throw BadInput("position", in_quotes(name), "one of " + names);
}

}  // namespace plumbline::gpu
