// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/judge/variant.hpp"

#include <fmt/format.h>

#include <array>

#include "support/draw.hpp"

namespace plumbline::bench {

plumbline_contract contract_of(const Variant& variant) {
  plumbline_contract contract{};
  contract.unit_roundoff = variant.cuts ? 0x1p-23 : 0x1p-24;
  contract.operand_roundoff = variant.operand_bits == 23 ? 0
                              : variant.cuts_operands    ? 0x1p-10
                                                         : 0x1p-11;
  contract.probability_format = variant.p_format;
  contract.sums_rounded_p = variant.sums_rounded_p;
  // glibc's exp and exp2 of floats are within 1 ulp, the polynomial within 2: as the built-in
  // kernels declare it.
  contract.exp_error = 0x1.4p-22;
  contract.splits = variant.splits;
  contract.prefix_sum =
      variant.prefix_in_float ? PLUMBLINE_PREFIX_SUM_FP32 : PLUMBLINE_PREFIX_SUM_FP64;
  contract.head_gradient_format = variant.head_gradient_format;
  contract.gradient_sum_format = variant.gradient_sum_format;
  contract.output_sum_format = variant.output_sum_format;
  const bool keeps_sums =
      variant.gradient_sum_format != PLUMBLINE_FP32 || variant.output_sum_format != PLUMBLINE_FP32;
  contract.sum_block = keeps_sums ? variant.tile : 0;
  contract.score_format = variant.score_format;
  contract.grad_probability_format = variant.grad_probability_format;
  contract.delta_format = variant.delta_format;
  contract.saves_rounded_p = variant.saves_rounded_p;
  contract.lse_format = variant.lse_format;
  contract.no_lse = variant.no_lse;
  contract.inexact_exp_zero = variant.inexact_exp_zero;
  if (variant.inexact_exp_zero) contract.exp_error = 0x1p-14;
  contract.empty_rows = variant.empty_rows;
  contract.alibi_of_key = variant.alibi_of_key;
  contract.lse_base_2 = variant.lse_base_2;
  contract.float_o = variant.float_o;
  contract.float_gradients = variant.float_gradients;
  contract.tanh_error = variant.rough_tanh ? 0x1p-11 : 0;
  return contract;
}

Variant plain_variant(int format) {
  Variant variant;
  variant.p_format = output_format(format);
  if (format == PLUMBLINE_TF32) variant.operand_bits = 10;
  return variant;
}

Variant drawn_variant(int format, std::uint64_t seed) {
  const Draw draw(seed, 1);
  std::uint64_t next = 0;
  const auto below = [&](std::uint32_t n) { return draw.below(next++, n); };
  const auto one_of = [&](const auto& values) { return values[below(values.size())]; };
  Variant variant;
  variant.tile = one_of(std::array{1, 8, 16, 32, 48, 64, 128, 100000});
  variant.splits = one_of(std::array{1, 1, 1, 2, 3, 8});
  variant.lanes = one_of(std::array{1, 2, 4, 32});
  variant.key_sums = one_of(std::array{1, 1, 2, 7});
  variant.descending = below(2);
  variant.tile_sums = below(2);
  variant.cuts = below(3) == 0;
  variant.sums_rounded_p = below(4) == 0;
  variant.prefix_in_float = below(4) == 0;
  variant.recomputed = below(3) == 0;
  variant.exponential = static_cast<Exponential>(below(4));
  if (below(4) != 0) variant.p_format = output_format(format);
  if (format == PLUMBLINE_TF32 && below(4) != 0) {
    variant.operand_bits = 10;
    variant.cuts_operands = below(2);
  }
  variant.stable_gates = below(2);
  variant.by_difference = below(2);
  variant.bias_last = below(2);
  variant.lse_gradient_apart = below(2);
  variant.drops_rounded_p = below(2);
  variant.makes_keep = below(2);
  variant.ignores_hidden_keys = below(2);
  variant.sink_last = below(2);
  // The contract says P in fp32 where it is not rounded, and then a rounded sum means nothing.
  if (variant.p_format == PLUMBLINE_FP32) variant.sums_rounded_p = false;
  return variant;
}

Variant laxer_variant(const Variant& of, int format, std::uint64_t seed) {
  const Draw draw(seed, 2);
  std::uint64_t next = 0;
  const auto one_in = [&](std::uint32_t n) { return draw.below(next++, n) == 0; };
  Variant variant = of;
  variant.alibi_of_key = one_in(2);
  variant.empty_rows = static_cast<int>(draw.below(next++, PLUMBLINE_EMPTY_ROWS_COUNT));
  variant.no_lse = one_in(6);
  const int outputs = output_format(format);
  if (outputs == PLUMBLINE_BF16 || outputs == PLUMBLINE_FP16) {
    for (int Variant::*field :
         {&Variant::head_gradient_format, &Variant::gradient_sum_format,
          &Variant::output_sum_format, &Variant::score_format, &Variant::grad_probability_format,
          &Variant::delta_format, &Variant::lse_format}) {
      if (one_in(4)) variant.*field = outputs;
    }
    variant.saves_rounded_p = variant.p_format != PLUMBLINE_FP32 && one_in(4);
    variant.inexact_exp_zero = one_in(4);
  }
  variant.lse_base_2 = one_in(3) && !variant.no_lse;
  variant.float_o = one_in(4);
  variant.float_gradients = one_in(4);
  variant.rough_tanh = one_in(3);
  if (variant.no_lse) {
    variant.lse_format = PLUMBLINE_FP32;
    variant.recomputed = true;
  }
  // Each range would have blocks of its own.
  if (variant.output_sum_format != PLUMBLINE_FP32) variant.splits = 1;
  return variant;
}

std::string describe(const Variant& v) {
  constexpr std::array names{"exp", "exp2", "polynomial", "folded log2 e"};
  std::string text = fmt::format(
      "tile {}, {} splits, {} lanes, {}{}{}{}{}{}{}{}{}{}{}P {}, operands {} bits{}", v.tile,
      v.splits, v.lanes, v.descending ? "descending, " : "", v.tile_sums ? "tile sums, " : "",
      v.cuts ? "cut sums, " : "", v.sums_rounded_p ? "sums rounded P, " : "",
      v.prefix_in_float ? "prefix sums in float, " : "", v.recomputed ? "P and D recomputed, " : "",
      v.stable_gates ? "stable gates, " : "", v.by_difference ? "by difference, " : "",
      v.bias_last ? "bias last, " : "", v.lse_gradient_apart ? "gradient of lse apart, " : "",
      std::string(names[static_cast<int>(v.exponential)]) + ", ", v.p_format, v.operand_bits,
      v.cuts_operands ? " cut" : "");
  const auto add = [&](const char* field, int value) {
    if (value != 0) text += fmt::format(", {} {}", field, value);
  };
  add("drops_rounded_p", v.drops_rounded_p);
  add("makes_keep", v.makes_keep);
  add("ignores_hidden_keys", v.ignores_hidden_keys);
  add("sink_last", v.sink_last);
  add("head_gradient_format", v.head_gradient_format);
  add("gradient_sum_format", v.gradient_sum_format);
  add("output_sum_format", v.output_sum_format);
  add("score_format", v.score_format);
  add("grad_probability_format", v.grad_probability_format);
  add("delta_format", v.delta_format);
  add("lse_format", v.lse_format);
  add("saves_rounded_p", v.saves_rounded_p);
  add("no_lse", v.no_lse);
  add("inexact_exp_zero", v.inexact_exp_zero);
  add("empty_rows", v.empty_rows);
  add("alibi_of_key", v.alibi_of_key);
  add("lse_base_2", v.lse_base_2);
  add("float_o", v.float_o);
  add("float_gradients", v.float_gradients);
  add("rough_tanh", v.rough_tanh);
  return text;
}

}  // namespace plumbline::bench
