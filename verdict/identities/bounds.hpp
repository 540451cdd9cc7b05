// SPDX-License-Identifier: Apache-2.0
// How far two runs of a correct kernel may be from an identity, without an oracle: from sizes of
// the case's numbers alone. Derived in docs/identities.md.
#pragma once

#include <vector>

#include "verdict/cases/case.hpp"
#include "verdict/identities/rescales.hpp"
#include "verdict/judge/contract.hpp"

namespace plumbline::verdict {

/// Bounds that hold for all rows of a case, with n the number of keys.
struct SumBounds {
  /// Of an o whose weights are the same in all runs: |o^ - sum p^ v / sum p^| <= shared * sum p^
  /// |v| + lost * max |v|, before it is stored.
  double shared = 0;
  double lost = 0;  ///< underflow of P and of products, of max |v|
  /// The same of sum p^ v alone, for any one set of numbers p^.
  double values = 0, values_lost = 0;
  double stored = 0;    ///< rounding o to its format, relative
  double smallest = 0;  ///< and absolute
};
/// @param rescales R, or a bound of it.
SumBounds sum_bounds(const cases::Case& the_case, const Contract& contract, double rescales);

/// Bounds of one row against its exact output and LSE.
struct RowErrors {
  double output = 0;       ///< of o, relative to sum_j p_j |v_j|, before it is stored
  double lost = 0;         ///< and of max |v|
  double lse = 0;          ///< absolute
  double probability = 0;  ///< of exp(s_j - lse) as a backward pass computes it, relative
  double products = 0;     ///< bound of tau |q| max_j |k_j|
};

/// Whether row_errors has a bound for the bias: where its method has sizes (verdict/bias), and
/// without SSMax and DAPE.
bool has_row_errors(const cases::Spec& spec);

/// Of every row, [batch, heads, queries]. Every query must see the key at its own position.
/// @param of_a_selection that they hold for any selection of the keys.
std::vector<RowErrors> row_errors(const cases::Case& the_case, const Contract& contract,
                                  bool of_a_selection = false);

}  // namespace plumbline::verdict
