// SPDX-License-Identifier: Apache-2.0
// A bias that no list has, by its formula.
#pragma once

#include <vector>

#include "reference/bias/formula.hpp"
#include "reference/core/linear_algebra.hpp"

namespace plumbline::reference {

/// b_ij of one head by a formula. Source: whoever declared it.
/// Error: that of its operations.
template <Real R>
struct Custom {
  const Formula* formula;
  int head, query_offset;
  /// By parameter, what the head has of it: [1], [queries] or [keys]; of a prefix sum S, or what
  /// differs from it by a constant, [keys].
  std::vector<Vector<R>> numbers;

  using Grad = std::vector<Vector<R>>;  ///< like numbers; of a prefix sum the gradient of S

  R operator()(int i, int j) const { return at(i, j).value(); }

  Grad zero_grad() const {
    Grad grad;
    for (const auto& each : numbers) grad.push_back(zeros<R>(static_cast<int>(each.size())));
    return grad;
  }
  void accumulate_grad(Grad& grad, int i, int j, const R& grad_bias) const {
    at(i, j).derivatives([&](int n, Formula::Place place, const R& derivative) {
      const R part = grad_bias * derivative;
      if (formula->parameters[n] == Formula::Per::prefix_sum) {
        if (i == j) return;  // S_i - S_j is 0 whatever S is
        grad[n][i] += part;
        grad[n][j] -= part;
      } else {
        grad[n][element(n, place, i, j)] += part;
      }
    });
  }

 private:
  FormulaValues<R> at(int i, int j) const {
    return {*formula, i, j, head, [&](int n, Formula::Place place) -> R {
              if (formula->parameters[n] == Formula::Per::prefix_sum) {
                return numbers[n][i] - numbers[n][j];
              }
              return numbers[n][element(n, place, i, j)];
            }};
  }
  int element(int n, Formula::Place place, int i, int j) const {
    if (formula->parameters[n] == Formula::Per::query) return i - query_offset;
    if (formula->parameters[n] != Formula::Per::key) return 0;
    return place == Formula::Place::of_query ? i : j;
  }
};

}  // namespace plumbline::reference
