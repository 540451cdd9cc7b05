// SPDX-License-Identifier: Apache-2.0
#include "verdict/conventions/lax_fields.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "verdict/cases/case_file.hpp"

namespace plumbline::verdict {
namespace {

/// "2^-8", or "1.5 2^-8".
std::string power(double x) {
  if (!(x > 0)) return "0";
  const int exponent = std::ilogb(x);
  const double rest = std::ldexp(x, -exponent);
  return rest == 1 ? fmt::format("2^{}", exponent) : fmt::format("{:.3g} 2^{}", rest, exponent);
}

/// Of rows that see no key.
std::string in_empty_rows(std::int32_t convention) {
  switch (convention) {
    case PLUMBLINE_EMPTY_ROWS_HAVE_PLUS_INF:
      return "an lse of +infinity where no key is visible";
    case PLUMBLINE_EMPTY_ROWS_ARE_MEANS:
      return "a mean of all v, and any lse, where no key is visible";
    case PLUMBLINE_EMPTY_ROWS_ARE_NAN:
      return "NaN where no key is visible";
    default:
      return "anything where no key is visible";
  }
}

std::string shown(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return power(value.get<double>());
  if (value.is_array() && value.empty()) return "none";
  return value.dump();
}

}  // namespace

std::string lets_through(const std::string& field, const Contract& c, cases::Format format) {
  const std::string stored = power(unit_roundoff(cases::output_format(format)));
  const auto beyond = [](std::int32_t kept, const std::string& what) {
    return kept == PLUMBLINE_FP16 ? ", and any " + what + " beyond fp16's range" : "";
  };
  const std::map<std::string, std::string> texts{
      {"unit_roundoff", "errors of sums up to " + power(c.unit_roundoff) + " per term"},
      {"operand_roundoff", "errors of operands up to " + power(c.operand_roundoff) + " of them"},
      {"probability_format",
       "errors of P and dS up to " + power(probability_rounding(c).format) + " of them"},
      {"sums_rounded_p", "sums of rounded weights"},
      {"exp_error", "errors of exponentials up to " + power(c.exp_error) + " of them"},
      {"skipped_mass", "keys left out with a probability up to " + power(c.skipped_mass)},
      {"splits", fmt::format("errors of merging {} ranges of keys", c.splits)},
      {"prefix_sum", "errors of prefix sums that grow with the position"},
      {"prefix_tile", "errors of prefix sums within a tile"},
      {"flushes_subnormals", "what is lost below 2^-126"},
      {"probability_scale", "nothing more: P is scaled before it is rounded"},
      {"head_gradient_format", "errors of a query head's grad_k and grad_v up to " + stored},
      {"gradient_sum_format", "errors of gradients up to " + stored + " for every block"},
      {"output_sum_format", "errors of o up to " + stored + " for every block" +
                                beyond(c.output_sum_format, "o whose sum is")},
      {"sum_block", fmt::format("such a rounding after every {} terms", c.sum_block)},
      {"score_format", "errors of scores up to 3 x " + stored + " of them" +
                           beyond(c.score_format, "row with a score")},
      {"grad_probability_format", "errors of dP up to " + stored + " of it"},
      {"delta_format", "errors of D's terms up to " + stored + " of them"},
      {"saves_rounded_p", "errors of dS up to " + stored + " of it"},
      {"lse_format", "errors of lse up to " + stored + " of it" + beyond(c.lse_format, "lse")},
      {"no_lse", "errors of scale and bias that o hides"},
      {"inexact_exp_zero", "unequal weights of equal scores"},
      {"empty_rows", in_empty_rows(c.empty_rows)},
      {"families_left_out", "any outputs of these inputs"},
      {"largest_score", "any outputs of rows with larger scores"},
      {"tanh_error",
       "errors of scores with a softcap up to " + power(c.tanh_error) + " of the softcap"},
      {"log_error",
       "errors of a bias's logarithm up to " + power(c.log_error) + " of the larger of it and 1"},
      {"alibi_of_key", "an lse of ALiBi that is larger by slopes[h] i"},
      {"lse_base_2", "an lse to base 2"},
  };
  const auto found = texts.find(field);
  return found == texts.end() ? "more than by default" : found->second;
}

std::vector<LaxField> lax_fields(const Contract& contract, cases::Format format) {
  const nlohmann::json declared = cases::to_json(contract),
                       strictest = cases::to_json(cases::undeclared_contract());
  std::vector<LaxField> fields;
  for (const auto& [field, value] : declared.items()) {
    const nlohmann::json& usual = strictest.at(field);
    const bool stricter = value.is_number_float() && field != "largest_score" &&
                          field != "probability_scale" && value < usual;
    if (value == usual || stricter || field.starts_with("float_")) continue;
    fields.push_back({field, shown(value), shown(usual), lets_through(field, contract, format)});
  }
  return fields;
}

std::string in_words(const std::vector<LaxField>& fields) {
  std::string text;
  for (const LaxField& field : fields) {
    text += fmt::format("{}{} = {} (default {}) lets through {}", text.empty() ? "" : "; ",
                        field.field, field.value, field.strictest, field.lets_through);
  }
  return text;
}

}  // namespace plumbline::verdict
