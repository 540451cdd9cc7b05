// SPDX-License-Identifier: Apache-2.0
// Gradients of the biases' parameters: sums over rows, then over what shares the parameter.
#pragma once

#include <array>
#include <vector>

#include "tests/faults/judge/attention.hpp"

namespace plumbline::bench {

template <class Real>
class ParameterSums {
 public:
  using Wanted = std::array<bool, PLUMBLINE_PARAMETER_COUNT>;
  /// Sizes results' gradients that are wanted, which it adds to. @param taps of DAPE, or 0
  ParameterSums(const Bias<Real>& bias, int taps, const Wanted& wanted, bool in_float,
                Results<Real>& results);

  /// A pair's gradient dz of the scaled product and bias.
  void pair(const Pair& at, Real dz);
  void ssmax(Real term) { row_[PLUMBLINE_SSMAX_SCALE][0] += term; }
  /// Adds to numbers of the row's head, or of the network that heads share, from `begin` on.
  void add_to_row(plumbline_parameter parameter, std::size_t begin, const std::vector<Real>& terms);
  /// Adds the row's sums.
  void finish_row(int batch, int head, int row);
  /// Prefix sums' gradients from the end, and what is wrong with all of them.
  void finish();

 private:
  int slice(int parameter) const;
  void fire(const Pair& at, Real dz);
  void custom(const Pair& at, Real dz);
  void prefix(const Pair& at, Real dz, Real rate);
  void add(Real& total, Real term) const;

  const Bias<Real>& bias_;
  int taps_;
  const Problem& in_;
  const Fault& fault_;
  Wanted wanted_;
  bool in_float_;
  Results<Real>& results_;
  std::array<std::vector<Real>, PLUMBLINE_PARAMETER_COUNT> row_;  ///< of one row
  std::vector<Real> of_sums_;  ///< of S or F, [batch, heads, keys]
  Real query_side_ = 0;
};

}  // namespace plumbline::bench
