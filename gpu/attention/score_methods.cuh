// SPDX-License-Identifier: Apache-2.0
// Methods whose logits need the matrix of scores: what they are made of.
#ifndef PLUMBLINE_GPU_ATTENTION_SCORE_METHODS_CUH
#define PLUMBLINE_GPU_ATTENTION_SCORE_METHODS_CUH

#include <algorithm>
#include <cstdint>

#include "methods.hpp"
#include "plumbline_kernel.h"

namespace plumbline::gpu {

/// CoPE and DAPE.
constexpr bool needs_scores(methods::Bias bias) {
  return bias.dape > 0 || methods::row(bias.method).needs_scores();
}
/// False of a problem without a bias that there is.
constexpr bool needs_scores(const plumbline_problem& p) {
  return methods::is_bias(p.bias, p.dape, p.rope) && needs_scores(methods::bias_of(p));
}

/// The most keys: whole numbers up to it are floats.
inline constexpr int kMostScoredKeys = 1 << 24;

/// Numbers that one query row of every sequence and head takes of the widest array in memory: its
/// scores, or CoPE's `wide` positions, or the channels of DAPE's network, which is `wide` wide.
constexpr std::int64_t row_scores(plumbline_bias bias, int batch, int heads, int keys, int wide) {
  return bias == PLUMBLINE_COPE ? std::int64_t{batch} * heads * std::max(keys, wide)
                                : std::int64_t{batch} * std::max(heads, wide) * keys;
}

}  // namespace plumbline::gpu

#endif
