// SPDX-License-Identifier: Apache-2.0
// Custom biases (docs/custom_bias.md) of the campaign: declared as a user of the judge declares
// them, and written by hand in the kernel, as the user's kernel has them.
#pragma once

#include <cstddef>
#include <vector>

#include "kernel_abi/plumbline_kernel.h"
#include "verdict/cases/spec.hpp"

namespace plumbline::bench {

/// What a kernel of PLUMBLINE_CUSTOM has built in: the problem does not say which formula it is.
enum class Formula {
  none,
  log_distance,  ///< of a number of the head, and one for all
  bump,          ///< of the signed distance; with a number of the sequence
  of_tokens,     ///< of a number for each query and each key
  saturating     ///< of prefix sums
};

/// One of each, without RoPE.
const std::vector<cases::Bias>& custom_biases();
cases::Bias custom_bias(Formula);
/// Whether or not it has RoPE. Of a bias that is none of them, none.
Formula built_in_formula(const cases::Bias&);

/// Whether PLUMBLINE_CUSTOM_n is one for each key, read at the query's position, too.
constexpr bool is_of_keys(Formula formula, int n) {
  return formula == Formula::of_tokens && n == 1;
}

/// The numbers of PLUMBLINE_CUSTOM_n that a query row reads: where they begin, and how many.
struct CustomPart {
  std::size_t begin = 0;
  int size = 1;
};
CustomPart custom_part(const plumbline_problem&, Formula, int n, int batch, int head, int row);

/// A bias and its derivatives.
template <class Real>
struct CustomValue {
  Real value;
  std::vector<Real> by{};  ///< the n-th parameter; of one for each key, the key's number
  Real by_own = 0;         ///< of one for each key, the number at the query's position
  Real by_difference = 0;  ///< S_i - S_j
};

}  // namespace plumbline::bench
