// SPDX-License-Identifier: Apache-2.0
// When a hand-written adjoint equals the dual reading.
#pragma once

#include <cmath>
#include <vector>

#include "reference/scalars/dual.hpp"
#include "reference/scalars/running_error.hpp"
#include "tests/reference/numbers.hpp"

namespace plumbline::reference {

/// The derivative of `objective` (inputs -> a Vector of one) in input n, by the dual reading over
/// the scalar R.
template <Real R, class Objective>
R dual_derivative(const Objective& objective, const std::vector<double>& inputs, Eigen::Index n) {
  Vector<BasicDual<R>> seeded = lifted<BasicDual<R>>(inputs);
  seeded[n].tangent = R(1.0);
  return objective(seeded)[0].tangent;
}

/// One derivative, read twice: by the adjoint and by the dual reading.
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
