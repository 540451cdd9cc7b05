// SPDX-License-Identifier: Apache-2.0
#include "bench/verdict/variant.hpp"

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
  variant.anew = below(3) == 0;
  variant.exponential = static_cast<Exponential>(below(4));
  if (below(4) != 0) variant.p_format = output_format(format);
  if (format == PLUMBLINE_TF32 && below(4) != 0) {
    variant.operand_bits = 10;
    variant.cuts_operands = below(2);
  }
  variant.stable_gates = below(2);
  variant.by_difference = below(2);
  variant.bias_last = below(2);
  // The contract says P in fp32 where it is not rounded, and then a rounded sum means nothing.
  if (variant.p_format == PLUMBLINE_FP32) variant.sums_rounded_p = false;
  return variant;
}

std::string describe(const Variant& v) {
  constexpr std::array names{"exp", "exp2", "polynomial", "folded log2 e"};
  return fmt::format(
      "tile {}, {} splits, {} lanes, {}{}{}{}{}{}{}{}{}{}P {}, operands {} bits{}", v.tile,
      v.splits, v.lanes, v.descending ? "descending, " : "", v.tile_sums ? "tile sums, " : "",
      v.cuts ? "cut sums, " : "", v.sums_rounded_p ? "sums rounded P, " : "",
      v.prefix_in_float ? "prefix sums in float, " : "", v.anew ? "P and D anew, " : "",
      v.stable_gates ? "stable gates, " : "", v.by_difference ? "by difference, " : "",
      v.bias_last ? "bias last, " : "", std::string(names[static_cast<int>(v.exponential)]) + ", ",
      v.p_format, v.operand_bits, v.cuts_operands ? " cut" : "");
}

}  // namespace plumbline::bench
