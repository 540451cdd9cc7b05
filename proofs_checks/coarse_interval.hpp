// SPDX-License-Identifier: Apache-2.0
// The reference's interval, rounded outwards to 64 bits after every operation: a second precision,
// at which an enclosure has another width and must still contain what it encloses.
#pragma once

#include "reference/core/primitives.hpp"
#include "reference/scalars/interval.hpp"

namespace plumbline::proofs_checks {

/// Each operation computes the reference's interval and widens it to ends of 64 bits. A double has
/// 53 bits and is exact.
class CoarseInterval {
 public:
  static constexpr int bits = 64;

  CoarseInterval() : CoarseInterval(0.0) {}
  explicit CoarseInterval(double value) : value_(value) {}
  explicit CoarseInterval(const reference::Interval& value) : value_(value) {
    mpfi_round_prec(value_.backend().data(), bits);
  }
  const reference::Interval& value() const { return value_; }

  friend CoarseInterval operator+(const CoarseInterval& a, const CoarseInterval& b) {
    return CoarseInterval(a.value_ + b.value_);
  }
  friend CoarseInterval operator-(const CoarseInterval& a, const CoarseInterval& b) {
    return CoarseInterval(a.value_ - b.value_);
  }
  friend CoarseInterval operator*(const CoarseInterval& a, const CoarseInterval& b) {
    return CoarseInterval(a.value_ * b.value_);
  }
  friend CoarseInterval operator/(const CoarseInterval& a, const CoarseInterval& b) {
    return CoarseInterval(a.value_ / b.value_);
  }
  friend CoarseInterval operator-(const CoarseInterval& a) { return CoarseInterval(-a.value_); }
  CoarseInterval& operator+=(const CoarseInterval& b) { return *this = *this + b; }
  CoarseInterval& operator-=(const CoarseInterval& b) { return *this = *this - b; }

 private:
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
