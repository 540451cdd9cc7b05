// SPDX-License-Identifier: Apache-2.0
// A hostile scalar: it has the operations that the concept Real promises, and no other.
#pragma once

#include <concepts>
#include <memory>

#include "reference/core/linear_algebra.hpp"
#include "reference/core/primitives.hpp"
#include "reference/scalars/double.hpp"

namespace plumbline::reference {

/// A double on the heap: a sanitizer sees a use before initialisation, a shallow copy, a leak. An
/// equation that compares it, converts it, prints it, mixes it with a number or relies on a second
/// spelling of an operation (*=, ++) does not compile.
class Archetype {
 public:
  Archetype() : Archetype(0.0) {}
  explicit Archetype(double value) : value_(std::make_unique<double>(value)) {}
  template <class Other>
  requires(!std::same_as<Other, int>) Archetype(Other)
  = delete;  // not float, bool, long double
  Archetype(const Archetype& other) : Archetype(other.hidden()) {}
  Archetype& operator=(const Archetype& other) {
    *value_ = other.hidden();
    return *this;
  }

  friend Archetype operator+(const Archetype& a, const Archetype& b) {
    return Archetype(a.hidden() + b.hidden());
  }
  friend Archetype operator-(const Archetype& a, const Archetype& b) {
    return Archetype(a.hidden() - b.hidden());
  }
  friend Archetype operator*(const Archetype& a, const Archetype& b) {
    return Archetype(a.hidden() * b.hidden());
  }
  friend Archetype operator/(const Archetype& a, const Archetype& b) {
    return Archetype(a.hidden() / b.hidden());
  }
  friend Archetype operator-(const Archetype& a) { return Archetype(-a.hidden()); }
  Archetype& operator+=(const Archetype& b) { return *this = *this + b; }
  Archetype& operator-=(const Archetype& b) { return *this = *this - b; }

  template <class Other>
  friend bool operator==(const Archetype&, const Other&) = delete;
  template <class Other>
  friend bool operator<(const Archetype&, const Other&) = delete;
  template <class Other>
  friend bool operator>(const Archetype&, const Other&) = delete;
  template <class Other>
  void operator,(const Other&) const = delete;
  explicit operator bool() const = delete;
  explicit operator double() const = delete;

  /// For the tests, not for equations.
  double hidden() const { return *value_; }

 private:
  std::unique_ptr<double> value_;
};

template <>
struct Primitives<Archetype> {
  using A = Archetype;
  using P = Primitives<double>;
  static A exp(const A& x) { return A(P::exp(x.hidden())); }
  static A log(const A& x) { return A(P::log(x.hidden())); }
  static A log1p(const A& x) { return A(P::log1p(x.hidden())); }
  static A sqrt(const A& x) { return A(P::sqrt(x.hidden())); }
  static A power(const A& x, const A& y) { return A(P::power(x.hidden(), y.hidden())); }
  static A absolute(const A& x) { return A(P::absolute(x.hidden())); }
  static A sign(const A& x) { return A(P::sign(x.hidden())); }
  static A relu(const A& x) { return A(P::relu(x.hidden())); }
  static A step(const A& x) { return A(P::step(x.hidden())); }
  static A softplus(const A& x) { return A(P::softplus(x.hidden())); }
  static A logistic(const A& x) { return A(P::logistic(x.hidden())); }
  static A maximum(const A& x, const A& y) { return A(P::maximum(x.hidden(), y.hidden())); }
  static A sin(const A& x) { return A(P::sin(x.hidden())); }
  static A cos(const A& x) { return A(P::cos(x.hidden())); }
  static A erf(const A& x) { return A(P::erf(x.hidden())); }
  static A tanh(const A& x) { return A(P::tanh(x.hidden())); }
  static A pi() { return A(P::pi()); }
  static double representative(const A& x) { return x.hidden(); }
};

static_assert(Real<Archetype>);

}  // namespace plumbline::reference

namespace Eigen {
template <>
struct NumTraits<plumbline::reference::Archetype>
    : GenericNumTraits<plumbline::reference::Archetype> {
  using Real = plumbline::reference::Archetype;
  using NonInteger = Real;
  using Nested = Real;
  enum { IsInteger = 0, IsSigned = 1, RequireInitialization = 1 };
  static Real epsilon() { return Real(0x1p-52); }
  static Real dummy_precision() { return Real(0x1p-40); }
};
}  // namespace Eigen
