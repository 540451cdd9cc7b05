// SPDX-License-Identifier: Apache-2.0
// Exponentials that do not overflow: e^(x_j - c), with c near the largest x.
#pragma once

#include <algorithm>

#include "reference/core/linear_algebra.hpp"
#include "reference/core/primitives.hpp"
#include "reference/core/real.hpp"

namespace plumbline::reference {

/// max_j representative(x_j), for at least one x.
template <Real R>
double largest_representative(const Vector<R>& x) {
  double largest = representative(x[0]);
  for (const R& element : x) largest = std::max(largest, representative(element));
  return largest;
}

template <Real R>
struct ShiftedExponentials {
  Vector<R> value;  ///< e^(x_j - c)
  R coarse, fine;   ///< c is their sum
};

/// The exponentials of a scalar. A scalar may specialise this, with the same order of operations on
/// its values, where another c is known better (RunningError).
template <Real R>
struct Exponentials {
  /// Shapes: [n] -> [n], n >= 1. c is the sum of two doubles: one alone misses a number near 10^31,
  /// known to 50 digits, by 10^15.
  static ShiftedExponentials<R> shifted(const Vector<R>& x) {
    const R coarse(largest_representative(x));
    Vector<R> centred(x.size());
    for (Eigen::Index j = 0; j < x.size(); ++j) centred[j] = x[j] - coarse;
    const R fine(largest_representative(centred));
    for (R& c : centred) c = exp(c - fine);
    return {centred, coarse, fine};
  }
};

}  // namespace plumbline::reference
