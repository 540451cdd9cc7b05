// SPDX-License-Identifier: Apache-2.0
// A claim of a paper: what it says, under which hypotheses, how it is checked, and what follows.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline::proofs_checks {

enum class Verdict { holds, holds_under_condition, refuted, undecided, not_mathematical };

/// What a check examines: the statement as printed, the statement under the claim's condition, or
/// the corrected statement. The first two decide the verdict; a correction stands beside it.
enum class Role { statement, condition, correction };

/// supported: nothing contradicts, at the required resolution. refuted: something does.
enum class Outcome { supported, refuted, undecided };

/// Numbers by name; lower[k] == upper[k] for a point, an interval otherwise. All exact doubles.
struct Quantity {
  std::string name;
  std::vector<double> lower, upper;
};

/// One point, or one box, at which a statement is examined.
struct Sample {
  std::vector<Quantity> quantities;
  /// A quantity that is a point.
  Sample& with(std::string name, std::vector<double> values);
  /// A quantity that is an interval.
  Sample& within(std::string name, double lower, double upper);
  /// A number as printed, whose last digit counts `unit`s: all that rounds to it, value +- unit/2.
  Sample& printed(std::string name, double value, double unit);
  /// A vector of `size` numbers, each of which may lie anywhere in the interval.
  Sample& within(std::string name, double lower, double upper, std::size_t size);
};

/// Where a check contradicts its statement: the numbers, and what was found there.
struct Counterexample {
  Sample sample;
  std::string found;  ///< the residual's enclosure, and the relation that it excludes
};

/// One statement under one reading.
struct Check {
  Role role = Role::statement;
  std::string what;       ///< what is examined, in words
  std::string reading;    ///< "double" or "interval, P bits"
  bool rigorous = false;  ///< the reading encloses: what it refutes is false
  std::size_t samples = 0;
  double worst = 0.0;  ///< the widest enclosure of a residual (readings.hpp)
  double bound = 0.0;  ///< the widest that supports an equality: the reading's resolution
  Outcome outcome = Outcome::undecided;
  std::optional<Counterexample> counterexample;
};

struct Picture;

/// Where the claim stands.
struct Source {
  std::string paper, version, place;
};

struct Claim {
  std::string id;  ///< paper/name, e.g. "bam/theorem_1"
  std::string title;
  Source source;
  std::string statement;                ///< own wording plus the formula as printed
  std::vector<std::string> hypotheses;  ///< what the paper states
  std::vector<std::string> implicit;    ///< what it needs and does not state
  std::string condition;                ///< under which the statement holds; may be empty
  std::string correction;               ///< a true statement close to the refuted one; may be empty
  std::string derivation;               ///< the proof of the verdict, on paper
  Verdict derived = Verdict::undecided;  ///< what the derivation proves; the checks must agree
  std::function<std::vector<Check>()> checks;
  std::string mutant;  ///< a deliberately false neighbour, which the same checks must refute
  std::function<std::vector<Check>()> mutant_checks;
  std::vector<Picture (*)()> pictures;  ///< what can be drawn of it: proofs_checks/pictures/
};

/// The verdict that the checks support, and nothing else:
///  - a claim without checks is not_mathematical if its derivation says so, otherwise undecided;
///  - a check on no samples decides nothing;
///  - only a rigorous check refutes; then the claim holds_under_condition if every condition check
///    is supported, in double and by intervals at two precisions, otherwise it is refuted;
///  - it holds if every statement check is supported, in double and by intervals at two precisions.
Verdict verdict_of(const Claim&, const std::vector<Check>&);

/// Several statements of one claim.
std::vector<Check> together(std::vector<std::vector<Check>> groups);

std::string_view name(Verdict);
std::string_view name(Role);
std::string_view name(Outcome);

}  // namespace plumbline::proofs_checks
