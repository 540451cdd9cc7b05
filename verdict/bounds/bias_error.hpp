// SPDX-License-Identifier: Apache-2.0
// How far a correct fp32 kernel's bias may be from the exact one. Derived in docs/bounds.md,
// section "The bias"; each function states its formula.
#pragma once

#include <span>
#include <vector>

#include "verdict/cases/case.hpp"
#include "verdict/judge/contract.hpp"

namespace plumbline::verdict {

/// d^2 of a distance d known within e: how far the square is off before 1 is added to it,
/// (2 |d| + e) e + u (|d| + e)^2, and the least that 1 + d^2 can then be.
struct SquareError {
  double error = 0, lowest = 1;
};
SquareError square_error(double d, double e);

/// Bound of |computed - exact| for the biases of one query row.
class BiasError {
 public:
  BiasError(const cases::Case& the_case, const Contract& contract);

  /// @param visible keys j, ascending.
  /// @param bias exact b_ij for those keys.
  /// @return one bound for each visible key; infinite where fp32 cannot hold the bias at all.
  std::vector<double> row(int batch, int head, int position, std::span<const int> visible,
                          std::span<const double> bias) const;

  /// |S_i - S_j| (FoX: |F_i - F_j|), and the bound of its error in the kernel.
  struct Distance {
    double value = 0, error = 0;
  };
  Distance distance(int batch, int head, int i, int j) const;
  /// The same of g_i |S_i - S_j|: the distance's error times g, and the product's rounding.
  Distance weighted_distance(int batch, int head, int i, int j) const;
  double gain(int batch, int head, int position) const;

 private:
  double error_of(int batch, int head, int i, int j, double bias) const;

  const cases::Case& case_;
  Contract contract_;
  std::vector<double> prefix_sum_;  ///< of |increments|, [batch, heads, keys]: CABLE family and FoX
};

}  // namespace plumbline::verdict
