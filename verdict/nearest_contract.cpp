// SPDX-License-Identifier: Apache-2.0
#include "verdict/nearest_contract.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "cases/case_file.hpp"
#include "cases/named_contracts.hpp"
#include "support/error.hpp"

namespace plumbline::verdict {
namespace {

struct Candidate {
  std::string name;
  Contract contract;
  std::string cost;  ///< what would no longer be seen
};

/// "2^-8"
std::string power(double x) { return fmt::format("2^{}", std::ilogb(x)); }

/// The fields in which a contract differs from the declared one.
std::string differences(const Contract& contract, const Contract& declared) {
  const auto ours = cases::to_json(contract), theirs = cases::to_json(declared);
  std::string text;
  for (const auto& [field, value] : ours.items()) {
    if (value == theirs.at(field)) continue;
    const std::string shown = value.is_string() ? value.get<std::string>() : value.dump();
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", field, shown);
  }
  return text;
}

std::vector<Candidate> candidates_of(const Contract& declared, cases::Format format) {
  std::vector<Candidate> candidates;
  const auto add = [&](std::string name, std::string cost, auto change) {
    Contract contract = declared;
    change(contract);
    if (cases::to_json(contract) == cases::to_json(declared)) return;
    try {
      validate(contract, format);
    } catch (const BadInput&) {
      return;  // no kernel of this format needs it
    }
    candidates.push_back({std::move(name), contract, std::move(cost)});
  };
  const cases::Format outputs = cases::output_format(format);
  const auto kept = static_cast<std::int32_t>(outputs);
  const std::string up_to = "errors of {} up to " + power(unit_roundoff(outputs)) + " of it";
  const auto keep = [&](const char* field, std::int32_t Contract::*member, const char* what) {
    add(field, fmt::format(fmt::runtime(up_to), what), [&](Contract& c) { c.*member = kept; });
  };
  add("flushes_subnormals", "what is lost below 2^-126",
      [](Contract& c) { c.flushes_subnormals = 1; });
  add("unit_roundoff", "errors of sums twice as large",
      [](Contract& c) { c.unit_roundoff = std::max(c.unit_roundoff, 0x1p-23); });
  add("prefix_sum", "errors of prefix sums that grow with the position",
      [](Contract& c) { c.prefix_sum = PLUMBLINE_PREFIX_SUM_FP32; });
  for (const bool at_zero : {false, true}) {
    add(at_zero ? "inexact_exp_zero" : "exp_error", "errors of exponentials up to 2^-14 of them",
        [&](Contract& c) {
          c.exp_error = std::max(c.exp_error, 0x1p-14);
          c.inexact_exp_zero = at_zero;
        });
  }
  add("splits", "errors of merging 16 ranges of keys",
      [](Contract& c) { c.splits = std::max(c.splits, 16); });
  constexpr std::pair<int, const char*> conventions[] = {
      {PLUMBLINE_EMPTY_ROWS_HAVE_PLUS_INF, "an lse of +infinity where no key is seen"},
      {PLUMBLINE_EMPTY_ROWS_ARE_MEANS, "a mean of all v, and any lse, where no key is seen"},
      {PLUMBLINE_EMPTY_ROWS_ARE_NAN, "NaN where no key is seen"}};
  for (const auto& [convention, cost] : conventions) {
    add("empty_rows", cost, [c = convention](Contract& x) { x.empty_rows = c; });
  }
  keep("lse_format", &Contract::lse_format, "lse");
  keep("head_gradient_format", &Contract::head_gradient_format,
       "grad_k and grad_v of each query head");
  keep("delta_format", &Contract::delta_format, "D's terms");
  keep("grad_probability_format", &Contract::grad_probability_format, "dP");
  keep("probability_format", &Contract::probability_format, "P and dS");
  add("saves_rounded_p", fmt::format(fmt::runtime(up_to), "P, also where dS is made of it"),
      [&](Contract& c) {
        c.probability_format = kept;
        c.saves_rounded_p = 1;
      });
  for (const auto& [field, member] :
       {std::pair{"gradient_sum_format", &Contract::gradient_sum_format},
        std::pair{"output_sum_format", &Contract::output_sum_format}}) {
    add(field, fmt::format(fmt::runtime(up_to), "sums, for every 32 terms"), [&](Contract& c) {
      c.*member = kept;
      c.sum_block = 32;
    });
  }
  keep("score_format", &Contract::score_format, "scores");
  for (const std::string& name : cases::named_contracts()) {
    try {
      Contract contract = cases::contract_named(name, format, name);
      contract.no_lse = declared.no_lse;
      contract.largest_score = declared.largest_score;
      contract.families_left_out = declared.families_left_out;
      if (contract.empty_rows == PLUMBLINE_EMPTY_ROWS_ARE_NOT_MINE) {
        contract.empty_rows = declared.empty_rows;
      }
      if (contract.no_lse) contract.lse_format = PLUMBLINE_FP32;
      if (cases::to_json(contract) != cases::to_json(declared)) {
        candidates.push_back({name, contract, ""});
      }
    } catch (const BadInput&) {
    }
  }
  return candidates;
}

/// Products that may be judged some twenty times.
bool is_too_large(const cases::Spec& s) {
  return static_cast<double>(s.batch) * s.heads * s.queries * s.keys * s.head_dim > 0x1p25;
}

}  // namespace

std::optional<Match> nearest_contract(const Contract& declared,
                                      std::span<const FailingOutputs> failing, int threads) {
  if (failing.empty()) return std::nullopt;
  const cases::Format format = failing.front().the_case.spec.format;
  for (const Candidate& candidate : candidates_of(declared, format)) {
    const bool passes = std::all_of(failing.begin(), failing.end(), [&](const FailingOutputs& one) {
      return is_too_large(one.the_case.spec) ||
             outcome_of(one.the_case, candidate.contract, one.outputs, threads) != Outcome::fail;
    });
    const bool any = std::any_of(failing.begin(), failing.end(), [](const FailingOutputs& one) {
      return !is_too_large(one.the_case.spec);
    });
    if (!passes || !any) continue;
    const std::string fields = differences(candidate.contract, declared);
    if (!candidate.cost.empty()) {
      return Match{
          candidate.name,
          fmt::format("it would not fail if its contract said {}; {} would then not be seen",
                      fields, candidate.cost)};
    }
    return Match{candidate.name,
                 fmt::format("it would not fail with the contract of {} ({}); docs/contracts.md "
                             "tells what would then not be seen",
                             candidate.name, fields)};
  }
  return std::nullopt;
}

}  // namespace plumbline::verdict
