// SPDX-License-Identifier: Apache-2.0
#include "verdict/conventions/nearest_contract.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "support/error.hpp"
#include "verdict/cases/case_file.hpp"
#include "verdict/cases/named_contracts.hpp"
#include "verdict/conventions/lax_fields.hpp"
#include "verdict/judge/drift.hpp"

namespace plumbline::verdict {
namespace {

struct Candidate {
  std::string name;
  Contract contract;
  std::string text;  ///< what it says, and what would no longer be seen
};

std::string value_in_words(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// The fields in which a contract differs from the declared one, what that says, and what they let
/// through beyond the strictest contract.
struct Differences {
  std::string fields, declared, let_through;
};

Differences differences(const Contract& contract, const Contract& declared, cases::Format format) {
  const auto ours = cases::to_json(contract), theirs = cases::to_json(declared),
             strictest = cases::to_json(cases::undeclared_contract());
  Differences all;
  const auto append = [](std::string& list, const std::string& one) {
    list += (list.empty() ? "" : ", ") + one;
  };
  for (const auto& [field, value] : ours.items()) {
    if (value == theirs.at(field)) continue;
    append(all.fields, fmt::format("{} = {}", field, value_in_words(value)));
    append(all.declared, fmt::format("{} = {}", field, value_in_words(theirs.at(field))));
    if (value != strictest.at(field)) {
      append(all.let_through, lets_through(field, contract, format));
    }
  }
  return all;
}

/// One field of a contract changed: conventions, which make no contract stricter or laxer, then
/// bounds, the finest first.
void add_changed(const Contract& base, const Contract& declared, cases::Format format,
                 std::vector<Candidate>& candidates) {
  const auto add = [&](const char* name, auto change) {
    Contract contract = base;
    change(contract);
    if (cases::to_json(contract) == cases::to_json(base)) return;
    try {
      validate(contract, format);
    } catch (const BadInput&) {
      return;  // no kernel of this format needs it
    }
    const Differences differ = differences(contract, declared, format);
    const std::string cost = differ.let_through.empty() ? "it declares " + differ.declared
                                                        : differ.let_through + " would then pass";
    candidates.push_back(
        {name, contract,
         fmt::format("it would not fail if its contract said {}; {}", differ.fields, cost)});
  };
  const auto kept = static_cast<std::int32_t>(cases::output_format(format));
  const auto keep = [&](const char* field, std::int32_t Contract::*member) {
    add(field, [&](Contract& c) { c.*member = kept; });
  };
  add("alibi_of_key", [](Contract& c) { c.alibi_of_key = c.alibi_of_key == 0; });
  add("lse_base_2", [](Contract& c) { c.lse_base_2 = c.lse_base_2 == 0; });
  for (const std::int32_t convention :
       {PLUMBLINE_EMPTY_ROWS_ARE_ZERO, PLUMBLINE_EMPTY_ROWS_HAVE_PLUS_INF,
        PLUMBLINE_EMPTY_ROWS_ARE_MEANS, PLUMBLINE_EMPTY_ROWS_ARE_NAN}) {
    add("empty_rows", [&](Contract& c) { c.empty_rows = convention; });
  }
  add("flushes_subnormals", [](Contract& c) { c.flushes_subnormals = 1; });
  add("unit_roundoff", [](Contract& c) { c.unit_roundoff = std::max(c.unit_roundoff, 0x1p-23); });
  add("prefix_tile", [](Contract& c) { c.prefix_tile = std::max(c.prefix_tile, 64); });
  add("prefix_sum", [](Contract& c) { c.prefix_sum = PLUMBLINE_PREFIX_SUM_FP32; });
  for (const bool at_zero : {false, true}) {
    add(at_zero ? "inexact_exp_zero" : "exp_error", [&](Contract& c) {
      c.exp_error = std::max(c.exp_error, 0x1p-14);
      c.inexact_exp_zero = at_zero;
    });
  }
  add("tanh_error", [](Contract& c) { c.tanh_error = std::max(c.tanh_error, 0x1p-11); });
  add("log_error", [](Contract& c) { c.log_error = std::max(c.log_error, 0x1p-22); });
  add("splits", [](Contract& c) { c.splits = std::max(c.splits, 16); });
  keep("lse_format", &Contract::lse_format);
  keep("head_gradient_format", &Contract::head_gradient_format);
  keep("grad_probability_format", &Contract::grad_probability_format);
  keep("delta_format", &Contract::delta_format);
  keep("probability_format", &Contract::probability_format);
  const auto keep_sums = [&](const char* field, std::int32_t Contract::*member) {
    add(field, [&](Contract& c) {
      c.*member = kept;
      c.sum_block = 32;
    });
  };
  keep_sums("gradient_sum_format", &Contract::gradient_sum_format);
  keep_sums("output_sum_format", &Contract::output_sum_format);
  if (base.probability_format == kept) {
    add("saves_rounded_p", [](Contract& c) { c.saves_rounded_p = 1; });
  }
  keep("score_format", &Contract::score_format);
}

std::vector<Candidate> candidates_of(const Contract& declared, cases::Format format) {
  std::vector<Candidate> candidates;
  add_changed(declared, declared, format, candidates);
  Contract usual = declared;  // but for what bounds its errors
  usual.alibi_of_key = usual.lse_base_2 = 0;
  usual.empty_rows = PLUMBLINE_EMPTY_ROWS_ARE_ZERO;
  if (cases::to_json(usual) != cases::to_json(declared)) {
    add_changed(usual, declared, format, candidates);
  }
  const cases::Format outputs = cases::output_format(format);
  if (rounds_at_random(outputs) && declared.probability_format == PLUMBLINE_FP32) {
    // Nearly every kernel of 16 bits rounds P.
    Contract rounds_p = declared;
    rounds_p.probability_format = static_cast<std::int32_t>(outputs);
    add_changed(rounds_p, declared, format, candidates);
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
      const std::string fields = differences(contract, declared, format).fields;
      if (fields.empty()) continue;
      // Given the whole of that contract, a kernel that writes lse would get no pointer to it.
      const bool without_lse = cases::contract_named(name, format, name).no_lse != declared.no_lse;
      candidates.push_back({name, contract,
                            fmt::format("it would not fail with the contract of {}{} ({}); "
                                        "docs/contracts.md says what would then pass",
                                        name, without_lse ? " but for its no_lse" : "", fields)});
    } catch (const BadInput&) {  // it has no such format
    }
  }
  return candidates;
}

}  // namespace

bool is_too_large_for_contracts(const cases::Spec& s) {
  return static_cast<double>(s.batch) * s.heads * s.queries * s.keys * s.head_dim > 0x1p23;
}

std::optional<NearestContract> nearest_contract(const Contract& declared,
                                                std::span<const FailingOutputs> failing,
                                                int threads) {
  if (failing.empty()) return std::nullopt;
  const cases::Format format = failing.front().the_case.spec.format;
  for (const Candidate& candidate : candidates_of(declared, format)) {
    const bool passes = std::all_of(failing.begin(), failing.end(), [&](const FailingOutputs& one) {
      return is_too_large_for_contracts(one.the_case.spec) ||
             outcome_of(one.the_case, candidate.contract, one.outputs, threads) != Outcome::fail;
    });
    const bool any = std::any_of(failing.begin(), failing.end(), [](const FailingOutputs& one) {
      return !is_too_large_for_contracts(one.the_case.spec);
    });
    if (passes && any) {
      return NearestContract{{candidate.name, candidate.text}, candidate.contract};
    }
  }
  return std::nullopt;
}

}  // namespace plumbline::verdict
