// SPDX-License-Identifier: Apache-2.0
// Methods whose logits need the matrix of scores: what they are made of.
#ifndef PLUMBLINE_GPU_ATTENTION_SCORE_METHODS_CUH
#define PLUMBLINE_GPU_ATTENTION_SCORE_METHODS_CUH

#include <algorithm>
#include <cstdint>

#include "plumbline_kernel.h"

namespace plumbline::gpu {

/// Width of DAPE's convolutions, 1 in version 1 and 3 in version 2; 0 for other methods.
constexpr int dape_taps(int bias) {
  switch (bias) {
    case PLUMBLINE_DAPE_V1_ALIBI:
    case PLUMBLINE_DAPE_V1_KERPLE_LOG:
    case PLUMBLINE_DAPE_V1_CABLE:
      return 1;
    case PLUMBLINE_DAPE_V2_ALIBI:
    case PLUMBLINE_DAPE_V2_KERPLE_LOG:
    case PLUMBLINE_DAPE_V2_CABLE:
      return 3;
    default:
      return 0;
  }
}

constexpr bool needs_scores(int bias) { return bias == PLUMBLINE_COPE || dape_taps(bias) > 0; }

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
  switch (bias) {
    case PLUMBLINE_DAPE_V1_ALIBI:
    case PLUMBLINE_DAPE_V2_ALIBI:
      return PLUMBLINE_ALIBI;
    case PLUMBLINE_DAPE_V1_KERPLE_LOG:
    case PLUMBLINE_DAPE_V2_KERPLE_LOG:
      return PLUMBLINE_KERPLE_LOG;
    case PLUMBLINE_DAPE_V1_CABLE:
    case PLUMBLINE_DAPE_V2_CABLE:
      return PLUMBLINE_CABLE;
    default:
      return static_cast<plumbline_bias>(bias);
  }
}

}  // namespace plumbline::gpu

#endif
