// SPDX-License-Identifier: Apache-2.0
// The sliding window of local RoPE, in both counts. Source: BAM's published code
// (ArthurSBianchessi/BAM), which masks |i - j| > W.
#pragma once

#include "reference/core/mask.hpp"

namespace plumbline::reference {

/// What the W of a sliding window counts.
enum class WindowCount {
  distance,  ///< the largest distance that is seen: W + 1 keys, as BAM's code has it
  keys,      ///< the keys that are seen, the query's own among them: W, as other libraries have it
};

/// A causal mask with a sliding window of W. Local RoPE is rope (position/rope.hpp) under it.
/// @throws std::invalid_argument if the window is below 0, or below 1 where it counts keys: a
/// query always sees its own key.
inline Mask sliding_window(int window, WindowCount count) {
  const int least = count == WindowCount::keys ? 1 : 0;
  require(window >= least, "window", window, least == 1 ? "at least 1" : "at least 0");
  return {.causal = true, .window = window - least};
}

}  // namespace plumbline::reference
