// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/claim.hpp"

#include <algorithm>
#include <iterator>
#include <set>

namespace plumbline::proofs_checks {

Sample& Sample::with(std::string name, std::vector<double> values) {
  quantities.push_back({std::move(name), values, values});
  return *this;
}

Sample& Sample::within(std::string name, double lower, double upper) {
  return within(std::move(name), lower, upper, 1);
}

Sample& Sample::within(std::string name, double lower, double upper, std::size_t size) {
  quantities.push_back(
      {std::move(name), std::vector<double>(size, lower), std::vector<double>(size, upper)});
  return *this;
}

Sample& Sample::printed(std::string name, double value, double unit) {
  return within(std::move(name), value - unit / 2, value + unit / 2);
}

namespace {

std::vector<Check> of_role(const std::vector<Check>& checks, Role role) {
  std::vector<Check> chosen;
  std::copy_if(checks.begin(), checks.end(), std::back_inserter(chosen),
               [role](const Check& check) { return check.role == role; });
  return chosen;
}

/// Every check supported on at least one sample, in a plain reading and in two rigorous ones.
bool established(const std::vector<Check>& checks) {
  std::set<std::string> plain, rigorous;
  for (const Check& check : checks) {
    if (check.samples == 0 || check.outcome != Outcome::supported) return false;
    (check.rigorous ? rigorous : plain).insert(check.reading);
  }
  return !plain.empty() && rigorous.size() >= 2;
}

bool rigorously_refuted(const std::vector<Check>& checks) {
  return std::any_of(checks.begin(), checks.end(), [](const Check& check) {
    return check.rigorous && check.samples > 0 && check.outcome == Outcome::refuted &&
           check.counterexample;
  });
}

}  // namespace

Verdict verdict_of(const Claim& claim, const std::vector<Check>& checks) {
  if (checks.empty()) {
    return claim.derived == Verdict::not_mathematical ? Verdict::not_mathematical
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

std::vector<Check> together(std::vector<std::vector<Check>> groups) {
  std::vector<Check> all;
  for (std::vector<Check>& group : groups) {
    std::move(group.begin(), group.end(), std::back_inserter(all));
  }
  return all;
}

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds:
      return "holds";
    case Verdict::holds_under_condition:
      return "holds_under_condition";
    case Verdict::refuted:
      return "refuted";
    case Verdict::undecided:
      return "undecided";
    case Verdict::not_mathematical:
      return "not_mathematical";
  }
  return "";
}

std::string_view name(Role role) {
  switch (role) {
    case Role::statement:
      return "statement";
    case Role::condition:
      return "condition";
    case Role::correction:
      return "correction";
  }
  return "";
}

std::string_view name(Outcome outcome) {
  switch (outcome) {
    case Outcome::supported:
      return "supported";
    case Outcome::refuted:
      return "refuted";
    case Outcome::undecided:
      return "undecided";
  }
  return "";
}

}  // namespace plumbline::proofs_checks
