// SPDX-License-Identifier: Apache-2.0
// How far a correct fp32 kernel's bias may be from the exact one. Derived in docs/bounds.md,
// section "The bias"; each function states its formula.
#pragma once

#include <span>
#include <vector>

#include "cases/case.hpp"
#include "verdict/contract.hpp"

namespace plumbline::verdict {

/// Bound of |computed - exact| for the biases of one query row.
class BiasError {
 public:
  BiasError(const cases::Case& the_case, const Contract& contract);

  /// @param visible keys j, ascending.
  /// @param bias exact b_ij for those keys.
  /// @return one bound for each visible key; infinite where fp32 cannot hold the bias at all.
  std::vector<double> row(int batch, int head, int position, std::span<const int> visible,
                          std::span<const double> bias) const;

 private:
  double prefix_difference_error(std::span<const double> prefix_sum, int i, int j) const;
  double ggd_error(int head, int i, int j, double bias) const;

  const cases::Case& case_;
  Contract contract_;
  std::vector<double> prefix_sum_;  ///< [batch, heads, keys], CABLE family only
};

}  // namespace plumbline::verdict
