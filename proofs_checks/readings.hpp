// SPDX-License-Identifier: Apache-2.0
// The scalars under which a claim is examined, and what each says of a residual.
#pragma once

#include <boost/operators.hpp>
#include <string>

#include "reference/core/primitives.hpp"
#include "reference/scalars/interval.hpp"
#include "reference/scalars/running_error.hpp"

namespace plumbline::proofs_checks {

/// The reference's interval, and at the second of two precisions rounded outwards to 64 bits after
/// every operation: an enclosure then has another width and must still contain what it encloses. A
/// double has 53 bits and is exact. The precision is chosen while the program runs, so that a claim
/// is compiled for intervals once.
class ClaimInterval : boost::arithmetic<ClaimInterval> {
 public:
  enum class Precision { reference, bits_64 };

  ClaimInterval() : ClaimInterval(0.0) {}
  explicit ClaimInterval(double value) : value_(value) {}
  explicit ClaimInterval(const reference::Interval& value) : value_(value) {
    if (precision_ == Precision::bits_64) mpfi_round_prec(value_.backend().data(), 64);
  }
  const reference::Interval& value() const { return value_; }

  ClaimInterval operator-() const { return ClaimInterval(-value_); }
  ClaimInterval& operator+=(const ClaimInterval& b) { return become(value_ + b.value_); }
  ClaimInterval& operator-=(const ClaimInterval& b) { return become(value_ - b.value_); }
  ClaimInterval& operator*=(const ClaimInterval& b) { return become(value_ * b.value_); }
  ClaimInterval& operator/=(const ClaimInterval& b) { return become(value_ / b.value_); }

  /// The precision of this thread's operations.
  static Precision precision() { return precision_; }
  /// Sets it, for as long as this object lives.
  class At {
   public:
    explicit At(Precision precision) : before_(precision_) { precision_ = precision; }
    ~At() { precision_ = before_; }
    At(const At&) = delete;
    At& operator=(const At&) = delete;

   private:
    Precision before_;
  };

 private:
  ClaimInterval& become(const reference::Interval& value) { return *this = ClaimInterval(value); }

  static inline thread_local Precision precision_ = Precision::reference;
  reference::Interval value_;
};

}  // namespace plumbline::proofs_checks

namespace plumbline::reference {

template <>
struct Primitives<proofs_checks::ClaimInterval> {
  using I = proofs_checks::ClaimInterval;
  using Fine = Primitives<Interval>;
  static I exp(const I& x) { return I(Fine::exp(x.value())); }
  static I log(const I& x) { return I(Fine::log(x.value())); }
  static I log1p(const I& x) { return I(Fine::log1p(x.value())); }
  static I sqrt(const I& x) { return I(Fine::sqrt(x.value())); }
  static I power(const I& base, const I& exponent) {
    return I(Fine::power(base.value(), exponent.value()));
  }
  static I sin(const I& x) { return I(Fine::sin(x.value())); }
  static I cos(const I& x) { return I(Fine::cos(x.value())); }
  static I erf(const I& x) { return I(Fine::erf(x.value())); }
  static I tanh(const I& x) { return I(Fine::tanh(x.value())); }
  static I pi() { return I(Fine::pi()); }
  static I absolute(const I& x) { return I(Fine::absolute(x.value())); }
  static I sign(const I& x) { return I(Fine::sign(x.value())); }
  static I relu(const I& x) { return I(Fine::relu(x.value())); }
  static I step(const I& x) { return I(Fine::step(x.value())); }
  static I softplus(const I& x) { return I(Fine::softplus(x.value())); }
  static I logistic(const I& x) { return I(Fine::logistic(x.value())); }
  static I maximum(const I& x, const I& y) { return I(Fine::maximum(x.value(), y.value())); }
  static double representative(const I& x) { return Fine::representative(x.value()); }
};

static_assert(Real<proofs_checks::ClaimInterval>);

}  // namespace plumbline::reference

namespace Eigen {
template <>
struct NumTraits<plumbline::proofs_checks::ClaimInterval>
    : GenericNumTraits<plumbline::proofs_checks::ClaimInterval> {
  using Real = plumbline::proofs_checks::ClaimInterval;
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

/// At the precision of this thread.
template <>
struct Reading<ClaimInterval> {
  /// "interval, 64 bits"
  static std::string name();
  static constexpr bool rigorous = true;
  static double resolution() {
    return ClaimInterval::precision() == ClaimInterval::Precision::bits_64 ? 0x1p-32 : 0x1p-80;
  }
  static ClaimInterval from(double lower, double upper) {
    return ClaimInterval(reference::interval(lower, upper));
  }
  static Enclosure enclosure(const ClaimInterval&);
};

}  // namespace plumbline::proofs_checks
