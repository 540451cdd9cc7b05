// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/hypothesis.hpp"

#include <algorithm>

namespace plumbline::proofs_checks {
namespace {

bool below_range(double x, const Range& range) {
  return range.open ? x <= range.lower : x < range.lower;
}
bool above_range(double x, const Range& range) {
  return range.open ? x >= range.upper : x > range.upper;
}

/// A domain says nothing of a sample that lacks its quantity.
const Quantity* ruled(const Sample& sample, const Hypothesis& hypothesis) {
  return hypothesis.domain ? sample.find(hypothesis.domain->quantity) : nullptr;
}

bool satisfies(const Sample& sample, const Hypothesis& hypothesis) {
  const Quantity* quantity = ruled(sample, hypothesis);
  return !quantity || hypothesis.domain->contains(*quantity);
}

std::string problem_at(const Sample& sample, const Hypothesis& hypothesis,
                       const std::vector<Hypothesis>& others) {
  const Quantity* quantity = ruled(sample, hypothesis);
  if (hypothesis.domain && !(quantity && hypothesis.domain->excludes(*quantity))) {
    return "it does not fail at " + to_string(sample);
  }
  for (const Hypothesis& other : others) {
    if (!satisfies(sample, other)) {
      return "\"" + other.text + "\" fails as well at " + to_string(sample);
    }
  }
  return "";
}

Hypothesis examined(Hypothesis hypothesis, Need need, std::string why, Checks checks) {
  hypothesis.need = need;
  hypothesis.why = std::move(why);
  hypothesis.checks = std::move(checks);
  return hypothesis;
}

}  // namespace

bool Domain::contains(const Quantity& quantity) const {
  const auto inside = [&](double x) { return !below_range(x, range) && !above_range(x, range); };
  return std::ranges::all_of(quantity.lower, inside) && std::ranges::all_of(quantity.upper, inside);
}

bool Domain::excludes(const Quantity& quantity) const {
  for (std::size_t k = 0; k < quantity.lower.size(); ++k) {
    if (below_range(quantity.upper[k], range) || above_range(quantity.lower[k], range)) return true;
  }
  return false;
}

Hypothesis needed(Hypothesis hypothesis, std::string why, Checks checks) {
  return examined(std::move(hypothesis), Need::needed, std::move(why), std::move(checks));
}

Hypothesis needed_as_the_mutant_shows(Hypothesis hypothesis, std::string why) {
  hypothesis.by_the_mutant = true;
  return needed(std::move(hypothesis), std::move(why), {});
}

Hypothesis not_needed(Hypothesis hypothesis, std::string why, Checks checks) {
  return examined(std::move(hypothesis), Need::not_needed, std::move(why), std::move(checks));
}

Hypothesis definition(Hypothesis hypothesis, std::string why) {
  return examined(std::move(hypothesis), Need::definition, std::move(why), {});
}

std::string problem_of(const Hypothesis& hypothesis, const std::vector<Check>& evidence,
                       const std::vector<Hypothesis>& others) {
  if (hypothesis.need == Need::unexamined) return "it is not said what follows without it";
  if (hypothesis.why.empty()) return "no reason is given";
  if (hypothesis.need == Need::definition) {
    return evidence.empty() ? "" : "a statement without meaning was checked";
  }
  const bool needed = hypothesis.need == Need::needed;
  if (needed && !contradicted(evidence)) return "no witness at two precisions";
  if (!needed && !established(evidence)) return "no support in double and at two precisions";
  for (const Check& check : evidence) {
    // The witness is one point; support has to come from where the hypothesis fails, everywhere.
    if (needed && !check.counterexample) continue;
    const Samples samples = needed ? Samples{check.counterexample->sample} : check.inputs;
    for (const Sample& sample : samples) {
      std::string problem = problem_at(sample, hypothesis, others);
      if (!problem.empty()) return problem;
    }
  }
  return "";
}

std::string outside(const std::vector<Check>& checks, const Hypothesis& hypothesis) {
  for (const Check& check : checks) {
    for (const Sample& sample : check.inputs) {
      if (!satisfies(sample, hypothesis)) {
        return "\"" + check.what + "\" is examined outside it, at " + to_string(sample);
      }
    }
  }
  return "";
}

// In the order of the enumerations.
std::string_view name(Need need) {
  constexpr std::string_view names[] = {"unexamined", "needed", "not_needed", "definition"};
  return names[static_cast<int>(need)];
}

std::string_view name(Origin origin) {
  constexpr std::string_view names[] = {"stated", "implicit", "condition", "correction"};
  return names[static_cast<int>(origin)];
}

}  // namespace plumbline::proofs_checks
