// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/claim.hpp"

#include <algorithm>

namespace plumbline::proofs_checks {
namespace {

/// The paper leaves out a hypothesis without which the statement is false.
bool lacks_a_hypothesis(const Claim& claim) {
  return std::ranges::any_of(claim.implicit,
                             [](const Hypothesis& one) { return one.need == Need::needed; });
}

/// What the verdict rests on.
std::vector<Check> support(Verdict verdict, const std::vector<Check>& checks) {
  const bool conditional = verdict == Verdict::holds_under_condition;
  const bool as_printed = conditional && !refuting(checks, Role::statement);
  return of_role(checks, verdict == Verdict::holds || as_printed ? Role::statement
                         : conditional                           ? Role::condition
                                                                 : Role::correction);
}

Verdict verdict_without(const Hypothesis& hypothesis, std::vector<Check> support,
                        const std::vector<Check>& evidence) {
  if (hypothesis.need == Need::unexamined) return Verdict::undecided;
  if (hypothesis.need == Need::definition) return Verdict::not_mathematical;
  support.insert(support.end(), evidence.begin(), evidence.end());
  for (Check& check : support) check.role = Role::statement;
  return verdict_of(Claim{}, support);
}

/// In the order in which they are reported, before anything was found.
std::vector<HypothesisResult> all_hypotheses(const Claim& claim, Verdict verdict) {
  std::vector<HypothesisResult> all;
  const auto add = [&](Origin origin, const std::vector<Hypothesis>& list) {
    for (const Hypothesis& hypothesis : list) {
      all.push_back({hypothesis, origin});
      if (hypothesis.by_the_mutant) all.back().hypothesis.checks = claim.mutant.checks;
    }
  };
  add(Origin::stated, claim.hypotheses);
  add(Origin::implicit, claim.implicit);
  add(Origin::condition, claim.conditions);
  const bool has_condition = verdict == Verdict::holds_under_condition && !claim.condition.empty();
  if (claim.conditions.empty() && has_condition) {
    const char* why = "Without it the statement is the printed one.";
    add(Origin::condition, {needed(claim.condition, why, {})});
  }
  add(Origin::correction, claim.correction_hypotheses);
  return all;
}

/// Those that hold while one is dropped: the statement's, or the correction's.
std::vector<Hypothesis> others(const std::vector<HypothesisResult>& all,
                               const HypothesisResult& dropped) {
  std::vector<Hypothesis> kept;
  for (const HypothesisResult& one : all) {
    const bool same = (one.origin == Origin::correction) == (dropped.origin == Origin::correction);
    if (&one != &dropped && same) kept.push_back(one.hypothesis);
  }
  return kept;
}

}  // namespace

Verdict verdict_of(const Claim& claim, const std::vector<Check>& checks) {
  if (checks.empty()) {
    return claim.proof.derived == Verdict::not_mathematical ? Verdict::not_mathematical
                                                            : Verdict::undecided;
  }
  const std::vector<Check> statement = of_role(checks, Role::statement);
  if (refuting(statement)) {
    const std::vector<Check> condition = of_role(checks, Role::condition);
    return !claim.condition.empty() && established(condition) ? Verdict::holds_under_condition
                                                              : Verdict::refuted;
  }
  if (!established(statement)) return Verdict::undecided;
  return lacks_a_hypothesis(claim) ? Verdict::holds_under_condition : Verdict::holds;
}

std::string condition_of(const Claim& claim, Verdict verdict) {
  if (verdict != Verdict::holds_under_condition) return "";
  std::string condition = claim.condition;
  for (const Hypothesis& one : claim.implicit) {
    if (one.need == Need::needed) condition += (condition.empty() ? "" : " ") + one.text;
  }
  return condition;
}

std::vector<HypothesisResult> drop_each(const Claim& claim, const std::vector<Check>& checks) {
  const Verdict verdict = verdict_of(claim, checks);
  const std::vector<Check> supporting = support(verdict, checks);
  std::vector<HypothesisResult> results = all_hypotheses(claim, verdict);
  for (HypothesisResult& result : results) {
    const Hypothesis& hypothesis = result.hypothesis;
    if (!hypothesis.checks.empty()) {
      result.checks = hypothesis.checks();
    } else if (hypothesis.need == Need::needed) {
      // What drops a condition is the statement as printed, where it fails.
      result.checks = of_role(checks, Role::statement);
      std::erase_if(result.checks,
                    [](const Check& check) { return check.outcome != Outcome::refuted; });
    }
    result.without = verdict_without(hypothesis, supporting, result.checks);
    const bool of_true_statement = verdict == Verdict::holds ||
                                   verdict == Verdict::holds_under_condition ||
                                   result.origin == Origin::correction;
    // What a refuted statement assumes need not be examined; what a true one assumes must be.
    if (of_true_statement || hypothesis.need != Need::unexamined) {
      result.problem = problem_of(hypothesis, result.checks, others(results, result));
    }
    if (of_true_statement && hypothesis.need == Need::needed && result.problem.empty()) {
      result.problem = outside(supporting, hypothesis);
    }
  }
  return results;
}

}  // namespace plumbline::proofs_checks
