// SPDX-License-Identifier: Apache-2.0
// When a hand-written adjoint equals the dual reading.
#pragma once

#include <cmath>

#include "reference/scalars/running_error.hpp"

namespace plumbline::reference {

/// One derivative with running errors, read twice: by the adjoint, and by dual numbers.
struct AdjointComparison {
  RunningError adjoint, dual;

  /// Its bound covers the error of both, and of the difference's own rounding.
  RunningError difference() const { return adjoint - dual; }
  bool agrees() const { return std::fabs(difference().value()) <= difference().error(); }

  /// The bound must be worth something: below 2^-30 of 1 + |derivative|. That is no tolerance on
  /// the result; a wrong sign or factor in any term of the tests' problems, whose terms are of the
  /// order of 1e-3 to 10, exceeds it by far.
  bool says_something() const {
    return difference().error() <= 0x1p-30 * (1 + std::fabs(dual.value()));
  }
};

}  // namespace plumbline::reference
