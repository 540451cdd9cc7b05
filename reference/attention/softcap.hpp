// SPDX-License-Identifier: Apache-2.0
// Soft-capping of attention logits. Source: Gemma Team, "Gemma 2: Improving Open Language Models at
// a Practical Size", arXiv:2408.00118, section 2, "Logit soft-capping"; after Bello et al.,
// arXiv:1611.09940, appendix A.1.
#pragma once

#include "reference/core/primitives.hpp"

namespace plumbline::reference {

/// cap tanh(x / cap): x near 0, and between -cap and cap everywhere. x is the scaled product
/// scale q_i . k_j; a positional bias is added to what is capped, and a mask hides it, so that
/// neither is capped.
/// Source: Gemma 2, section 2, logits <- soft_cap * tanh(logits / soft_cap); cap > 0.
template <Real R>
R softcapped(const R& x, const R& cap) {
  return cap * tanh(x / cap);
}

/// d softcapped / dx = 1 - tanh(x / cap)^2. Domain as above.
template <Real R>
R softcap_derivative(const R& x, const R& cap) {
  const R t = tanh(x / cap);
  return R(1.0) - t * t;
}

}  // namespace plumbline::reference
