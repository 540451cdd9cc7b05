// SPDX-License-Identifier: Apache-2.0
// A hypothesis of a claim, and what becomes of the claim without it.
//
// "beta > 0" in a theorem says two things: that the theorem holds where beta > 0, and that it need
// not where beta <= 0. The second is checked as the first is: by numbers at which this hypothesis
// fails and all others hold.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "proofs_checks/check.hpp"

namespace plumbline::proofs_checks {

enum class Need {
  unexamined,  ///< nothing is said; a claim that holds must have no such hypothesis
  needed,      ///< the statement is false at a witness, where this alone fails
  not_needed,  ///< the statement is true where this alone fails as well
  definition   ///< without it the statement means nothing
};

/// Who makes the hypothesis.
enum class Origin { stated, implicit, condition, correction };

/// Where the numbers of one quantity may lie.
struct Range {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  bool open = false;  ///< without its ends
};
inline Range above(double x) { return {.lower = x, .open = true}; }
inline Range at_least(double x) { return {.lower = x}; }
inline Range below(double x) { return {.upper = x, .open = true}; }
inline Range at_most(double x) { return {.upper = x}; }
inline Range exactly(double x) { return {.lower = x, .upper = x}; }

/// A part of a hypothesis that a program can read: every number of the quantity lies in the range.
struct Domain {
  std::string quantity;
  Range range;
  bool contains(const Quantity&) const;  ///< the whole of every interval lies in the range
  bool excludes(const Quantity&) const;  ///< the whole of some interval lies outside
};

struct Hypothesis {
  std::string text;
  Need need = Need::unexamined;
  std::string why;  ///< in words
  Checks checks;    ///< of the statement, at numbers where this alone fails
  std::optional<Domain> domain;
  bool by_the_mutant = false;  ///< its checks are those of the claim's mutant

  /// Unexamined.
  Hypothesis(std::string text) : text(std::move(text)) {}  // NOLINT: texts are hypotheses
  Hypothesis(const char* text) : text(text) {}             // NOLINT
  /// {"beta > 0.", "beta", above(0)}: the numbers of the quantity, in every sample that has them,
  /// lie in the range.
  Hypothesis(std::string text, std::string quantity, Range range)
      : text(std::move(text)), domain{{std::move(quantity), range}} {}
};

/// Its checks refute the statement, by intervals at two precisions. Without checks,
/// those that refute the statement as printed.
Hypothesis needed(Hypothesis, std::string why, Checks);

/// Its checks are those of the claim's mutant, which is what the claim says without it.
Hypothesis needed_as_the_mutant_shows(Hypothesis, std::string why);

/// Its checks support the statement, in double and by intervals at two precisions.
Hypothesis not_needed(Hypothesis, std::string why, Checks);

/// What the statement is about, or what a word in it means.
Hypothesis definition(Hypothesis, std::string why);

/// A hypothesis, dropped.
struct HypothesisResult {
  Hypothesis hypothesis;
  Origin origin = Origin::stated;
  std::vector<Check> checks = {};
  /// Of the claim without this hypothesis: refuted if it is needed, holds if it is not,
  /// not_mathematical if it is a definition, undecided if nothing is said.
  Verdict without = Verdict::undecided;
  std::string problem = {};  ///< what is wrong with the mark or its evidence; empty if nothing is

  bool as_marked() const { return problem.empty(); }
};

/// What is wrong with the evidence, given the hypotheses that must hold meanwhile; "" if nothing.
std::string problem_of(const Hypothesis&, const std::vector<Check>& evidence,
                       const std::vector<Hypothesis>& others);

/// Where these checks examine their statement outside the domain of the hypothesis; "" if nowhere.
std::string outside(const std::vector<Check>&, const Hypothesis&);

std::string_view name(Need);
std::string_view name(Origin);

}  // namespace plumbline::proofs_checks
