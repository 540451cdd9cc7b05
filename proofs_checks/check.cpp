// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
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

Quantity within(std::string name, double lower, double upper, std::size_t size) {
  return {std::move(name), std::vector<double>(size, lower), std::vector<double>(size, upper)};
}

Quantity printed(std::string name, double value, double unit) {
  return within(std::move(name), value - unit / 2, value + unit / 2);
}

Sample& Sample::with(Quantity quantity) {
  quantities.push_back(std::move(quantity));
  return *this;
}

const Quantity* Sample::find(std::string_view name) const {
  const auto found = std::find_if(quantities.begin(), quantities.end(),
                                  [&](const Quantity& quantity) { return quantity.name == name; });
  return found == quantities.end() ? nullptr : &*found;
}

std::string to_string(const Quantity& quantity) {
  std::vector<double> lower = quantity.lower;
  for (double& x : lower) x += 0.0;  // turns a negative zero, as -2 F at F = 0, into 0
  const bool all_equal =
      std::adjacent_find(lower.begin(), lower.end(), std::not_equal_to<>()) == lower.end();
  if (quantity.lower != quantity.upper) {
    return fmt::format("[{:.17g}, {:.17g}]{}", lower.front(), quantity.upper.front() + 0.0,
                       lower.size() == 1 ? "" : fmt::format("^{}", lower.size()));
  }
  if (lower.size() == 1) return fmt::format("{:.17g}", lower.front());
  if (lower.size() > 8 && all_equal)
    return fmt::format("{} times {:.17g}", lower.size(), lower.front());
  return fmt::format("({:.17g})", fmt::join(lower, ", "));
}

std::string to_string(const Sample& sample) {
  std::string text;
  for (const Quantity& quantity : sample.quantities) {
    text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", quantity.name,
                        quantity.lower == quantity.upper ? "=" : "in", to_string(quantity));
  }
  return text;
}

Checks::Checks(std::initializer_list<Checks> parts) {
  for (const Checks& part : parts) {
    parts_.insert(parts_.end(), part.parts_.begin(), part.parts_.end());
  }
}

std::vector<Check> Checks::operator()() const {
  std::vector<Check> checks;
  for (const auto& part : parts_) {
    std::vector<Check> more = part();
    std::move(more.begin(), more.end(), std::back_inserter(checks));
  }
  return checks;
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
  std::vector<Check> chosen = checks;
  std::erase_if(chosen, [role](const Check& check) { return check.role != role; });
  return chosen;
}

const Check* refuting(const std::vector<Check>& checks, std::optional<Role> role) {
  const auto found = std::find_if(checks.begin(), checks.end(), [&](const Check& check) {
    return role.value_or(check.role) == check.role && check.rigorous && check.samples > 0 &&
           check.outcome == Outcome::refuted && check.counterexample;
  });
  return found == checks.end() ? nullptr : &*found;
}

// In the order of the enumerations.
std::string_view name(Verdict verdict) {
  constexpr std::string_view names[] = {"holds", "holds_under_condition", "refuted", "undecided",
                                        "not_mathematical"};
  return names[static_cast<int>(verdict)];
}

std::string_view name(Role role) {
  constexpr std::string_view names[] = {"statement", "condition", "correction"};
  return names[static_cast<int>(role)];
}

std::string_view name(Outcome outcome) {
  constexpr std::string_view names[] = {"supported", "refuted", "undecided"};
  return names[static_cast<int>(outcome)];
}

}  // namespace plumbline::proofs_checks
