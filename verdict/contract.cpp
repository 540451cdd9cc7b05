// SPDX-License-Identifier: Apache-2.0
#include "verdict/contract.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "support/error.hpp"

namespace plumbline::verdict {

double unit_roundoff(cases::Format format) {
  switch (format) {
    case cases::Format::bf16:
      return 0x1p-8;
    case cases::Format::fp16:
      return 0x1p-11;
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
    default:
      return 0x1p-150;
  }
}

double largest_safe(cases::Format format) {
  return format == cases::Format::fp16 ? 65504.0 : 0x1p127;
}

ProbabilityRounding probability_rounding(const Contract& contract) {
  ProbabilityRounding rounding;
  const auto format = static_cast<cases::Format>(contract.probability_format);
  rounding.largest = largest_safe(format);
  rounding.absolute = half_smallest_subnormal(format);
  switch (format) {
    case cases::Format::fp32:
      rounding.operand = contract.operand_roundoff;
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
  rounding.relative = (1 + rounding.format) * (1 + rounding.operand) - 1;
  return rounding;
}

double operand_underflow(const Contract& contract) {
  return contract.operand_roundoff > 0.0 ? 0x1p-136 : 0.0;
}

double gamma(double n, double u) {
  const double nu = n * u;
  return nu < 1.0 ? nu / (1.0 - nu) : std::numeric_limits<double>::infinity();
}

void validate(const Contract& contract) {
  // A roundoff or an exp error beyond these would make every output acceptable.
  if (!(contract.unit_roundoff >= 0x1p-53 && contract.unit_roundoff <= 0x1p-20)) {
    throw BadInput("contract.unit_roundoff", fmt::format("{}", contract.unit_roundoff),
                   "a number from 2^-53 to 2^-20");
  }
  if (!(contract.operand_roundoff >= 0.0 && contract.operand_roundoff <= 0x1p-8)) {
    throw BadInput("contract.operand_roundoff", fmt::format("{}", contract.operand_roundoff),
                   "a number from 0 to 2^-8");
  }
  if (contract.probability_format < 0 || contract.probability_format >= PLUMBLINE_FORMAT_COUNT) {
    throw BadInput("contract.probability_format", fmt::format("{}", contract.probability_format),
                   "0 (fp32), 1 (bf16), 2 (fp16) or 3 (tf32)");
  }
  if (contract.sums_rounded_p != 0 && contract.sums_rounded_p != 1) {
    throw BadInput("contract.sums_rounded_p", fmt::format("{}", contract.sums_rounded_p), "0 or 1");
  }
  if (!(contract.exp_error >= 0.0 && contract.exp_error <= 0x1p-10)) {
    throw BadInput("contract.exp_error", fmt::format("{}", contract.exp_error),
                   "a number from 0 to 2^-10");
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
}

}  // namespace plumbline::verdict
