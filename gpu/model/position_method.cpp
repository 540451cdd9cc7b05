// SPDX-License-Identifier: Apache-2.0
#include "model/position_method.hpp"

#include <string>

#include "plumbline_kernel.h"
#include "support/error.hpp"
#include "support/text.hpp"

namespace plumbline::gpu {

const std::vector<PositionMethod>& position_methods() {
  using enum EmbeddedPositions;
  static const std::vector<PositionMethod> methods{
      {.name = "nope", .bias = PLUMBLINE_NOPE},
      {.name = "learnable", .bias = PLUMBLINE_NOPE, .embedded = learnable},
      {.name = "sinusoidal", .bias = PLUMBLINE_NOPE, .embedded = sinusoidal},
      {.name = "sinusoidal_own_frequency",
       .bias = PLUMBLINE_NOPE,
       .embedded = sinusoidal_own_frequency},
      {.name = "alibi", .bias = PLUMBLINE_ALIBI},
      {.name = "alibi_geometric", .bias = PLUMBLINE_ALIBI, .geometric_slopes = true},
      {.name = "cable", .bias = PLUMBLINE_CABLE},
      {.name = "cable_nw", .bias = PLUMBLINE_CABLE_NW},
      {.name = "k_cable", .bias = PLUMBLINE_K_CABLE},
      {.name = "k_cable_nw", .bias = PLUMBLINE_K_CABLE_NW},
      {.name = "cable_paper", .bias = PLUMBLINE_CABLE_PAPER},
      {.name = "cable_nw_paper", .bias = PLUMBLINE_CABLE_NW_PAPER},
      {.name = "k_cable_paper", .bias = PLUMBLINE_K_CABLE_PAPER},
      {.name = "ggd", .bias = PLUMBLINE_GGD},
      {.name = "kerple_log", .bias = PLUMBLINE_KERPLE_LOG},
      {.name = "kerple_power", .bias = PLUMBLINE_KERPLE_POWER},
      {.name = "t5", .bias = PLUMBLINE_T5, .causal_only = true},
      {.name = "t5_bidirectional", .bias = PLUMBLINE_T5_BIDIRECTIONAL},
      {.name = "t5_clipped", .bias = PLUMBLINE_T5_CLIPPED, .causal_only = true},
      {.name = "t5_clipped_offset", .bias = PLUMBLINE_T5_CLIPPED_OFFSET},
      {.name = "fire", .bias = PLUMBLINE_FIRE},
      {.name = "fox", .bias = PLUMBLINE_FOX, .causal_only = true},
      {.name = "rope_interleaved", .bias = PLUMBLINE_ROPE_INTERLEAVED},
      {.name = "rope_half_split", .bias = PLUMBLINE_ROPE_HALF_SPLIT},
      {.name = "local_rope",
       .bias = PLUMBLINE_ROPE_INTERLEAVED,
       .window = PositionWindow::distance},
      {.name = "local_rope_keys",
       .bias = PLUMBLINE_ROPE_INTERLEAVED,
       .window = PositionWindow::keys},
      {.name = "cope", .bias = PLUMBLINE_COPE},
      {.name = "dape_v1_alibi", .bias = PLUMBLINE_DAPE_V1_ALIBI},
      {.name = "dape_v1_kerple_log", .bias = PLUMBLINE_DAPE_V1_KERPLE_LOG},
      {.name = "dape_v1_cable", .bias = PLUMBLINE_DAPE_V1_CABLE},
      {.name = "dape_v2_alibi", .bias = PLUMBLINE_DAPE_V2_ALIBI},
      {.name = "dape_v2_kerple_log", .bias = PLUMBLINE_DAPE_V2_KERPLE_LOG},
      {.name = "dape_v2_cable", .bias = PLUMBLINE_DAPE_V2_CABLE}};
  return methods;
}

const PositionMethod& position_method(std::string_view name) {
  const std::string_view full = name == "rope"     ? "rope_interleaved"
                                : name == "kerple" ? "kerple_log"
                                                   : name;
  std::string names;
  for (const PositionMethod& method : position_methods()) {
    if (method.name == full) return method;
    names += (names.empty() ? "" : ", ") + std::string(method.name);
  }
  throw BadInput("position", in_quotes(name), "one of " + names);
}

}  // namespace plumbline::gpu
