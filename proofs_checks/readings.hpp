// SPDX-License-Identifier: Apache-2.0
// The scalars under which a claim is examined, and what each says of a residual.
#pragma once

#include <boost/operators.hpp>
#include <string>

#include "reference/core/primitives.hpp"
#include "reference/scalars/interval.hpp"
#include "reference/scalars/running_error.hpp"

namespace plumbline::proofs_checks {

/// The reference's interval, rounded outwards to 64 bits after every operation: a second precision,
/// at which an enclosure has another width and must still contain what it encloses.
///
/// Each operation computes the reference's interval and widens it to ends of 64 bits. A double has
/// 53 bits and is exact.
class CoarseInterval : boost::arithmetic<CoarseInterval> {
 public:
  static constexpr int bits = 64;

  CoarseInterval() : CoarseInterval(0.0) {}
  explicit CoarseInterval(double value) : value_(value) {}
  explicit CoarseInterval(const reference::Interval& value) : value_(value) {
    mpfi_round_prec(value_.backend().data(), bits);
  }
  const reference::Interval& value() const { return value_; }

  CoarseInterval operator-() const { return CoarseInterval(-value_); }
  CoarseInterval& operator+=(const CoarseInterval& b) { return become(value_ + b.value_); }
  CoarseInterval& operator-=(const CoarseInterval& b) { return become(value_ - b.value_); }
  CoarseInterval& operator*=(const CoarseInterval& b) { return become(value_ * b.value_); }
  CoarseInterval& operator/=(const CoarseInterval& b) { return become(value_ / b.value_); }

 private:
  CoarseInterval& become(const reference::Interval& value) { return *this = CoarseInterval(value); }
  reference::Interval value_;
};

}  // namespace plumbline::proofs_checks

namespace plumbline::reference {

template <>
struct Primitives<proofs_checks::CoarseInterval> {
  using Coarse = proofs_checks::CoarseInterval;
  using Fine = Primitives<Interval>;
  static Coarse exp(const Coarse& x) { return Coarse(Fine::exp(x.value())); }
  static Coarse log(const Coarse& x) { return Coarse(Fine::log(x.value())); }
  static Coarse log1p(const Coarse& x) { return Coarse(Fine::log1p(x.value())); }
  static Coarse sqrt(const Coarse& x) { return Coarse(Fine::sqrt(x.value())); }
  static Coarse power(const Coarse& base, const Coarse& exponent) {
    return Coarse(Fine::power(base.value(), exponent.value()));
  }
  static Coarse sin(const Coarse& x) { return Coarse(Fine::sin(x.value())); }
  static Coarse cos(const Coarse& x) { return Coarse(Fine::cos(x.value())); }
  static Coarse erf(const Coarse& x) { return Coarse(Fine::erf(x.value())); }
  static Coarse tanh(const Coarse& x) { return Coarse(Fine::tanh(x.value())); }
  static Coarse pi() { return Coarse(Fine::pi()); }
  static Coarse absolute(const Coarse& x) { return Coarse(Fine::absolute(x.value())); }
  static Coarse sign(const Coarse& x) { return Coarse(Fine::sign(x.value())); }
  static Coarse relu(const Coarse& x) { return Coarse(Fine::relu(x.value())); }
  static Coarse step(const Coarse& x) { return Coarse(Fine::step(x.value())); }
  static Coarse softplus(const Coarse& x) { return Coarse(Fine::softplus(x.value())); }
  static Coarse logistic(const Coarse& x) { return Coarse(Fine::logistic(x.value())); }
  static Coarse maximum(const Coarse& x, const Coarse& y) {
    return Coarse(Fine::maximum(x.value(), y.value()));
  }
  static double representative(const Coarse& x) { return Fine::representative(x.value()); }
};

static_assert(Real<proofs_checks::CoarseInterval>);

}  // namespace plumbline::reference

namespace Eigen {
template <>
struct NumTraits<plumbline::proofs_checks::CoarseInterval>
    : GenericNumTraits<plumbline::proofs_checks::CoarseInterval> {
  using Real = plumbline::proofs_checks::CoarseInterval;
  using NonInteger = Real;
  using Nested = Real;
  enum { IsInteger = 0, IsSigned = 1, RequireInitialization = 1 };
  static Real epsilon() { return Real(0x1p-63); }
  static Real dummy_precision() { return Real(0x1p-50); }
};
}  // namespace Eigen

namespace plumbline::proofs_checks {

/// The closed interval in which a residual lies.
struct Enclosure {
  double lower, upper;  ///< rounded outwards
  double width;         ///< upper - lower, rounded upwards
};

/// name(); rigorous: it encloses the exact value, whatever the C library does, also
/// where an input is an interval; from(lower, upper); enclosure(residual); and resolution(): the
/// widest enclosure that supports an equality. It is no tolerance: a residual that is not 0 is
/// refuted however small it is, if the enclosure separates it from 0; an enclosure that is wider
/// than this says too little to support anything. Half of the reading's bits are asked for,
/// rounded.
template <class R>
struct Reading;

/// double with the bound of its own rounding errors.
template <>
struct Reading<reference::RunningError> {
  static std::string name() { return "double"; }
  static constexpr bool rigorous = false;
  static double resolution() { return 0x1p-26; }
  /// The midpoint.
  static reference::RunningError from(double lower, double upper) {
    return reference::RunningError(lower + (upper - lower) / 2);
  }
  static Enclosure enclosure(const reference::RunningError&);
};

template <>
struct Reading<reference::Interval> {
  static std::string name();
  static constexpr bool rigorous = true;
  static double resolution() { return 0x1p-80; }
  static reference::Interval from(double lower, double upper) {
    return reference::interval(lower, upper);
  }
  static Enclosure enclosure(const reference::Interval&);
};

template <>
struct Reading<CoarseInterval> {
  static std::string name() {
    return "interval, " + std::to_string(CoarseInterval::bits) + " bits";
  }
  static constexpr bool rigorous = true;
  static double resolution() { return 0x1p-32; }
  static CoarseInterval from(double lower, double upper) {
    return CoarseInterval(reference::interval(lower, upper));
  }
  static Enclosure enclosure(const CoarseInterval& x) {
    return Reading<reference::Interval>::enclosure(x.value());
  }
};

}  // namespace plumbline::proofs_checks
