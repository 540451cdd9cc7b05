// SPDX-License-Identifier: Apache-2.0
// Methods whose logits need the matrix of scores: what they are made of.
#ifndef PLUMBLINE_GPU_ATTENTION_SCORE_METHODS_CUH
#define PLUMBLINE_GPU_ATTENTION_SCORE_METHODS_CUH

#include <algorithm>
#include <cstdint>

#include "methods.hpp"
#include "plumbline_kernel.h"

namespace plumbline::gpu {

/// Of kernel_abi/methods.hpp; of what is no plumbline_bias, what has none.
constexpr int dape_taps(int bias) {
  return methods::is_method(bias) ? methods::row(bias).dape_taps : 0;
}
constexpr bool needs_scores(int bias) {
  return methods::is_method(bias) && methods::row(bias).needs_scores();
}

/// The most keys: whole numbers up to it are floats.
inline constexpr int kMostScoredKeys = 1 << 24;

/// Numbers that one query row of every sequence and head takes of the widest array in memory: its
/// scores, or CoPE's `wide` positions, or the channels of DAPE's network, which is `wide` wide.
constexpr std::int64_t row_scores(int bias, int batch, int heads, int keys, int wide) {
  return bias == PLUMBLINE_COPE ? std::int64_t{batch} * heads * std::max(keys, wide)
                                : std::int64_t{batch} * std::max(heads, wide) * keys;
}

/// The additive method that DAPE corrects; the method itself for the others.
constexpr plumbline_bias additive_part(int bias) {
  return methods::is_method(bias) ? methods::row(bias).additive : static_cast<plumbline_bias>(bias);
}

}  // namespace plumbline::gpu

#endif
