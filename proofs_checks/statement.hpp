// SPDX-License-Identifier: Apache-2.0
// A statement is a residual and what the statement says of its sign. This file examines it under
// every reading: double with its rounding error, and intervals at two precisions.
//
// A statement is a struct with
//   static constexpr Relation relation;
//   template <class R> std::vector<R> operator()(const Inputs<R>&) const;   // the residuals
// or, where a sample has more than one residual and a reader must know which, of Placed<R>.
#pragma once

#include <functional>
#include <map>
#include <optional>
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
extern template class Inputs<reference::RunningError>;
extern template class Inputs<CoarseInterval>;
extern template class Inputs<reference::Interval>;

/// "[lower, upper]" with all digits.
std::string to_string(const Enclosure&);
/// "= 0", ">= 0", "> 0".
std::string to_string(Relation);

/// The enclosure proves that the relation does not hold.
bool excludes(const Enclosure&, Relation);
/// The enclosure proves the relation, or, where it may hold with equality, touches zero within
/// the resolution. A NaN proves nothing.
bool supports(const Enclosure&, Relation, double resolution);

/// A residual as a reading encloses it, and its place where it has one.
struct EnclosedResidual {
  Enclosure enclosure;
  std::optional<std::string> place;
};

/// A statement under one reading. What a check makes of it does not depend on the scalar, and is
/// compiled once, in statement.cpp: there is a statement or two in every claim.
struct StatementReading {
  Relation relation;
  std::string name;
  bool rigorous;
  double resolution;
  std::function<std::vector<EnclosedResidual>(const Sample&)> residuals;
};

namespace detail {

template <class R>
EnclosedResidual enclosed(const R& residual) {
  return {Reading<R>::enclosure(residual), std::nullopt};
}
template <class R>
EnclosedResidual enclosed(const Placed<R>& placed) {
  return {Reading<R>::enclosure(placed.residual), placed.place};
}

/// Refers to the statement.
template <class R, class Statement>
StatementReading read(const Statement& statement, Relation relation) {
  return {relation, Reading<R>::name(), Reading<R>::rigorous, Reading<R>::resolution(),
          [&statement](const Sample& sample) {
            std::vector<EnclosedResidual> residuals;
            for (const auto& residual : statement(Inputs<R>(sample)))
              residuals.push_back(enclosed(residual));
            return residuals;
          }};
}

/// The three readings.
template <class Statement>
std::vector<StatementReading> readings(const Statement& statement, Relation relation) {
  return {read<reference::RunningError>(statement, relation),
          read<CoarseInterval>(statement, relation),
          read<reference::Interval>(statement, relation)};
}

std::vector<Check> examine(Role, const std::string& what, const std::vector<StatementReading>&,
                           const std::vector<Sample>&);
std::vector<Check> seek(Role, const std::string& what, const std::vector<StatementReading>&,
                        const std::vector<Sample>& boxes);

}  // namespace detail

/// The statement at every sample: for all of them, each residual stands in the relation.
template <class Statement>
std::vector<Check> for_all(Role role, const std::string& what, const Statement& statement,
                           const std::vector<Sample>& samples) {
  return detail::examine(role, what, detail::readings(statement, Statement::relation), samples);
}

/// The statement that some parameters make all residuals zero, where `boxes` cover the parameters:
/// refuted when on every box some residual's enclosure excludes zero, supported by a point at which
/// all are zero. The double reading looks at the boxes' midpoints.
template <class Statement>
std::vector<Check> exists(Role role, const std::string& what, const Statement& statement,
                          const std::vector<Sample>& boxes) {
  return detail::seek(role, what, detail::readings(statement, Relation::equals_zero), boxes);
}

}  // namespace plumbline::proofs_checks
