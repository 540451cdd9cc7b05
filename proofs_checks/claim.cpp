// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/claim.hpp"

#include <algorithm>
#include <iterator>

namespace plumbline::proofs_checks {
namespace {

bool rigorously_refuted(const std::vector<Check>& checks) {
  return std::any_of(checks.begin(), checks.end(), [](const Check& check) {
    return check.rigorous && check.samples > 0 && check.outcome == Outcome::refuted &&
           check.counterexample;
  });
}

/// What the verdict rests on.
std::vector<Check> support(Verdict verdict, const std::vector<Check>& checks) {
  switch (verdict) {
    case Verdict::holds:
      return of_role(checks, Role::statement);
    case Verdict::holds_under_condition:
      return of_role(checks, Role::condition);
    default:
      return of_role(checks, Role::correction);
  }
}

/// The statement as printed, where it fails: what drops a condition.
std::vector<Check> refutations(const std::vector<Check>& checks) {
  std::vector<Check> found = of_role(checks, Role::statement);
  std::erase_if(found, [](const Check& check) { return check.outcome != Outcome::refuted; });
  return found;
}

Verdict verdict_without(const Hypothesis& hypothesis, std::vector<Check> support,
                        const std::vector<Check>& evidence) {
  if (hypothesis.need == Need::unexamined) return Verdict::undecided;
  if (hypothesis.need == Need::definition) return Verdict::not_mathematical;
  support.insert(support.end(), evidence.begin(), evidence.end());
  for (Check& check : support) check.role = Role::statement;
  return verdict_of(Claim{}, support);
}

struct Made {
  Origin origin;
  Hypothesis hypothesis;
};

std::vector<Made> all_hypotheses(const Claim& claim, Verdict verdict) {
  std::vector<Made> all;
  const auto add = [&](Origin origin, const std::vector<Hypothesis>& list) {
    for (Hypothesis hypothesis : list) {
      if (hypothesis.by_the_mutant) hypothesis.checks = claim.mutant.checks;
      all.push_back({origin, std::move(hypothesis)});
    }
  };
  add(Origin::stated, claim.hypotheses);
  add(Origin::implicit, claim.implicit);
  add(Origin::condition, claim.conditions);
  if (claim.conditions.empty() && verdict == Verdict::holds_under_condition) {
    all.push_back({Origin::condition,
                   needed(claim.condition, "Without it the statement is the printed one.", {})});
  }
  add(Origin::correction, claim.correction_hypotheses);
  return all;
}

/// Those that hold while one is dropped: the statement's, or the correction's.
std::vector<Hypothesis> others(const std::vector<Made>& all, std::size_t dropped) {
  const auto of_correction = [&](std::size_t k) { return all[k].origin == Origin::correction; };
  std::vector<Hypothesis> kept;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (k != dropped && of_correction(k) == of_correction(dropped)) {
      kept.push_back(all[k].hypothesis);
    }
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
  if (rigorously_refuted(statement)) {
    const std::vector<Check> condition = of_role(checks, Role::condition);
    return !claim.condition.empty() && established(condition) ? Verdict::holds_under_condition
                                                              : Verdict::refuted;
  }
  return established(statement) ? Verdict::holds : Verdict::undecided;
}

std::vector<HypothesisResult> drop_each(const Claim& claim, const std::vector<Check>& checks) {
  const Verdict verdict = verdict_of(claim, checks);
  const std::vector<Check> supporting = support(verdict, checks);
  const std::vector<Made> all = all_hypotheses(claim, verdict);
  std::vector<HypothesisResult> results;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const auto& [origin, hypothesis] = all[k];
    HypothesisResult result{hypothesis, origin, {}, Verdict::undecided, ""};
    if (!hypothesis.checks.empty()) {
      result.checks = hypothesis.checks();
    } else if (hypothesis.need == Need::needed) {
      result.checks = refutations(checks);
    }
    result.without = verdict_without(hypothesis, supporting, result.checks);
    const bool of_true_statement = verdict == Verdict::holds ||
                                   verdict == Verdict::holds_under_condition ||
                                   origin == Origin::correction;
    // What a refuted statement assumes need not be examined; what a true one assumes must be.
    if (of_true_statement || hypothesis.need != Need::unexamined) {
      result.problem = problem_of(hypothesis, result.checks, others(all, k));
    }
    if (of_true_statement && hypothesis.need == Need::needed && result.problem.empty()) {
      result.problem = outside(supporting, hypothesis);
    }
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace plumbline::proofs_checks
