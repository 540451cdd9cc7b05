// SPDX-License-Identifier: Apache-2.0
// An interval of the oracle as a number, and how far it may be from the exact one.
#pragma once

#include <cmath>
#include <limits>

#include "reference/scalars/interval.hpp"
#include "verdict/oracle/certified.hpp"

namespace plumbline::verdict {

template <>
inline Certified certified(const reference::Interval& x) {
  const double value = reference::representative(x);
  const double farthest =
      static_cast<double>(reference::upper(reference::absolute(x - reference::Interval(value))));
  // The conversion rounded to nearest, so the next double is above the exact distance.
  return {value, std::nextafter(farthest, std::numeric_limits<double>::infinity())};
}

}  // namespace plumbline::verdict
