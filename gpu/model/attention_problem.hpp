// SPDX-License-Identifier: Apache-2.0
// Attention in a model, as the kernels' interface has it. Host code.
#pragma once

#include "model/configuration.hpp"
#include "plumbline_kernel.h"

namespace plumbline::gpu {

/// Sizes, method, options, mask and scale 1/sqrt(head_dim) of a layer's attention over sequences of
/// `length` tokens; no pointers. GPT-2 and the LLaMA-style decoder are causal, BERT is not.
/// @throws BadInput for CoPE and DAPE, whose scores lie in memory for some queries at a time, if
/// those of a single one of every row and head are 2^31 or more, or length is above 2^24.
plumbline_problem attention_problem(const ModelConfiguration&, int batch, int length);

}  // namespace plumbline::gpu
