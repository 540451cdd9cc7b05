// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/check.hpp"

#include <algorithm>
#include <iterator>
#include <set>

namespace plumbline::proofs_checks {
namespace {

std::set<std::string> readings(const std::vector<Check>& checks, bool rigorous) {
  std::set<std::string> names;
  for (const Check& check : checks) {
    if (check.rigorous == rigorous) names.insert(check.reading);
  }
  return names;
}

}  // namespace

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

const Quantity* Sample::find(std::string_view name) const {
  const auto found = std::find_if(quantities.begin(), quantities.end(),
                                  [&](const Quantity& quantity) { return quantity.name == name; });
  return found == quantities.end() ? nullptr : &*found;
}

bool established(const std::vector<Check>& checks) {
  return !readings(checks, false).empty() && readings(checks, true).size() >= 2 &&
         std::all_of(checks.begin(), checks.end(), [](const Check& check) {
           return check.samples > 0 && check.outcome == Outcome::supported;
         });
}

bool contradicted(const std::vector<Check>& checks) {
  return readings(checks, true).size() >= 2 &&
         std::all_of(checks.begin(), checks.end(), [](const Check& check) {
           const bool refuted = check.outcome == Outcome::refuted && check.counterexample;
           return check.samples > 0 &&
                  (check.rigorous ? refuted : check.outcome != Outcome::supported);
         });
}

std::vector<Check> of_role(const std::vector<Check>& checks, Role role) {
  std::vector<Check> chosen;
  std::copy_if(checks.begin(), checks.end(), std::back_inserter(chosen),
               [role](const Check& check) { return check.role == role; });
  return chosen;
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
