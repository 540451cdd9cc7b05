// SPDX-License-Identifier: Apache-2.0
// A number of the oracle, and how far it may be from the exact one.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "reference/scalars/interval.hpp"
#include "reference/scalars/running_error.hpp"

namespace plumbline::verdict {

/// |value - exact| <= radius.
struct Certified {
  double value, radius;
};

inline Certified certified(const reference::RunningError& x) { return {x.value(), x.error()}; }
inline Certified certified(const reference::Interval& x) {
  const double value = reference::representative(x);
  const double farthest =
      static_cast<double>(reference::upper(reference::absolute(x - reference::Interval(value))));
  // The conversion rounded to nearest, so the next double is above the exact distance.
  return {value, std::nextafter(farthest, std::numeric_limits<double>::infinity())};
}

/// The values of a vector, in double.
template <class R>
std::vector<double> values(const reference::Vector<R>& x) {
  std::vector<double> result(x.size());
  for (Eigen::Index n = 0; n < x.size(); ++n) result[n] = certified(x[n]).value;
  return result;
}

}  // namespace plumbline::verdict
