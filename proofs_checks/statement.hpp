// SPDX-License-Identifier: Apache-2.0
// A statement is a residual and what the statement says of its sign. This file examines it under
// every reading: double with its rounding error, and intervals at two precisions.
//
// A statement is a struct with
//   static constexpr Relation relation;
//   template <class R> std::vector<R> operator()(const Inputs<R>&) const;   // the residuals
// or, where a sample has more than one residual and a reader must know which, of Placed<R>.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "proofs_checks/claim.hpp"
#include "proofs_checks/readings.hpp"
#include "proofs_checks/sample_text.hpp"
#include "reference/core/linear_algebra.hpp"

namespace plumbline::proofs_checks {

/// What a statement says of every residual.
enum class Relation { equals_zero, at_least_zero, above_zero };

/// A residual and where it was found: "i = 2, j = 0".
template <class R>
struct Placed {
  R residual;
  std::string place;
};

/// The numbers of a sample in one scalar. A wrong name throws std::out_of_range.
template <class R>
class Inputs {
 public:
  explicit Inputs(const Sample& sample) {
    for (const Quantity& quantity : sample.quantities) {
      const int size = static_cast<int>(quantity.lower.size());
      reference::Vector<R> values(size);
      for (int k = 0; k < size; ++k) {
        values[k] = Reading<R>::from(quantity.lower[k], quantity.upper[k]);
      }
      values_[quantity.name] = values;
    }
  }
  const reference::Vector<R>& operator[](const std::string& name) const { return values_.at(name); }
  bool has(const std::string& name) const { return values_.count(name) > 0; }
  /// A quantity that is one number.
  const R& number(const std::string& name) const { return values_.at(name)[0]; }

 private:
  std::map<std::string, reference::Vector<R>> values_;
};

/// "[lower, upper]" with all digits.
std::string to_string(const Enclosure&);
/// "= 0", ">= 0", "> 0".
std::string to_string(Relation);

inline bool excludes(const Enclosure& r, Relation relation) {
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

/// The enclosure proves the relation, or, where it may hold with equality, touches zero within
/// the resolution. A NaN proves nothing.
inline bool supports(const Enclosure& r, Relation relation, double resolution) {
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

namespace detail {

template <class R>
const R& residual_of(const R& residual) {
  return residual;
}
template <class R>
const R& residual_of(const Placed<R>& placed) {
  return placed.residual;
}

/// "the residual", "the residual at i = 2, j = 0", "residual 3 of 4".
template <class R>
std::string residual_name(const std::vector<R>& residuals, std::size_t k) {
  if (residuals.size() == 1) return "the residual";
  return "residual " + std::to_string(k + 1) + " of " + std::to_string(residuals.size());
}
template <class R>
std::string residual_name(const std::vector<Placed<R>>& residuals, std::size_t k) {
  return "the residual at " + residuals[k].place;
}

template <class R, class Statement>
Check examine(Role role, const std::string& what, const Statement& statement,
              const std::vector<Sample>& samples) {
  Check check;
  check.role = role;
  check.what = what;
  check.reading = Reading<R>::name();
  check.rigorous = Reading<R>::rigorous;
  check.bound = Reading<R>::resolution();
  bool all_supported = true;
  for (const Sample& sample : samples) {
    const auto residuals = statement(Inputs<R>(sample));
    if (residuals.empty()) continue;  // nothing is said here, so nothing is counted
    ++check.samples;
    check.inputs.push_back(sample);
    for (std::size_t k = 0; k < residuals.size(); ++k) {
      const Enclosure r = Reading<R>::enclosure(residual_of(residuals[k]));
      if (!(r.width <= check.worst)) check.worst = r.width;
      if (excludes(r, Statement::relation) && !check.counterexample) {
        check.counterexample =
            Counterexample{sample, residual_name(residuals, k) + " lies in " + to_string(r) +
                                       "; the statement says " + to_string(Statement::relation)};
      }
      all_supported = all_supported && supports(r, Statement::relation, check.bound);
    }
  }
  if (check.counterexample) {
    check.outcome = Outcome::refuted;
  } else if (check.samples > 0 && all_supported) {
    check.outcome = Outcome::supported;
  }
  return check;
}

template <class R, class Statement>
Check seek(Role role, const std::string& what, const Statement& statement,
           const std::vector<Sample>& boxes) {
  Check check;
  check.role = role;
  check.what = what;
  check.reading = Reading<R>::name();
  check.rigorous = Reading<R>::rigorous;
  check.bound = Reading<R>::resolution();
  bool excluded_everywhere = true;
  std::string found;
  for (const Sample& box : boxes) {
    ++check.samples;
    check.inputs.push_back(box);
    bool excluded = false, witness = true;
    const auto residuals = statement(Inputs<R>(box));
    for (std::size_t k = 0; k < residuals.size(); ++k) {
      const Enclosure r = Reading<R>::enclosure(residual_of(residuals[k]));
      if (!(r.width <= check.worst)) check.worst = r.width;
      // Only a residual that is exactly 0 proves that something exists.
      witness = witness && supports(r, Relation::equals_zero,
                                    Reading<R>::rigorous ? 0.0 : Reading<R>::resolution());
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

}  // namespace detail

/// The statement at every sample: for all of them, each residual stands in the relation.
template <class Statement>
std::vector<Check> for_all(Role role, const std::string& what, const Statement& statement,
                           const std::vector<Sample>& samples) {
  return {detail::examine<reference::RunningError>(role, what, statement, samples),
          detail::examine<CoarseInterval>(role, what, statement, samples),
          detail::examine<reference::Interval>(role, what, statement, samples)};
}

/// The statement that some parameters make all residuals zero, where `boxes` cover the parameters:
/// refuted when on every box some residual's enclosure excludes zero, supported by a point at which
/// all are zero. The double reading looks at the boxes' midpoints.
template <class Statement>
std::vector<Check> exists(Role role, const std::string& what, const Statement& statement,
                          const std::vector<Sample>& boxes) {
  return {detail::seek<reference::RunningError>(role, what, statement, boxes),
          detail::seek<CoarseInterval>(role, what, statement, boxes),
          detail::seek<reference::Interval>(role, what, statement, boxes)};
}

}  // namespace plumbline::proofs_checks
