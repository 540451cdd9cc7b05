// SPDX-License-Identifier: Apache-2.0
// MPFR numbers of 50 decimal digits: golden values, and what double is measured against.
#pragma once

#include <boost/multiprecision/mpfr.hpp>
#include <limits>

#include "reference/core/linear_algebra.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::reference {

/// Every operation is rounded to nearest from its exact result. A value of an equation that is not
/// ill-conditioned beyond 10^30 therefore has more than 17 correct digits, so it narrows to the
/// correctly rounded double unless it lies within its own error of the middle of two.
using MpReal = boost::multiprecision::number<boost::multiprecision::mpfr_float_backend<50>,
                                             boost::multiprecision::et_off>;

/// Correctly rounded, but for softplus and logistic: those are computed in 100 digits and then
/// rounded, which differs from it only within 10^-98 of the middle of two numbers.
template <>
struct Primitives<MpReal> {
  using Wide = boost::multiprecision::number<boost::multiprecision::mpfr_float_backend<100>,
                                             boost::multiprecision::et_off>;

  static MpReal exp(const MpReal& x) { return boost::multiprecision::exp(x); }
  static MpReal log(const MpReal& x) { return boost::multiprecision::log(x); }
  static MpReal log1p(const MpReal& x) {
    MpReal result;
    mpfr_log1p(result.backend().data(), x.backend().data(), MPFR_RNDN);
    return result;
  }
  static MpReal sqrt(const MpReal& x) { return boost::multiprecision::sqrt(x); }
  static MpReal power(const MpReal& base, const MpReal& exponent) {
    return boost::multiprecision::pow(base, exponent);
  }
  static MpReal absolute(const MpReal& x) { return boost::multiprecision::abs(x); }
  static MpReal sign(const MpReal& x) { return x > 0 ? MpReal(1.0) : x < 0 ? MpReal(-1.0) : x; }
  static MpReal relu(const MpReal& x) { return x < 0 ? MpReal(0.0) : x; }
  static MpReal step(const MpReal& x) { return x > 0 ? MpReal(1.0) : x <= 0 ? MpReal(0.0) : x; }
  static MpReal softplus(const MpReal& x) {
    const Wide e = boost::multiprecision::exp(Wide(-absolute(x)));
    Wide result;
    mpfr_log1p(result.backend().data(), e.backend().data(), MPFR_RNDN);
    return MpReal(Wide(Wide(relu(x)) + result));
  }
  static MpReal logistic(const MpReal& x) {
    return MpReal(Wide(1 / (1 + boost::multiprecision::exp(Wide(-x)))));
  }
  static MpReal maximum(const MpReal& x, const MpReal& y) { return x > y ? x : y; }
  static MpReal sin(const MpReal& x) { return boost::multiprecision::sin(x); }
  static MpReal cos(const MpReal& x) { return boost::multiprecision::cos(x); }
  static MpReal erf(const MpReal& x) {
    MpReal result;
    mpfr_erf(result.backend().data(), x.backend().data(), MPFR_RNDN);
    return result;
  }
  static MpReal tanh(const MpReal& x) { return boost::multiprecision::tanh(x); }
  static MpReal pi() {
    MpReal result;
    mpfr_const_pi(result.backend().data(), MPFR_RNDN);
    return result;
  }
  static double representative(const MpReal& x) { return x.convert_to<double>(); }
};

static_assert(Real<MpReal>);

}  // namespace plumbline::reference

namespace Eigen {
template <>
struct NumTraits<plumbline::reference::MpReal> : GenericNumTraits<plumbline::reference::MpReal> {
  using Real = plumbline::reference::MpReal;
  using NonInteger = Real;
  using Nested = Real;
  enum { IsInteger = 0, IsSigned = 1, RequireInitialization = 1 };
  static Real epsilon() { return std::numeric_limits<Real>::epsilon(); }
  static Real dummy_precision() { return 1000 * epsilon(); }
};
}  // namespace Eigen
