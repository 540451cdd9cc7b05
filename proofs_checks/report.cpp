// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "support/error.hpp"
#include "support/text.hpp"

namespace plumbline::proofs_checks {
namespace {

bool selects(const std::string& wanted, const std::string& id) {
  return id == wanted || id.rfind(wanted + "/", 0) == 0;
}

bool selects_any(const std::string& wanted, const std::vector<Claim>& claims) {
  return std::ranges::any_of(claims, [&](const Claim& claim) { return selects(wanted, claim.id); });
}

ClaimResult run(const Claim& claim) {
  const auto begin = std::chrono::steady_clock::now();
  ClaimResult result{claim, claim.checks(), Verdict::undecided, {}, 0.0};
  result.verdict = verdict_of(claim, result.checks);
  result.hypotheses = drop_each(claim, result.checks);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

nlohmann::json json_of(const Sample& sample) {
  nlohmann::json numbers = nlohmann::json::object();
  for (const Quantity& quantity : sample.quantities) {
    numbers[quantity.name] = {{"lower", quantity.lower}, {"upper", quantity.upper}};
  }
  return numbers;
}

nlohmann::json json_of(const Check& check) {
  nlohmann::json json = {{"role", name(check.role)},  {"what", check.what},
                         {"reading", check.reading},  {"rigorous", check.rigorous},
                         {"samples", check.samples},  {"widest_enclosure", check.worst},
                         {"resolution", check.bound}, {"outcome", name(check.outcome)},
                         {"counterexample", nullptr}};
  if (check.counterexample) {
    json["counterexample"] = {{"numbers", json_of(check.counterexample->sample)},
                              {"found", check.counterexample->found}};
  }
  return json;
}

nlohmann::json json_of(const HypothesisResult&);
template <class T>
nlohmann::json json_of(const std::vector<T>& parts) {
  nlohmann::json array = nlohmann::json::array();
  for (const T& part : parts) array.push_back(json_of(part));
  return array;
}

nlohmann::json json_of(const HypothesisResult& result) {
  const Hypothesis& hypothesis = result.hypothesis;
  return {{"text", hypothesis.text},         {"origin", name(result.origin)},
          {"need", name(hypothesis.need)},   {"why", hypothesis.why},
          {"without", name(result.without)}, {"as_marked", result.as_marked()},
          {"checks", json_of(result.checks)}};
}

}  // namespace

bool ClaimResult::as_derived() const {
  return verdict == claim.proof.derived &&
         std::all_of(hypotheses.begin(), hypotheses.end(),
                     [](const HypothesisResult& result) { return result.as_marked(); }) &&
         std::none_of(checks.begin(), checks.end(), [](const Check& check) {
           return check.role == Role::correction && check.outcome != Outcome::supported;
         });
}

const Check* ClaimResult::counterexample() const {
  const Check* check = refuting(checks, Role::statement);
  if (check || verdict != Verdict::holds_under_condition) return check;
  for (const HypothesisResult& one : hypotheses) {
    if (one.origin != Origin::implicit || one.hypothesis.need != Need::needed) continue;
    if ((check = refuting(one.checks))) return check;
  }
  return nullptr;
}

std::string ClaimResult::title() const {
  return (verdict == Verdict::refuted ? "Not: " : "") + claim.title;
}

bool ClaimsReport::as_derived() const {
  return std::all_of(results.begin(), results.end(),
                     [](const ClaimResult& result) { return result.as_derived(); });
}

std::size_t ClaimsReport::machine_checked() const {
  return std::count_if(results.begin(), results.end(),
                       [](const ClaimResult& result) { return !result.claim.theorem.empty(); });
}

bool names_claims(const std::string& id) { return selects_any(id, all_claims()); }

BadInput no_such_claim(const std::string& id) {
  return BadInput("claim", in_quotes(id),
                  "a paper (alibi, bam, cable), or a claim such as bam/theorem_1; plumbline claims "
                  "lists them");
}

ClaimsReport run_claims(const std::vector<std::string>& ids) {
  const std::vector<Claim> claims = all_claims();
  for (const std::string& wanted : ids) {
    if (!selects_any(wanted, claims)) throw no_such_claim(wanted);
  }
  ClaimsReport report;
  for (const Claim& claim : claims) {
    const auto chosen = [&](const std::string& wanted) { return selects(wanted, claim.id); };
    if (ids.empty() || std::ranges::any_of(ids, chosen)) report.results.push_back(run(claim));
  }
  return report;
}

nlohmann::json to_json(const ClaimsReport& report) {
  nlohmann::json claims = nlohmann::json::array();
  for (const ClaimResult& result : report.results) {
    const Claim& claim = result.claim;
    const Note* note = note_of(claim.id);
    claims.push_back(
        {{"id", claim.id},
         {"title", claim.title},
         {"source",
          {{"paper", claim.source.paper},
           {"version", claim.source.version},
           {"place", claim.source.place}}},
         {"statement", claim.statement},
         {"hypotheses", json_of(result.hypotheses)},
         {"verdict", name(result.verdict)},
         {"condition", result.condition()},
         {"correction", claim.correction},
         {"derivation", claim.proof.derivation},
         {"theorem",
          claim.theorem.empty() ? nlohmann::json(nullptr) : nlohmann::json(claim.theorem)},
         {"derived_verdict", name(claim.proof.derived)},
         {"as_derived", result.as_derived()},
         {"mutant", claim.mutant.statement},
         {"note", note ? nlohmann::json("proofs/" + note->file) : nlohmann::json(nullptr)},
         {"checks", json_of(result.checks)}});
  }
  return {{"claims", claims}, {"as_derived", report.as_derived()}};
}

}  // namespace plumbline::proofs_checks
