// SPDX-License-Identifier: Apache-2.0
// The numbers of a generated case besides q, k and v.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "verdict/cases/case.hpp"

namespace plumbline::cases {

/// The official ALiBi slopes (Press, Smith, Lewis, "Train Short, Test Long", section 3, and the
/// published code for head counts that are no power of two): with H = 2^a, slope k of slopes(H) is
/// 2^(-8 (k+1) / H), k = 0 .. H-1. Otherwise, with P the largest power of two below H: slopes(P),
/// then the first H - P of every second slope of slopes(2P), starting with its first.
/// Written out here once more, so that a slope that the oracle gets wrong does not go unseen.
std::vector<float> official_alibi_slopes(int heads);

/// The options of the case that `generate` makes of the spec; the defaults for a file's.
Options drawn_options(const Spec&);

/// The options and parameters that the spec's bias method reads, and ssmax_scale and sinks where it
/// asks for them.
void draw_bias_parameters(Case&);

/// lengths, documents and the mask tensor where the mask asks for them.
void draw_mask(Case&);
/// The last alone (mask_pattern.cpp).
void draw_mask_tensor(Case&);
/// keep, and what it is made with, where there is dropout (dropout.cpp).
void draw_dropout(Case&);
/// Its dropout_seed and dropout_offset, of a generated case with dropout.
std::pair<std::uint64_t, std::uint64_t> drawn_dropout_seed(const Spec&);
/// Whether the generator keeps the p_ij of an index, offset included.
bool generator_keeps(std::uint64_t seed, std::uint64_t index, float dropout);

/// Streams of Draw: one a tensor. Part of the generator's definition: new ones only at the end.
enum class Stream : std::uint64_t {
  q = 1,
  k,
  v,
  increments,
  gain,
  theta_alpha,
  theta_beta,
  theta_mu,
  ssmax_scale,
  lengths,
  documents,
  grad_o,
  options,
  p,
  a,
  table,
  hidden_weight,
  hidden_bias,
  output_weight,
  output_bias,
  c,
  L,
  log_forget,
  position_embedding,
  q_scale,
  k_scale,
  v_scale,
  slopes,
  boundaries,
  sample,
  mask,
  grad_lse,
  dropout,
  query_lengths,
  shared_keys,
  later_parameters =
      64  ///< and its number in plumbline_parameter, of a parameter without a name here
};

}  // namespace plumbline::cases
