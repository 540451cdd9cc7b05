// SPDX-License-Identifier: Apache-2.0
// MPFI intervals of 50 decimal digits: a rigorous enclosure, which proves a claim on a box.
#pragma once

#include <boost/multiprecision/mpfi.hpp>
#include <limits>

#include "reference/core/linear_algebra.hpp"
#include "reference/core/primitives.hpp"
#include "reference/scalars/mpreal.hpp"

namespace plumbline::reference {

/// A closed interval [lower, upper]. The result of an operation contains every value that the
/// operation takes for operands in the given intervals; ends are rounded outwards. Division by an
/// interval that contains 0 is unbounded; log of one that reaches below 0 is NaN.
/// An occurrence of a variable counts as a variable of its own, so x - x is not 0 but a width.
using Interval = boost::multiprecision::number<boost::multiprecision::mpfi_float_backend<50>,
                                               boost::multiprecision::et_off>;

/// The interval [low, high]. @throws std::invalid_argument unless low <= high.
inline Interval interval(double low, double high) {
  require(low <= high, "low", low, "at most high");
  Interval result;
  mpfi_interv_d(result.backend().data(), low, high);
  return result;
}

inline MpReal lower(const Interval& x) {
  MpReal end;
  mpfi_get_left(end.backend().data(), x.backend().data());
  return end;
}

inline MpReal upper(const Interval& x) {
  MpReal end;
  mpfi_get_right(end.backend().data(), x.backend().data());
  return end;
}

/// The smallest interval that contains both.
inline Interval hull(const Interval& a, const Interval& b) {
  Interval result;
  mpfi_union(result.backend().data(), a.backend().data(), b.backend().data());
  return result;
}

/// Whether every point of the interval is the wanted one, false for NaN.
inline bool certainly_positive(const Interval& x) { return lower(x) > 0; }
inline bool certainly_negative(const Interval& x) { return upper(x) < 0; }
/// lower <= x <= upper; false for NaN.
inline bool contains(const Interval& x, const MpReal& point) {
  return lower(x) <= point && point <= upper(x);
}

template <>
struct Primitives<Interval> {
  static Interval exp(const Interval& x) { return boost::multiprecision::exp(x); }
  static Interval log(const Interval& x) { return boost::multiprecision::log(x); }
  static Interval log1p(const Interval& x) {
    Interval result;
    mpfi_log1p(result.backend().data(), x.backend().data());
    return result;
  }
  static Interval sqrt(const Interval& x) { return boost::multiprecision::sqrt(x); }
  /// base > 0: e^(exponent ln base).
  static Interval power(const Interval& base, const Interval& exponent) {
    return exp(exponent * log(base));
  }
  static Interval absolute(const Interval& x) {
    Interval result;
    mpfi_abs(result.backend().data(), x.backend().data());
    return result;
  }
  /// From the sign of the lower end to that of the upper: [-1, 1] around 0. NaN stays NaN.
  static Interval sign(const Interval& x) {
    return from_ends(Primitives<MpReal>::sign(lower(x)), Primitives<MpReal>::sign(upper(x)));
  }
  static Interval relu(const Interval& x) { return maximum(x, Interval(0.0)); }
  /// From the step of the lower end to that of the upper: [0, 1] around 0. NaN stays NaN.
  static Interval step(const Interval& x) {
    return from_ends(Primitives<MpReal>::step(lower(x)), Primitives<MpReal>::step(upper(x)));
  }
  static Interval softplus(const Interval& x) { return increasing(x, softplus_at); }
  static Interval logistic(const Interval& x) { return increasing(x, logistic_at); }
  static Interval maximum(const Interval& x, const Interval& y) {
    const MpReal low = larger(lower(x), lower(y)), high = larger(upper(x), upper(y));
    return from_ends(low, high);
  }
  static Interval sin(const Interval& x) {
    Interval result;
    mpfi_sin(result.backend().data(), x.backend().data());
    return result;
  }
  static Interval cos(const Interval& x) {
    Interval result;
    mpfi_cos(result.backend().data(), x.backend().data());
    return result;
  }
  /// MPFI has no erf. It increases: MPFR's at the ends, rounded outwards.
  static Interval erf(const Interval& x) {
    MpReal low = lower(x), high = upper(x);
    mpfr_erf(low.backend().data(), low.backend().data(), MPFR_RNDD);
    mpfr_erf(high.backend().data(), high.backend().data(), MPFR_RNDU);
    return from_ends(low, high);
  }
  static Interval tanh(const Interval& x) {
    Interval result;
    mpfi_tanh(result.backend().data(), x.backend().data());
    return result;
  }
  static Interval pi() {
    Interval result;
    mpfi_const_pi(result.backend().data());
    return result;
  }
  static double representative(const Interval& x) { return mpfi_get_d(x.backend().data()); }

 private:
  static MpReal larger(const MpReal& a, const MpReal& b) { return isnan(b) || b > a ? b : a; }
  static Interval from_ends(const MpReal& low, const MpReal& high) {
    Interval result;
    mpfi_interv_fr(result.backend().data(), low.backend().data(), high.backend().data());
    return result;
  }
  static Interval from_point(const MpReal& x) { return from_ends(x, x); }
  /// An increasing function by its values at the ends.
  static Interval increasing(const Interval& x, Interval (*at)(const Interval&)) {
    return hull(at(from_point(lower(x))), at(from_point(upper(x))));
  }
  /// x + ln(1 + e^-x) for x >= 0, ln(1 + e^x) below; x is a point.
  static Interval softplus_at(const Interval& x) { return relu(x) + log1p(exp(-absolute(x))); }
  static Interval logistic_at(const Interval& x) {
    return Interval(1.0) / (Interval(1.0) + exp(-x));
  }
};

static_assert(Real<Interval>);

}  // namespace plumbline::reference

namespace Eigen {
template <>
struct NumTraits<plumbline::reference::Interval>
    : GenericNumTraits<plumbline::reference::Interval> {
  using Real = plumbline::reference::Interval;
  using NonInteger = Real;
  using Nested = Real;
  enum { IsInteger = 0, IsSigned = 1, RequireInitialization = 1 };
  /// The width of [1, the next number], as for MpReal.
  static Real epsilon() { return Real(NumTraits<plumbline::reference::MpReal>::epsilon()); }
  static Real dummy_precision() { return Real(1000.0) * epsilon(); }
};
}  // namespace Eigen
