// SPDX-License-Identifier: Apache-2.0
// Attention at real size: reference/attention/attention.hpp in double, streaming over tiles of
// keys. How far it may be from the equations is derived in docs/blocked.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/blocked/problem.hpp"

namespace plumbline::reference::blocked {

/// Row n belongs to query row n, or to the n-th of the rows that were asked for.
struct Attended {
  std::vector<Matrix<double>> output;  ///< [batch * heads], each [rows, head_dim]
  std::vector<Vector<double>> lse;     ///< [batch * heads], each [rows]; natural logarithm
  /// [batch * heads], each [rows]: 1 where a row sees no key. Its output and lse are 0.
  std::vector<std::vector<std::uint8_t>> sees_no_key;
};

/// o_i = sum_j p_ij v_j and lse_i for every query row. Definition and sources: attention_row,
/// attention/attention.hpp. Memory besides the result: O(queries + keys + threads * tile). The bits
/// depend on the instruction set and on Eigen's view of the caches, not on the number of threads.
/// @throws std::invalid_argument as check, and as the biases throw.
Attended attention(const Problem& problem);

/// The same for the chosen query rows of every head, in the given order. A row's bits may differ
/// from those of the whole, by no more than both bounds.
/// @throws std::invalid_argument also for a row that does not exist.
Attended attention_rows(const Problem& problem, std::span<const int> rows);

}  // namespace plumbline::reference::blocked
