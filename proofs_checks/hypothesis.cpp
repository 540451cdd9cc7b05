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

bool violates(const Sample& sample, const Hypothesis& hypothesis) {
  return std::any_of(hypothesis.domains.begin(), hypothesis.domains.end(),
                     [&](const Domain& domain) {
                       const Quantity* quantity = sample.find(domain.quantity);
                       return quantity && domain.excludes(*quantity);
                     });
}

/// A domain says nothing of a sample that lacks its quantity.
bool satisfies(const Sample& sample, const Hypothesis& hypothesis) {
  return std::all_of(hypothesis.domains.begin(), hypothesis.domains.end(),
                     [&](const Domain& domain) {
                       const Quantity* quantity = sample.find(domain.quantity);
                       return !quantity || domain.contains(*quantity);
                     });
}

std::string problem_at(const Sample& sample, const Hypothesis& hypothesis,
                       const std::vector<Hypothesis>& others) {
  if (!hypothesis.domains.empty() && !violates(sample, hypothesis)) {
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

Range above(double x) { return {.lower = x, .open = true}; }
Range at_least(double x) { return {.lower = x}; }
Range below(double x) { return {.upper = x, .open = true}; }
Range at_most(double x) { return {.upper = x}; }
Range exactly(double x) { return {.lower = x, .upper = x}; }

bool Domain::contains(const Quantity& quantity) const {
  for (std::size_t k = 0; k < quantity.lower.size(); ++k) {
    if (below_range(quantity.lower[k], range) || above_range(quantity.upper[k], range)) {
      return false;
    }
  }
  return true;
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
    const std::vector<Sample> samples =
        needed ? std::vector<Sample>{check.counterexample->sample} : check.inputs;
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

std::string_view name(Need need) {
  switch (need) {
    case Need::unexamined:
      return "unexamined";
    case Need::needed:
      return "needed";
    case Need::not_needed:
      return "not_needed";
    case Need::definition:
      return "definition";
  }
  return "";
}

std::string_view name(Origin origin) {
  switch (origin) {
    case Origin::stated:
      return "stated";
    case Origin::implicit:
      return "implicit";
    case Origin::condition:
      return "condition";
    case Origin::correction:
      return "correction";
  }
  return "";
}

}  // namespace plumbline::proofs_checks
