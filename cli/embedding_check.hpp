// SPDX-License-Identifier: Apache-2.0
// Positions that are added to the embeddings: the built-in kernels against the oracle's method.
#pragma once

#include <string>

#include "cli/builtin_kernels.hpp"
#include "golden/golden.hpp"
#include "verdict/cases/spec.hpp"

namespace plumbline::cli {

/// Some random problems of `method` (sinusoidal, sinusoidal_own_frequency or learnable) in fp32,
/// bf16 and fp16. Forward: x = word + position of sequences that begin at position 0 or later.
/// Decode: the same of one new token. Backward: the gradients of the words' table and of the
/// learned positions. The words' rows are the embeddings that the oracle is given, in another
/// order, so that ids are looked up. Every element within its bound
/// (verdict/bounds/ops/embedding.hpp) of reference/methods/, read with a running error.
golden::FileResult check_embedding(const EmbeddingKernels& kernels, const std::string& method,
                                   cases::Pass pass);

}  // namespace plumbline::cli
