// SPDX-License-Identifier: Apache-2.0
// Perplexity. Source: Jelinek et al., "Perplexity - a measure of the difficulty of speech
// recognition tasks", 1977; the metric of CABLE (section 4.2) and of BAM (appendix D).
#pragma once

#include "reference/core/primitives.hpp"

namespace plumbline::reference {

/// e^L for a mean cross-entropy L per token in nats: V for a uniform guess among V tokens, 1 for
/// certainty. Over several batches L is the mean over all of their tokens
/// (optimizer/accumulation.hpp); the mean of the batches' perplexities is larger.
/// Derivative: the perplexity itself.
template <Real R>
R perplexity(const R& loss) {
  return exp(loss);
}

}  // namespace plumbline::reference
