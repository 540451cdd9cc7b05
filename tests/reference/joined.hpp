// SPDX-License-Identifier: Apache-2.0
// Several scalars as one, so that an equation is compiled once for all of them.
#pragma once

#include <cmath>
#include <concepts>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "reference/core/exponentials.hpp"
#include "reference/core/sum.hpp"
#include "reference/scalars/double.hpp"

namespace plumbline::reference {

/// Does to each of the scalars S what is done to it. It can be joined since no equation branches on
/// a scalar. It has the operations that the concept Real promises, and no other: an equation that
/// compares it, converts it, prints it, mixes it with a number or relies on a second spelling of an
/// operation (*=, ++) does not compile. It lies on the heap: a sanitizer sees a use before
/// initialisation, a shallow copy, a leak.
template <Real... S>
class Joined {
 public:
  Joined() : Joined(0.0) {}
  explicit Joined(double value) : scalars_(std::make_unique<Scalars>(S(value)...)) {}
  template <class Other>
  requires(!std::same_as<Other, int>) Joined(Other)
  = delete;  // not float, bool, long double
  Joined(const Joined& other) : scalars_(std::make_unique<Scalars>(*other.scalars_)) {}
  Joined& operator=(const Joined& other) {
    *scalars_ = *other.scalars_;
    return *this;
  }

  friend Joined operator+(const Joined& a, const Joined& b) {
    return of_each([](const auto& x, const auto& y) { return x + y; }, a, b);
  }
  friend Joined operator-(const Joined& a, const Joined& b) {
    return of_each([](const auto& x, const auto& y) { return x - y; }, a, b);
  }
  friend Joined operator*(const Joined& a, const Joined& b) {
    return of_each([](const auto& x, const auto& y) { return x * y; }, a, b);
  }
  friend Joined operator/(const Joined& a, const Joined& b) {
    return of_each([](const auto& x, const auto& y) { return x / y; }, a, b);
  }
  friend Joined operator-(const Joined& a) {
    return of_each([]<class T>(const T& x) { return T(-x); }, a);
  }
  Joined& operator+=(const Joined& b) {
    ((as<S>() += b.template as<S>()), ...);
    return *this;
  }
  Joined& operator-=(const Joined& b) {
    ((as<S>() -= b.template as<S>()), ...);
    return *this;
  }

  template <class Other>
  friend bool operator==(const Joined&, const Other&) = delete;
  template <class Other>
  friend bool operator<(const Joined&, const Other&) = delete;
  template <class Other>
  friend bool operator>(const Joined&, const Other&) = delete;
  template <class Other>
  void operator,(const Other&) const = delete;
  explicit operator bool() const = delete;
  explicit operator double() const = delete;

  /// For the tests, not for equations: what one scalar has.
  template <class T>
  const T& as() const {
    return std::get<T>(*scalars_);
  }
  /// f(one scalar of x, the same of y, ...), for each scalar.
  template <class Function, class... X>
  static Joined of_each(const Function& f, const X&... x) {
    Joined result;
    ((result.template as<S>() = one<S>(f, x...)), ...);
    return result;
  }

 private:
  using Scalars = std::tuple<S...>;

  template <class T>
  T& as() {
    return std::get<T>(*scalars_);
  }
  template <class T, class Function, class... X>
  static T one(const Function& f, const X&... x) {
    return f(x.template as<T>()...);
  }

  std::unique_ptr<Scalars> scalars_;
};

template <Real... S>
struct Primitives<Joined<S...>> {
  using J = Joined<S...>;
  static J exp(const J& x) { return J::of_each(reference::exp, x); }
  static J log(const J& x) { return J::of_each(reference::log, x); }
  static J log1p(const J& x) { return J::of_each(reference::log1p, x); }
  static J sqrt(const J& x) { return J::of_each(reference::sqrt, x); }
  static J power(const J& x, const J& y) { return J::of_each(reference::power, x, y); }
  static J absolute(const J& x) { return J::of_each(reference::absolute, x); }
  static J sign(const J& x) { return J::of_each(reference::sign, x); }
  static J relu(const J& x) { return J::of_each(reference::relu, x); }
  static J step(const J& x) { return J::of_each(reference::step, x); }
  static J softplus(const J& x) { return J::of_each(reference::softplus, x); }
  static J logistic(const J& x) { return J::of_each(reference::logistic, x); }
  static J maximum(const J& x, const J& y) { return J::of_each(reference::maximum, x, y); }
  static J sin(const J& x) { return J::of_each(reference::sin, x); }
  static J cos(const J& x) { return J::of_each(reference::cos, x); }
  static J erf(const J& x) { return J::of_each(reference::erf, x); }
  static J tanh(const J& x) { return J::of_each(reference::tanh, x); }
  static J pi() {
    return J::of_each([]<class T>(const T&) { return reference::pi<T>(); }, J());
  }
  /// That of double, for all; alone, each scalar would choose by its own.
  /// @throws std::logic_error where another's is not near it, so that it might choose otherwise.
  static double representative(const J& x) {
    const double of_double = x.template as<double>();
    const auto check = [&](double other) {
      const bool near = std::fabs(other - of_double) <= 1e-9 * std::fabs(of_double);
      if (!near && other != of_double && !(std::isnan(other) && std::isnan(of_double)))
        throw std::logic_error("the representative of one scalar is " + std::to_string(other) +
                               ", that of double " + std::to_string(of_double));
    };
    (check(reference::representative(x.template as<S>())), ...);
    return of_double;
  }
};

/// The numbers of one scalar.
template <class T, class J>
std::vector<T> numbers_of(std::span<const J> x) {
  std::vector<T> numbers;
  for (const J& number : x) numbers.push_back(number.template as<T>());
  return numbers;
}

template <class T, class J>
Vector<T> vector_of(const Vector<J>& x) {
  return x.unaryExpr([](const J& number) { return number.template as<T>(); });
}

/// Each scalar by its own sums. (One alone takes the generic ones, and shows what they ask of it.)
template <Real... S>
requires(sizeof...(S) > 1) struct Summation<Joined<S...>> {
  using J = Joined<S...>;
  static J sum(std::span<const J> terms) {
    return joined([&]<class T>(const T&) { return Summation<T>::sum(numbers_of<T>(terms)); });
  }
  static J dot(std::span<const J> x, std::span<const J> y) {
    return joined(
        [&]<class T>(const T&) { return Summation<T>::dot(numbers_of<T>(x), numbers_of<T>(y)); });
  }
  static Vector<J> weighted_sum(std::span<const J> weights, const Matrix<J>& rows,
                                const std::vector<int>& chosen) {
    Vector<J> total = zeros<J>(static_cast<int>(rows.cols()));
    const std::tuple<Vector<S>...> totals(Summation<S>::weighted_sum(
        numbers_of<S>(weights),
        Matrix<S>(rows.unaryExpr([](const J& x) { return x.template as<S>(); })), chosen)...);
    for (Eigen::Index d = 0; d < total.size(); ++d)
      total[d] = joined([&]<class T>(const T&) { return std::get<Vector<T>>(totals)[d]; });
    return total;
  }

 private:
  template <class Function>
  static J joined(const Function& f) {
    return J::of_each(f, J());
  }
};

/// Each scalar shifts by its own c.
template <Real... S>
requires(sizeof...(S) > 1) struct Exponentials<Joined<S...>> {
  using J = Joined<S...>;
  static ShiftedExponentials<J> shifted(const Vector<J>& x) {
    const std::tuple<ShiftedExponentials<S>...> of(Exponentials<S>::shifted(vector_of<S>(x))...);
    const auto joined = [&](const auto& part) {
      return J::of_each(
          [&]<class T>(const T&) { return part(std::get<ShiftedExponentials<T>>(of)); }, J());
    };
    ShiftedExponentials<J> result{zeros<J>(static_cast<int>(x.size())),
                                  joined([](const auto& from) { return from.coarse; }),
                                  joined([](const auto& from) { return from.fine; })};
    for (Eigen::Index j = 0; j < x.size(); ++j)
      result.value[j] = joined([&](const auto& from) { return from.value[j]; });
    return result;
  }
};

static_assert(Real<Joined<double>>);

}  // namespace plumbline::reference

namespace Eigen {
template <class... S>
struct NumTraits<plumbline::reference::Joined<S...>>
    : GenericNumTraits<plumbline::reference::Joined<S...>> {
  using Real = plumbline::reference::Joined<S...>;
  using NonInteger = Real;
  using Nested = Real;
  enum { IsInteger = 0, IsSigned = 1, RequireInitialization = 1 };
  static Real epsilon() { return Real(0x1p-52); }
  static Real dummy_precision() { return Real(0x1p-40); }
};
}  // namespace Eigen
