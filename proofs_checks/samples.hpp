// SPDX-License-Identifier: Apache-2.0
// The points at which the claims are examined: planted ones first, then generated ones.
#pragma once

#include <vector>

#include "proofs_checks/claim.hpp"

namespace plumbline::proofs_checks {

/// A content score f_j and a positional score g_j for each of n keys.
Sample scores(std::vector<double> f, std::vector<double> g);

/// Pairs of score vectors: 2 keys, equal and constant scores, opposed peaks, a positional score
/// that falls linearly; then `generated` pairs of 2 to 9 keys, all multiples of 1/64 in [-8, 8].
/// The scores are finite and exact in every reading. With `also_one_key`, one key as well.
std::vector<Sample> score_pairs(bool also_one_key, int generated = 60);

/// CABLE: increments x_k >= 0 ("f") and one gain g > 0 of the query ("g"), multiples of 1/64.
/// The increments contain zeros unless `positive`.
std::vector<Sample> increments_and_gains(bool positive, int generated = 60);

}  // namespace plumbline::proofs_checks
