// SPDX-License-Identifier: Apache-2.0
// Exponentials of numbers whose errors are large: part of running_error.hpp, which includes it.
//
// e^(x_j - c) has the relative error e^(e_j) - 1, of the largest x too. Where that is known to a
// few units only, or to 10^19 as logits near 10^34 are, c had better be the largest x itself, error
// and all: its own exponential is then 1, and the others' differences from it are as large as ever.
#pragma once

#include "reference/core/exponentials.hpp"
#include "reference/scalars/running_error.hpp"

namespace plumbline::reference {

template <>
struct Exponentials<RunningError> {
  /// The largest error for which c is a number.
  static constexpr double badly_known = 0.5;

  static ShiftedExponentials<RunningError> shifted(const Vector<RunningError>& x) {
    Eigen::Index largest = 0;
    for (Eigen::Index j = 1; j < x.size(); ++j)
      if (x[j].value() > x[largest].value()) largest = j;
    const bool by_itself = x[largest].error() > badly_known;
    const RunningError c = by_itself ? x[largest] : RunningError(x[largest].value());
    Vector<RunningError> value(x.size());
    for (Eigen::Index j = 0; j < x.size(); ++j) {
      const bool is_c = by_itself && j == largest;
      value[j] = is_c ? RunningError(1.0) : exp(x[j] - c);
    }
    return {value, c, RunningError(0.0)};
  }
};

}  // namespace plumbline::reference
