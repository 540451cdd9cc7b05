// SPDX-License-Identifier: Apache-2.0
// The scalars under which a claim is examined, and what each says of a residual.
#pragma once

#include <string>

#include "proofs_checks/coarse_interval.hpp"
#include "reference/scalars/interval.hpp"
#include "reference/scalars/running_error.hpp"

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
  static std::string name();
  static constexpr bool rigorous = true;
  static double resolution() { return 0x1p-32; }
  static CoarseInterval from(double lower, double upper) {
    return CoarseInterval(reference::interval(lower, upper));
  }
  static Enclosure enclosure(const CoarseInterval&);
};

}  // namespace plumbline::proofs_checks
