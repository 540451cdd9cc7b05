// SPDX-License-Identifier: Apache-2.0
#include "verdict/nearest_contract.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "cases/case_file.hpp"
#include "cases/named_contracts.hpp"
#include "support/error.hpp"
#include "verdict/drift.hpp"

namespace plumbline::verdict {
namespace {

struct Candidate {
  std::string name;
  Contract contract;
  std::string text;  ///< what it says, and what would no longer be seen
};

/// "errors of dP up to 2^-8 of their size"
std::string rounding_errors(const char* of, cases::Format format) {
  return fmt::format("errors of {} up to 2^{} of their size", of,
                     std::ilogb(unit_roundoff(cases::output_format(format))));
}

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

/// One field of a contract relaxed, the finest first. @param also what the contract lets through
/// already, or empty.
void add_relaxed(const Contract& base, const Contract& declared, cases::Format format,
                 const std::string& also, std::vector<Candidate>& candidates) {
  const auto add = [&](const char* name, const std::string& cost, auto change) {
    Contract contract = base;
    change(contract);
    if (cases::to_json(contract) == cases::to_json(base)) return;
    try {
      validate(contract, format);
    } catch (const BadInput&) {
      return;  // no kernel of this format needs it
    }
    candidates.push_back(
        {name, contract,
         fmt::format("it would not fail if its contract said {}; {}{} would then not be seen",
                     differences(contract, declared), also, cost)});
  };
  const auto kept = static_cast<std::int32_t>(cases::output_format(format));
  const auto keep = [&](const char* field, std::int32_t Contract::*member, const char* what) {
    add(field, rounding_errors(what, format), [&](Contract& c) { c.*member = kept; });
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
  const auto empty_rows = [&](std::int32_t convention, const char* cost) {
    add("empty_rows", cost, [&](Contract& c) { c.empty_rows = convention; });
  };
  empty_rows(PLUMBLINE_EMPTY_ROWS_HAVE_PLUS_INF, "an lse of +infinity where no key is seen");
  empty_rows(PLUMBLINE_EMPTY_ROWS_ARE_MEANS, "a mean of all v, and any lse, where no key is seen");
  empty_rows(PLUMBLINE_EMPTY_ROWS_ARE_NAN, "NaN where no key is seen");
  keep("lse_format", &Contract::lse_format, "lse");
  keep("head_gradient_format", &Contract::head_gradient_format,
       "grad_k and grad_v of each query head");
  keep("grad_probability_format", &Contract::grad_probability_format, "dP");
  keep("delta_format", &Contract::delta_format, "D's terms");
  keep("probability_format", &Contract::probability_format, "P and dS");
  const auto keep_sums = [&](const char* field, std::int32_t Contract::*member) {
    add(field, rounding_errors("sums", format) + " every 32 terms", [&](Contract& c) {
      c.*member = kept;
      c.sum_block = 32;
    });
  };
  keep_sums("gradient_sum_format", &Contract::gradient_sum_format);
  keep_sums("output_sum_format", &Contract::output_sum_format);
  if (base.probability_format == kept) {
    add("saves_rounded_p", rounding_errors("P in dS", format),
        [](Contract& c) { c.saves_rounded_p = 1; });
  }
  keep("score_format", &Contract::score_format, "scores");
}

std::vector<Candidate> candidates_of(const Contract& declared, cases::Format format) {
  std::vector<Candidate> candidates;
  add_relaxed(declared, declared, format, "", candidates);
  const cases::Format outputs = cases::output_format(format);
  if (rounds_at_random(outputs) && declared.probability_format == PLUMBLINE_FP32) {
    // Nearly every kernel of 16 bits rounds P.
    Contract rounds_p = declared;
    rounds_p.probability_format = static_cast<std::int32_t>(outputs);
    add_relaxed(rounds_p, declared, format, rounding_errors("P and dS", format) + ", and ",
                candidates);
  }
  for (const std::string& name : cases::named_contracts()) {
    try {
      Contract contract = cases::contract_named(name, format, name);
      contract.no_lse = declared.no_lse;
      contract.largest_score = declared.largest_score;
      contract.families_left_out = declared.families_left_out;
      if (contract.empty_rows == PLUMBLINE_EMPTY_ROWS_ARE_NOT_MINE) {
        contract.empty_rows = declared.empty_rows;
      }
      const std::string fields = differences(contract, declared);
      if (fields.empty()) continue;
      candidates.push_back(
          {name, contract,
           fmt::format(
               "it would not fail with the contract of {} ({}); docs/contracts.md tells what "
               "would then not be seen",
               name, fields)});
    } catch (const BadInput&) {  // it has no such format
    }
  }
  return candidates;
}

/// More than may be judged some forty times.
bool is_too_large(const cases::Spec& s) {
  return static_cast<double>(s.batch) * s.heads * s.queries * s.keys * s.head_dim > 0x1p23;
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
    if (passes && any) return Match{candidate.name, candidate.text};
  }
  return std::nullopt;
}

}  // namespace plumbline::verdict
