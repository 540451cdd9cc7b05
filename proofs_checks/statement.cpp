// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/statement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace plumbline::proofs_checks {

template class Inputs<reference::RunningError>;
template class Inputs<CoarseInterval>;
template class Inputs<reference::Interval>;

std::string to_string(const Sample& sample) {
  std::string text;
  for (Quantity quantity : sample.quantities) {
    // + 0.0 turns a negative zero, which the bounds of -2 F at F = 0 are, into 0.
    for (double& x : quantity.lower) x += 0.0;
    for (double& x : quantity.upper) x += 0.0;
    if (!text.empty()) text += ", ";
    if (quantity.lower != quantity.upper) {
      text += fmt::format("{} in [{:.17g}, {:.17g}]", quantity.name, quantity.lower.front(),
                          quantity.upper.front());
      if (quantity.lower.size() > 1) text += fmt::format("^{}", quantity.lower.size());
    } else if (quantity.lower.size() == 1) {
      text += fmt::format("{} = {:.17g}", quantity.name, quantity.lower.front());
    } else if (quantity.lower.size() > 8 &&
               std::adjacent_find(quantity.lower.begin(), quantity.lower.end(),
                                  std::not_equal_to<>()) == quantity.lower.end()) {
      text += fmt::format("{} = {} times {:.17g}", quantity.name, quantity.lower.size(),
                          quantity.lower.front());
    } else {
      text += fmt::format("{} = ({:.17g})", quantity.name, fmt::join(quantity.lower, ", "));
    }
  }
  return text;
}

std::string to_string(const Enclosure& r) {
  // + 0.0 turns the negative zero of an outward rounding into 0.
  return fmt::format("[{:.17g}, {:.17g}]", r.lower + 0.0, r.upper + 0.0);
}

std::string to_string(Relation relation) {
  switch (relation) {
    case Relation::equals_zero:
      return "= 0";
    case Relation::at_least_zero:
      return ">= 0";
    case Relation::above_zero:
      return "> 0";
  }
  return "";
}

bool excludes(const Enclosure& r, Relation relation) {
  switch (relation) {
    case Relation::equals_zero:
      return r.lower > 0 || r.upper < 0;
    case Relation::at_least_zero:
      return r.upper < 0;
    case Relation::above_zero:
      return r.upper <= 0;
  }
  return false;
}

bool supports(const Enclosure& r, Relation relation, double resolution) {
  switch (relation) {
    case Relation::equals_zero:
      return r.lower <= 0 && r.upper >= 0 && r.width <= resolution;
    case Relation::at_least_zero:
      return r.lower >= 0 || (r.upper >= 0 && r.width <= resolution);
    case Relation::above_zero:
      return r.lower > 0;
  }
  return false;
}

namespace {

/// "the residual", "the residual at i = 2, j = 0", "residual 3 of 4".
std::string residual_name(const std::vector<EnclosedResidual>& residuals, std::size_t k) {
  if (residuals[k].place) return "the residual at " + *residuals[k].place;
  if (residuals.size() == 1) return "the residual";
  return "residual " + std::to_string(k + 1) + " of " + std::to_string(residuals.size());
}

Check begun(Role role, const std::string& what, const StatementReading& statement) {
  Check check;
  check.role = role;
  check.what = what;
  check.reading = statement.name;
  check.rigorous = statement.rigorous;
  check.bound = statement.resolution;
  return check;
}

Check examine_one(Role role, const std::string& what, const StatementReading& statement,
                  const std::vector<Sample>& samples) {
  Check check = begun(role, what, statement);
  bool all_supported = true;
  for (const Sample& sample : samples) {
    const auto residuals = statement.residuals(sample);
    if (residuals.empty()) continue;  // nothing is said here, so nothing is counted
    ++check.samples;
    check.inputs.push_back(sample);
    for (std::size_t k = 0; k < residuals.size(); ++k) {
      const Enclosure& r = residuals[k].enclosure;
      if (!(r.width <= check.worst)) check.worst = r.width;
      if (excludes(r, statement.relation) && !check.counterexample) {
        check.counterexample =
            Counterexample{sample, residual_name(residuals, k) + " lies in " + to_string(r) +
                                       "; the statement says " + to_string(statement.relation)};
      }
      all_supported = all_supported && supports(r, statement.relation, check.bound);
    }
  }
  if (check.counterexample) {
    check.outcome = Outcome::refuted;
  } else if (check.samples > 0 && all_supported) {
    check.outcome = Outcome::supported;
  }
  return check;
}

Check seek_one(Role role, const std::string& what, const StatementReading& statement,
               const std::vector<Sample>& boxes) {
  Check check = begun(role, what, statement);
  bool excluded_everywhere = true;
  std::string found;
  for (const Sample& box : boxes) {
    ++check.samples;
    check.inputs.push_back(box);
    bool excluded = false, witness = true;
    const auto residuals = statement.residuals(box);
    for (std::size_t k = 0; k < residuals.size(); ++k) {
      const Enclosure& r = residuals[k].enclosure;
      if (!(r.width <= check.worst)) check.worst = r.width;
      // Only a residual that is exactly 0 proves that something exists.
      witness = witness &&
                supports(r, Relation::equals_zero, statement.rigorous ? 0.0 : statement.resolution);
      if (excludes(r, Relation::equals_zero) && !excluded) {
        excluded = true;
        found += (found.empty() ? "" : "; ") + to_string(box) + ": " + residual_name(residuals, k) +
                 " lies in " + to_string(r);
      }
    }
    excluded_everywhere = excluded_everywhere && excluded;
    if (witness) check.outcome = Outcome::supported;
  }
  if (!boxes.empty() && excluded_everywhere) {
    check.outcome = Outcome::refuted;
    check.counterexample =
        Counterexample{boxes.front(), "on every one of the " + std::to_string(boxes.size()) +
                                          " boxes that cover the parameters: " + found};
  }
  return check;
}

}  // namespace

namespace detail {

std::vector<Check> examine(Role role, const std::string& what,
                           const std::vector<StatementReading>& readings,
                           const std::vector<Sample>& samples) {
  std::vector<Check> checks;
  for (const auto& reading : readings) checks.push_back(examine_one(role, what, reading, samples));
  return checks;
}

std::vector<Check> seek(Role role, const std::string& what,
                        const std::vector<StatementReading>& readings,
                        const std::vector<Sample>& boxes) {
  std::vector<Check> checks;
  for (const auto& reading : readings) checks.push_back(seek_one(role, what, reading, boxes));
  return checks;
}

}  // namespace detail

}  // namespace plumbline::proofs_checks
