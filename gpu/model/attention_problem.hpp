// SPDX-License-Identifier: Apache-2.0
// Attention in a model, as the kernels' interface has it. Host code.
#pragma once

#include "model/configuration.hpp"
#include "plumbline_kernel.h"

namespace plumbline::gpu {

/// Whether the kernels can count the scores, in 31 bits. Those of CoPE and DAPE lie in memory:
/// batch x heads x length x the widest of length, head_dim and what the network of DAPE or the
/// table of CoPE is wide. True for the other methods.
bool scores_fit(const ModelConfiguration&, int batch, int length);

/// Sizes, method, options, mask and scale 1/sqrt(head_dim) of a layer's attention over sequences of
/// `length` tokens; no pointers. GPT-2 and the LLaMA-style decoder are causal, BERT is not.
/// @throws BadInput for CoPE and DAPE, whose scores lie in memory, if there are 2^31 of them or
/// more.
plumbline_problem attention_problem(const ModelConfiguration&, int batch, int length);

}  // namespace plumbline::gpu
