// SPDX-License-Identifier: Apache-2.0
// A statement is a residual and what the statement says of its sign. It is examined under every
// reading: double with its rounding error, and intervals at two precisions.
//
// A statement's formula is a lambda, generic over the scalar R, of quantities that the sample has
// by name; the type of each argument says how it reads its quantity:
//   above_zero<"y", "m", "d">([]<class R>(R y, R m, int d) { return y - m / R(d); })
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "proofs_checks/claim.hpp"
#include "proofs_checks/readings.hpp"
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

/// The numbers of a sample in one scalar. A name that the sample lacks throws std::out_of_range.
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
  const reference::Vector<R>& operator[](const std::string& name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) throw std::out_of_range("the sample has no quantity " + name);
    return found->second;
  }
  bool has(const std::string& name) const { return values_.count(name) > 0; }
  /// A quantity that is one number.
  const R& number(const std::string& name) const { return (*this)[name][0]; }

 private:
  std::map<std::string, reference::Vector<R>> values_;
};
extern template class Inputs<reference::RunningError>;
extern template class Inputs<ClaimInterval>;

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

/// What a formula gives: one residual, several, or several with their places.
template <class R>
struct Residuals {
  std::vector<EnclosedResidual> enclosed;

  Residuals(const R& residual);                        // NOLINT: a number is a residual
  Residuals(const std::vector<R>& residuals);          // NOLINT
  Residuals(const std::vector<Placed<R>>& residuals);  // NOLINT
};
extern template struct Residuals<reference::RunningError>;
extern template struct Residuals<ClaimInterval>;

/// A formula, and what the statement says of its residuals. What a check makes of it does not
/// depend on the scalar, and is compiled once, in statement.cpp.
struct Statement {
  template <class R>
  using Formula = std::function<Residuals<R>(const Inputs<R>&)>;
  Relation relation;
  Formula<reference::RunningError> in_double;
  Formula<ClaimInterval> in_intervals;
};

/// A name in a template's arguments.
template <std::size_t n>
struct Text {
  char text[n];
  consteval Text(const char (&literal)[n]) { std::copy_n(literal, n, text); }  // NOLINT
};

namespace detail {

/// A quantity, as the argument that stands for it wants it.
template <class R>
struct Argument {
  const reference::Vector<R>& values;
  operator const R&() const { return values[0]; }                           // NOLINT
  operator const reference::Vector<R>&() const { return values; }           // NOLINT
  operator int() const { return static_cast<int>(double{*this}); }          // NOLINT
  operator double() const { return reference::representative(values[0]); }  // NOLINT
};

template <class R, Text>
using ArgumentOf = Argument<R>;

template <class F, class R, class... Arguments>
concept takes = requires(const F& f, const Arguments&... arguments) {
  f.template operator()<R>(arguments...);
};

template <class R, Text... names, class F, class... More>
Statement::Formula<R> formula(const F& f, const More&... more) {
  return [=](const Inputs<R>& in) -> Residuals<R> {
    if constexpr (sizeof...(names) == 0) {
      return f.template operator()<R>(in, more...);
    } else {
      return f.template operator()<R>(Argument<R>{in[names.text]}..., more...);
    }
  };
}

template <Text... names, class F, class... More>
auto statement(Relation relation, const F& f, const More&... more) {
  using R = reference::RunningError;
  if constexpr (takes<F, R, ArgumentOf<R, names>..., More...> || takes<F, R, Inputs<R>, More...>) {
    return Statement{relation, formula<R, names...>(f, more...),
                     formula<ClaimInterval, names...>(f, more...)};
  } else {
    return [=](const auto&... others) { return statement<names...>(relation, f, others...); };
  }
}

}  // namespace detail

/// Every residual of the formula is 0. The formula takes the quantities of these names, each as an
/// R (one number), a Vector<R>, an int or a double (the number itself, to count or to decide with),
/// or, without names, the sample as an Inputs<R>; it returns an R, a std::vector<R> or a
/// std::vector<Placed<R>>. @throws std::out_of_range, when examined, if the sample lacks a name.
///
/// Of a formula with more arguments it is a function, which takes them and gives the statement:
///   const auto below = above_zero<"y">([]<class R>(R y, double bound) { return R(bound) - y; });
///   check("y < 2", below(2), samples)
template <Text... names, class F>
auto equals_zero(const F& formula) {
  return detail::statement<names...>(Relation::equals_zero, formula);
}
/// Every residual is 0 or more.
template <Text... names, class F>
auto at_least_zero(const F& formula) {
  return detail::statement<names...>(Relation::at_least_zero, formula);
}
/// Every residual is above 0.
template <Text... names, class F>
auto above_zero(const F& formula) {
  return detail::statement<names...>(Relation::above_zero, formula);
}

/// The residuals f(k), first <= k < last, each at the place "name = k".
template <class F>
auto at_each(const std::string& name, int first, int last, const F& f) {
  std::vector<Placed<decltype(f(first))>> residuals;
  for (int k = first; k < last; ++k) residuals.push_back({f(k), name + " = " + std::to_string(k)});
  return residuals;
}
/// The residuals f(k) at each k of a list.
template <class F>
auto at_each(const std::string& name, std::initializer_list<int> ks, const F& f) {
  std::vector<Placed<decltype(f(0))>> residuals;
  for (int k : ks) residuals.push_back({f(k), name + " = " + std::to_string(k)});
  return residuals;
}

/// The statement, as the paper prints it, at every sample: `what` is what is examined, in words.
Checks check(const std::string& what, const Statement&, const Samples&);
/// The statement under the claim's condition.
Checks condition(const std::string& what, const Statement&, const Samples&);
/// The corrected statement.
Checks correction(const std::string& what, const Statement&, const Samples&);

/// The statement that some parameters put all residuals in the relation, where `boxes` cover the
/// parameters: refuted when on every box some residual's enclosure excludes it, supported by a
/// point at which all are in it. The double reading looks at the boxes' midpoints.
Checks exists(const std::string& what, const Statement&, const Samples& boxes);

}  // namespace plumbline::proofs_checks
