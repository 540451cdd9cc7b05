// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

namespace {

/// The fewest digits that tell the number from other doubles, and powers of two that would have
/// many as powers. No negative zero, as -2 F is at F = 0.
std::string digits(double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  if (std::abs(fraction) == 0.5 && std::abs(exponent) > 20 && std::isfinite(x)) {
    return fmt::format("{}2^{}", x < 0 ? "-" : "", exponent - 1);
  }
  return fmt::format("{}", x + 0.0);
}

}  // namespace

std::string to_string(const Quantity& quantity) {
  const std::vector<double>& lower = quantity.lower;
  if (lower != quantity.upper) {
    return fmt::format("[{}, {}]{}", digits(lower.front()), digits(quantity.upper.front()),
                       lower.size() == 1 ? "" : fmt::format("^{}", lower.size()));
  }
  if (lower.size() == 1) return digits(lower.front());
  const bool all_equal = std::ranges::adjacent_find(lower, std::not_equal_to<>()) == lower.end();
  if (lower.size() > 8 && all_equal) {
    return fmt::format("{} times {}", lower.size(), digits(lower.front()));
  }
  std::string all;
  for (double x : lower) all += (all.empty() ? "" : ", ") + digits(x);
  return "(" + all + ")";
}

std::string to_string(const Sample& sample) {
  std::string text;
  for (const Quantity& quantity : sample.quantities) {
    text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", quantity.name,
                        quantity.lower == quantity.upper ? "=" : "in", to_string(quantity));
  }
  return text;
}

std::string in_words(const Counterexample& counterexample) {
  // Of a long row of a table the entries that the statement names, and where it stands.
  constexpr std::size_t most_shown = 9;
  Sample shown = counterexample.sample;
  if (shown.quantities.size() > most_shown) {
    std::erase_if(shown.quantities, [&](const Quantity& quantity) {
      return quantity.name.size() > 1 &&
             counterexample.brief.find(quantity.name) == std::string::npos;
    });
  }
  if (shown.quantities.empty()) shown = counterexample.sample;
  const bool cut = shown.quantities.size() < counterexample.sample.quantities.size();
  return fmt::format("At {}{}: {}", to_string(shown), cut ? ", ..." : "", counterexample.brief);
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
