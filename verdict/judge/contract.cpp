// SPDX-License-Identifier: Apache-2.0
#include "verdict/judge/contract.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/error.hpp"
#include "verdict/bounds/roundoff.hpp"
#include "verdict/cases/formats.hpp"

namespace plumbline::verdict {

double unit_roundoff(cases::Format format) {
  switch (format) {
    case cases::Format::bf16:
      return 0x1p-8;
    case cases::Format::fp16:
      return 0x1p-11;
    case cases::Format::e4m3:
      return 0x1p-4;
    case cases::Format::e5m2:
      return 0x1p-3;
    default:
      return 0x1p-24;
  }
}

double half_smallest_subnormal(cases::Format format) {
  switch (format) {
    case cases::Format::bf16:
      return 0x1p-134;
    case cases::Format::fp16:
      return 0x1p-25;
    case cases::Format::e4m3:
      return 0x1p-10;
    case cases::Format::e5m2:
      return 0x1p-17;
    default:
      return 0x1p-150;
  }
}

double largest_safe(cases::Format format) {
  switch (format) {
    case cases::Format::fp16:
      return 65504.0;
    case cases::Format::e4m3:
      return 448.0;
    case cases::Format::e5m2:
      return 57344.0;
    default:
      return 0x1p127;
  }
}

ProbabilityRounding probability_rounding(const Contract& contract) {
  ProbabilityRounding rounding;
  const auto format = static_cast<cases::Format>(contract.probability_format);
  rounding.largest = largest_safe(format);
  rounding.absolute = half_smallest_subnormal(format);
  switch (format) {
    case cases::Format::fp32:
      rounding.operand = contract.operand_roundoff;
      // Stored as it is, but cut to tf32 on its way, a subnormal loses tf32's spacing there.
      rounding.absolute = std::max(rounding.absolute, operand_underflow(contract));
      break;
    case cases::Format::tf32:
      // What is tf32 already is not rounded again. Cut instead of rounded: operand_roundoff says
      // so.
      rounding.format = std::max(0x1p-11, contract.operand_roundoff);
      rounding.absolute = 0x1p-136;
      break;
    default:
      // tf32 holds every bf16 and every fp16 number.
      rounding.format = unit_roundoff(format);
  }
  if (contract.flushes_subnormals) rounding.absolute = std::max(rounding.absolute, 0x1p-126);
  rounding.relative = (1 + rounding.format) * (1 + rounding.operand) - 1;
  return rounding;
}

ProbabilityRounding scaled_probability_rounding(const Contract& contract) {
  ProbabilityRounding rounding = probability_rounding(contract);
  if (contract.probability_scale > 0) {
    rounding.largest /= contract.probability_scale;
    rounding.absolute /= contract.probability_scale;
    if (contract.flushes_subnormals) rounding.absolute = std::max(rounding.absolute, 0x1p-126);
  }
  return rounding;
}

double dropout_roundings(const Contract& contract) {
  const auto format = static_cast<cases::Format>(contract.probability_format);
  return cases::has_scales(format) ? 0.0 : 2 * probability_rounding(contract).format;
}

Contract contract_for(Contract contract, const cases::Spec& spec) {
  const bool of_cache = spec.cache != cases::CacheFormat::in_format;
  if (of_cache || cases::has_scales(spec.format)) contract.operand_roundoff += 2 * u;
  // Of what keys such a mean is nothing says: of the sequence's, of which there may be none.
  if (spec.is_packed() && contract.empty_rows == PLUMBLINE_EMPTY_ROWS_ARE_MEANS) {
    contract.empty_rows = PLUMBLINE_EMPTY_ROWS_ARE_NOT_MINE;
  }
  return contract;
}

double operand_underflow(const Contract& contract) {
  if (contract.flushes_subnormals) return 0x1p-126;
  return contract.operand_roundoff > 0.0 ? 0x1p-136 : 0.0;
}

double rotated_underflow(const Contract& contract, cases::Format format) {
  const bool again = (format == cases::Format::fp16 || format == cases::Format::bf16) &&
                     contract.operand_roundoff >= unit_roundoff(format);
  return std::max(operand_underflow(contract), again ? half_smallest_subnormal(format) : 0.0) +
         3 * result_underflow(contract);
}

double result_underflow(const Contract& contract) {
  return contract.flushes_subnormals ? 0x1p-126 : 0x1p-150;
}

double stored_underflow(const Contract& contract, cases::Format format) {
  const double half = half_smallest_subnormal(format);
  return contract.flushes_subnormals ? std::max(half, 0x1p-126) : half;
}

double StoredRounding::of(double size) const {
  return size < largest ? relative * size + absolute : std::numeric_limits<double>::infinity();
}

double StoredRounding::of_several(double count, double size) const {
  if (!(relative > 0)) return 0.0;
  // Each is of what the ones before have left: (1 + relative)^count - 1 in all.
  const double grown = std::expm1(count * std::log1p(relative));
  const double error = grown * size + count * (1 + grown) * absolute;
  return size + error < largest ? error : std::numeric_limits<double>::infinity();
}

StoredRounding stored_rounding(const Contract& contract, std::int32_t format) {
  const auto stored = static_cast<cases::Format>(format);
  if (stored == cases::Format::fp32) return {};
  return {unit_roundoff(stored), stored_underflow(contract, stored), largest_safe(stored)};
}

double lse_rounding(const Contract& contract, double size) {
  if (contract.lse_format == PLUMBLINE_FP32) return 0.0;
  const double base = contract.lse_base_2 ? std::numbers::log2e : 1.0;
  return stored_rounding(contract, contract.lse_format).of(base * size) / base;
}

double sum_blocks(const Contract& contract, double seen, double all) {
  return std::min(seen, std::ceil(all / contract.sum_block));
}

double gamma(double n, double u) {
  const double nu = n * u;
  return nu < 1.0 ? nu / (1.0 - nu) : std::numeric_limits<double>::infinity();
}

bool is_alibi_of_key(const Contract& contract, const cases::Spec& spec) {
  return contract.alibi_of_key != 0 && spec.bias.method == PLUMBLINE_ALIBI && spec.bias.dape == 0 &&
         spec.mask.causal && !spec.mask.window.hides();
}

namespace {

/// What a kernel of a format may declare at most.
struct Limits {
  double unit_roundoff;
  const char* accumulation;  ///< the same in words
  double operand_roundoff;
  const char* operands;  ///< the same in words
  double exp_error;
  const char* exp;
  std::vector<cases::Format> probability_formats;
};

Limits limits_of(cases::Format format) {
  using cases::Format;
  switch (format) {
    case Format::fp32:
      return {0x1p-20, "2^-20", 0x1p-20, "2^-20", 0x1p-16, "2^-16", {Format::fp32}};
    case Format::tf32:
      return {0x1p-20, "2^-20", 0x1p-10, "2^-10", 0x1p-16, "2^-16", {Format::fp32, Format::tf32}};
    case Format::fp16:  // RoPE's rotated operands are rounded again
      return {0x1p-20,
              "2^-20",
              0x1p-11,
              "2^-11",
              0x1p-10,
              "2^-10",
              {Format::fp32, Format::fp16, Format::tf32}};
    case Format::bf16:
      return {0x1p-20,
              "2^-20",
              0x1p-8,
              "2^-8",
              0x1p-10,
              "2^-10",
              {Format::fp32, Format::bf16, Format::fp16, Format::tf32}};
    case Format::e4m3:  // 8-bit tensor cores keep 13 bits after the point; operands may become bf16
    case Format::e5m2:
      return {0x1p-13, "2^-13", 0x1p-8, "2^-8", 0x1p-10, "2^-10", cases::all_formats()};
  }
  throw std::logic_error("a format without limits");
}

/// P is scaled for an 8-bit format alone: others reach far enough.
void require_probability_scale(const Contract& contract) {
  const double scale = contract.probability_scale;
  const auto format = static_cast<cases::Format>(contract.probability_format);
  const bool power = scale == 1 || scale == 2 || scale == 4 || scale == 8 || scale == 16 ||
                     scale == 32 || scale == 64 || scale == 128 || scale == 256;
  if (scale == 0 || (power && cases::has_scales(format))) return;
  throw BadInput("contract.probability_scale", fmt::format("{}", scale),
                 cases::has_scales(format)
                     ? std::string("0, for none, or a power of two from 1 to 2^8")
                     : fmt::format("0 with probability_format {}", cases::name(format)));
}

void require_flag(const char* field, std::int32_t value) {
  if (value != 0 && value != 1) throw BadInput(field, fmt::format("{}", value), "0 or 1");
}

/// The formats that a number which is kept may be rounded to: that of outputs, if it has 16 bits.
void require_stored_format(const char* field, std::int32_t value, cases::Format format) {
  const auto outputs = cases::output_format(format);
  const bool rounds = outputs != cases::Format::fp32 && outputs != cases::Format::tf32;
  if (value == PLUMBLINE_FP32 || (rounds && value == static_cast<std::int32_t>(outputs))) return;
  std::string expected = "0 (fp32)";
  if (rounds) expected += fmt::format(" or {} ({})", static_cast<int>(outputs), name(outputs));
  throw BadInput(field, fmt::format("{}", value),
                 fmt::format("{} in {}", expected, cases::name(format)));
}

/// All bits of plumbline_family.
constexpr std::uint32_t all_families = PLUMBLINE_FAMILY_PEAKED | PLUMBLINE_FAMILY_DIFFUSE |
                                       PLUMBLINE_FAMILY_TIED | PLUMBLINE_FAMILY_HUGE |
                                       PLUMBLINE_FAMILY_SUBNORMAL | PLUMBLINE_FAMILY_LEVEL;

void require_kept_formats(const Contract& contract, cases::Format format) {
  require_stored_format("contract.head_gradient_format", contract.head_gradient_format, format);
  require_stored_format("contract.gradient_sum_format", contract.gradient_sum_format, format);
  require_stored_format("contract.output_sum_format", contract.output_sum_format, format);
  require_stored_format("contract.score_format", contract.score_format, format);
  require_stored_format("contract.grad_probability_format", contract.grad_probability_format,
                        format);
  require_stored_format("contract.delta_format", contract.delta_format, format);
  require_stored_format("contract.lse_format", contract.lse_format, format);
  const bool blocks = contract.gradient_sum_format != PLUMBLINE_FP32 ||
                      contract.output_sum_format != PLUMBLINE_FP32;
  if (blocks != (contract.sum_block > 0) || contract.sum_block < 0) {
    throw BadInput("contract.sum_block", fmt::format("{}", contract.sum_block),
                   blocks ? "1 or more, with gradient_sum_format or output_sum_format"
                          : "0 without gradient_sum_format and output_sum_format");
  }
}

void require_coverage(const Contract& contract) {
  require_flag("contract.no_lse", contract.no_lse);
  require_flag("contract.alibi_of_key", contract.alibi_of_key);
  require_flag("contract.lse_base_2", contract.lse_base_2);
  require_flag("contract.float_o", contract.float_o);
  require_flag("contract.float_gradients", contract.float_gradients);
  if (contract.no_lse == 1 && contract.lse_base_2 == 1) {
    throw BadInput("contract.lse_base_2", "1", "0 with no_lse");
  }
  if (!(contract.tanh_error >= 0 && contract.tanh_error <= 0x1p-8)) {
    throw BadInput("contract.tanh_error", fmt::format("{}", contract.tanh_error),
                   "a number from 0 to 2^-8");
  }
  if (!(contract.log_error >= 0 && contract.log_error <= 0x1p-8)) {
    throw BadInput("contract.log_error", fmt::format("{}", contract.log_error),
                   "a number from 0 to 2^-8");
  }
  if (contract.no_lse == 1 && contract.lse_format != PLUMBLINE_FP32) {
    throw BadInput("contract.lse_format", fmt::format("{}", contract.lse_format),
                   "0 (fp32) with no_lse");
  }
  if (contract.empty_rows < 0 || contract.empty_rows >= PLUMBLINE_EMPTY_ROWS_COUNT) {
    throw BadInput("contract.empty_rows", fmt::format("{}", contract.empty_rows),
                   fmt::format("from 0 to {}", PLUMBLINE_EMPTY_ROWS_COUNT - 1));
  }
  if ((contract.families_left_out & ~all_families) != 0) {
    throw BadInput("contract.families_left_out", fmt::format("{}", contract.families_left_out),
                   "a sum of 2, 4, 8, 16, 32, 64, each once");
  }
  const double largest = contract.largest_score;
  if (!(largest == 0 || (largest >= 64 && std::isfinite(largest)))) {
    throw BadInput("contract.largest_score", fmt::format("{}", largest),
                   "0, for none, or a number from 64 on");
  }
}

}  // namespace

void validate(const Contract& contract, cases::Format format) {
  // A roundoff or an exp error beyond these would make every output acceptable.
  const Limits limits = limits_of(format);
  if (!(contract.unit_roundoff >= 0x1p-53 && contract.unit_roundoff <= limits.unit_roundoff)) {
    throw BadInput(
        "contract.unit_roundoff", fmt::format("{}", contract.unit_roundoff),
        fmt::format("a number from 2^-53 to {} in {}", limits.accumulation, cases::name(format)));
  }
  if (!(contract.operand_roundoff >= 0.0 && contract.operand_roundoff <= limits.operand_roundoff)) {
    throw BadInput(
        "contract.operand_roundoff", fmt::format("{}", contract.operand_roundoff),
        fmt::format("a number from 0 to {} in {}", limits.operands, cases::name(format)));
  }
  const auto& allowed = limits.probability_formats;
  const auto is_it = [&](cases::Format p) {
    return static_cast<std::int32_t>(p) == contract.probability_format;
  };
  if (std::none_of(allowed.begin(), allowed.end(), is_it)) {
    std::string expected;
    for (const auto p : allowed) {
      expected += fmt::format("{}{} ({})", expected.empty() ? "" : " or ", static_cast<int>(p),
                              cases::name(p));
    }
    throw BadInput("contract.probability_format", fmt::format("{}", contract.probability_format),
                   expected + " in " + std::string(cases::name(format)));
  }
  require_probability_scale(contract);
  require_flag("contract.sums_rounded_p", contract.sums_rounded_p);
  require_flag("contract.flushes_subnormals", contract.flushes_subnormals);
  if (!(contract.exp_error >= 0.0 && contract.exp_error <= limits.exp_error)) {
    throw BadInput("contract.exp_error", fmt::format("{}", contract.exp_error),
                   fmt::format("a number from 0 to {} in {}", limits.exp, cases::name(format)));
  }
  if (!(contract.skipped_mass >= 0.0 && contract.skipped_mass <= 0x1p-10)) {
    throw BadInput("contract.skipped_mass", fmt::format("{}", contract.skipped_mass),
                   "a number from 0 to 2^-10");
  }
  if (contract.splits < 1 || contract.splits > 1024) {
    throw BadInput("contract.splits", fmt::format("{}", contract.splits), "from 1 to 1024");
  }
  // Merged ranges each add an exponential: with more than this every output would be acceptable.
  if (!(contract.splits * contract.exp_error <= 0x1p-6)) {
    throw BadInput("contract.splits * contract.exp_error",
                   fmt::format("{}", contract.splits * contract.exp_error), "at most 2^-6");
  }
  if (contract.prefix_sum != PLUMBLINE_PREFIX_SUM_FP64 &&
      contract.prefix_sum != PLUMBLINE_PREFIX_SUM_FP32) {
    throw BadInput("contract.prefix_sum", fmt::format("{}", contract.prefix_sum),
                   "0 (double) or 1 (float)");
  }
  if (contract.prefix_tile < 0) {
    throw BadInput("contract.prefix_tile", fmt::format("{}", contract.prefix_tile), "0 or more");
  }
  require_kept_formats(contract, format);
  require_flag("contract.inexact_exp_zero", contract.inexact_exp_zero);
  require_flag("contract.saves_rounded_p", contract.saves_rounded_p);
  require_coverage(contract);
}

}  // namespace plumbline::verdict
