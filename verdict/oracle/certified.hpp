// SPDX-License-Identifier: Apache-2.0
// A number of the oracle, and how far it may be from the exact one.
#pragma once

#include <vector>

#include "reference/core/linear_algebra.hpp"
#include "reference/scalars/running_error.hpp"

namespace plumbline::verdict {

/// |value - exact| <= radius.
struct Certified {
  double value, radius;
};

/// What an oracle's scalar knows of itself. Intervals: oracle/certified_interval.hpp, apart, since
/// few sources need them and the compiler much time for their library.
template <class R>
Certified certified(const R& x);

template <>
inline Certified certified(const reference::RunningError& x) {
  return {x.value(), x.error()};
}

/// The values of a vector, in double.
template <class R>
std::vector<double> values(const reference::Vector<R>& x) {
  std::vector<double> result(x.size());
  for (Eigen::Index n = 0; n < x.size(); ++n) result[n] = certified(x[n]).value;
  return result;
}

}  // namespace plumbline::verdict
