// SPDX-License-Identifier: Apache-2.0
// What correct roundings of P and dZ can add to the drift of dQ, dK and dV (docs/bounds.md).
#pragma once

#include <span>

#include "verdict/bounds/head_products.hpp"
#include "verdict/judge/drift.hpp"

namespace plumbline::verdict {

/// For every pair of a query and a key, [queries, keys].
struct PairRoundings {
  Numbers random, systematic;
};
PairRoundings roundings_of_p(const Contract& contract, const HeadPairs& pairs);
PairRoundings roundings_of_z(const Contract& contract, const HeadPairs& pairs);

/// The weights of elements, [rows, columns], which are written into them too. A row that `left_out`
/// names gets 0.
Numbers drift_weights(cases::Format format, int rows, int columns,
                      const std::vector<bool>& left_out, OracleNumber* elements);

/// Of the sums' accumulation and of the rounding to the format they are stored in.
/// @param magnitude of the computed terms of each element; @param additions that its row takes.
Drift drift_of_sums(const Contract& contract, cases::Format format, const Numbers& weights,
                    const Numbers& values, const Numbers& magnitude,
                    std::span<const double> additions);

/// Of the roundings of a pair's number y_ij, where the elements' sums are scale y X or scale y^T X:
/// an error e_ij adds scale e_ij (A B^T)_ij, A and B being X and the weights, by query and by key.
Drift drift_of_pairs(const PairRoundings& roundings, const Numbers& A, const Numbers& B,
                     double scale);

}  // namespace plumbline::verdict
