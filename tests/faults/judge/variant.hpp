// SPDX-License-Identifier: Apache-2.0
// The correct kernels of the campaign: what one may choose and still be right.
#pragma once

#include <cstdint>
#include <string>

#include "tests/faults/judge/arithmetic.hpp"

namespace plumbline::bench {

struct Variant {
  int tile = 32;            ///< keys between two looks at the running maximum
  int splits = 1;           ///< ranges of keys, merged through their LSE
  int lanes = 1;            ///< partial sums of a dot product
  int key_sums = 1;         ///< partial sums of dK and dV over the rows
  bool descending = false;  ///< tiles of keys, and rows of the backward pass
  bool tile_sums = false;   ///< a tile's P V and sum of P on their own, then added
  bool cuts = false;        ///< sums rounded towards zero, as tensor cores do
  bool sums_rounded_p = false;
  bool prefix_in_float = false;
  bool recomputed = false;  ///< backward: P and D recomputed, o and lse not read
  Exponential exponential = Exponential::natural;
  int p_format = PLUMBLINE_FP32;
  int operand_bits = 23;       ///< of a float on its way into a product: 23, or 10 (tf32)
  bool cuts_operands = false;  ///< to tf32 by cutting, not to nearest
  bool stable_gates = false;   ///< CoPE: a gate through e^-|s|, whose argument is never positive
  bool by_difference = false;  ///< CoPE: z + w (next - z)
  /// Seed of roundings of P and of operands that are not to nearest, but by a random part of half a
  /// step either way; 0: to nearest.
  std::uint64_t dithers = 0;
  bool bias_last = false;            ///< DAPE: a layer's bias is added after its sum
  bool lse_gradient_apart = false;   ///< dS = P (dP - D) + P grad_lse, not P (dP - (D - grad_lse))
  bool drops_rounded_p = false;      ///< dropout: m P of P as it was rounded, not rounded itself
  bool makes_keep = false;           ///< dropout: where it can, keep is made, not read
  bool ignores_hidden_keys = false;  ///< and says so
  bool sink_last = false;            ///< the sink after all keys, not before

  // What a laxer contract says, by the names of its fields; the block of kept sums is the tile.
  // Formats: PLUMBLINE_FP32 where nothing is rounded.
  int head_gradient_format = PLUMBLINE_FP32, gradient_sum_format = PLUMBLINE_FP32,
      output_sum_format = PLUMBLINE_FP32, score_format = PLUMBLINE_FP32,
      grad_probability_format = PLUMBLINE_FP32, delta_format = PLUMBLINE_FP32,
      lse_format = PLUMBLINE_FP32;
  bool saves_rounded_p = false, no_lse = false, inexact_exp_zero = false, alibi_of_key = false,
       lse_base_2 = false, float_o = false, float_gradients = false;
  bool rough_tanh = false;  ///< of a softcap: tanh_error 2^-11
  int empty_rows = PLUMBLINE_EMPTY_ROWS_ARE_ZERO;
};

/// What such a kernel declares.
plumbline_contract contract_of(const Variant&);

/// The plain one of a format: P in the format of outputs, the rest as it comes. P in 8 bits is left
/// out.
Variant plain_variant(int format);

/// A variant drawn from `seed`, of those that make sense in the format.
Variant drawn_variant(int format, std::uint64_t seed);

/// The same with some of what a laxer contract may say.
Variant laxer_variant(const Variant&, int format, std::uint64_t seed);

/// In words, for tables.
std::string describe(const Variant&);

}  // namespace plumbline::bench
