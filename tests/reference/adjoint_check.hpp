// SPDX-License-Identifier: Apache-2.0
// A hand-written adjoint against the dual reading.
#pragma once

#include <vector>

#include "reference/scalars/adjoint_comparison.hpp"
#include "reference/scalars/dual.hpp"
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

/// Those in all inputs.
template <Real R, class Objective>
Vector<R> dual_derivatives(const Objective& objective, const std::vector<double>& inputs) {
  Vector<R> derivatives(static_cast<Eigen::Index>(inputs.size()));
  for (Eigen::Index n = 0; n < derivatives.size(); ++n)
    derivatives[n] = dual_derivative<R>(objective, inputs, n);
  return derivatives;
}

}  // namespace plumbline::reference
