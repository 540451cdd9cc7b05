// SPDX-License-Identifier: Apache-2.0
// What examining a statement at samples gives: outcomes under several readings.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
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

  /// A point: {"m", 0.5}, {"f", {1, 0}}.
  Quantity(std::string name, double value) : Quantity(std::move(name), std::vector{value}) {}
  Quantity(std::string name, std::vector<double> values)
      : name(std::move(name)), lower(values), upper(std::move(values)) {}
  Quantity(std::string name, std::vector<double> lower, std::vector<double> upper)
      : name(std::move(name)), lower(std::move(lower)), upper(std::move(upper)) {}
};
/// An interval; with a size a vector of so many numbers, each of which may lie anywhere in it.
Quantity within(std::string name, double lower, double upper, std::size_t size = 1);
/// A number as printed, whose last digit counts `unit`s: all that rounds to it, value +- unit/2.
Quantity printed(std::string name, double value, double unit = 1);

/// One point, or one box, at which a statement is examined: {{"m", 0.5}, within("d", 1, 2)}.
struct Sample {
  std::vector<Quantity> quantities;

  Sample() = default;
  Sample(std::initializer_list<Quantity> quantities) : quantities(quantities) {}
  Sample& with(Quantity);
  /// nullptr if there is none of this name.
  const Quantity* find(std::string_view name) const;
};
using Samples = std::vector<Sample>;
/// "0.5", "2^-100", "(1, 0)", "64 times -4", "[0, 4]", "[0, 4]^8"; of every number the fewest
/// digits that tell it from other doubles.
std::string to_string(const Quantity&);
/// "f = (1, 0), g = (2, 0)", "z in [0, 4]".
std::string to_string(const Sample&);

/// Where a check contradicts its statement: the numbers, and what was found there.
struct Counterexample {
  Sample sample;
  std::string found;  ///< the residual's enclosure, and the relation that it excludes
  std::string brief =
      {};  ///< the same for a reader, rounded: "p_pos - p_ij = -0.0718 at j = 0, not >= 0"
};
/// "At f = (1, 0), g = (2, 0): p_pos - p_ij = -0.07178 at j = 0, not >= 0 at every key". Of more
/// than nine quantities those that are named in it, and those of one letter.
std::string in_words(const Counterexample&);

/// One statement under one reading.
struct Check {
  Role role = Role::statement;
  std::string what;       ///< what is examined, in words
  std::string reading;    ///< "double" or "interval, P bits"
  bool rigorous = false;  ///< the reading encloses: what it refutes is false
  std::size_t samples = 0;
  Samples inputs;      ///< the samples at which something was said; `samples` of them
  double worst = 0.0;  ///< the widest enclosure of a residual (readings.hpp)
  double bound = 0.0;  ///< the widest that supports an equality: the reading's resolution
  Outcome outcome = Outcome::undecided;
  std::optional<Counterexample> counterexample;
};

/// Where checks come from, when they are asked for: one statement, or several together.
class Checks {
 public:
  Checks() = default;
  Checks(std::initializer_list<Checks> parts);
  template <std::invocable F>
  Checks(F examine) : parts_{std::move(examine)} {}  // NOLINT: what examines is where checks are

  std::vector<Check> operator()() const;
  bool empty() const { return parts_.empty(); }

 private:
  std::vector<std::function<std::vector<Check>()>> parts_;
};

/// Every check supported on at least one sample, in a plain reading and in two rigorous ones.
bool established(const std::vector<Check>&);

/// Every rigorous check refuted with a counterexample, in two rigorous readings at least, and no
/// other supported. (A residual that is exactly 0 where it should be above 0 has an error bound in
/// double, which cannot tell.)
bool contradicted(const std::vector<Check>&);

std::vector<Check> of_role(const std::vector<Check>&, Role);

/// The first rigorous check, of this role or of any, with a counterexample; nullptr without one.
const Check* refuting(const std::vector<Check>&, std::optional<Role> = {});

std::string_view name(Verdict);
std::string_view name(Role);
std::string_view name(Outcome);

}  // namespace plumbline::proofs_checks
