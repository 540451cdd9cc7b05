// SPDX-License-Identifier: Apache-2.0
// What blocked attention works on: as AttentionInputs, but for sizes at which nothing is copied.
#pragma once

#include <span>
#include <vector>

#include "reference/attention/attention.hpp"
#include "reference/blocked/kernels.hpp"
#include "reference/scalars/double.hpp"

namespace plumbline::reference::blocked {

/// The inputs of attention. Nothing is owned: matrices and biases must outlive the problem.
struct Problem {
  AttentionShape shape;
  std::vector<Stored> q;     ///< [batch * heads], each [queries, head_dim]
  std::vector<Stored> k, v;  ///< [batch * kv_heads], each [keys, head_dim]
  double scale = 1.0;
  Mask mask;
  std::vector<double> ssmax_scale;    ///< [heads], or empty: no SSMax
  std::vector<const TileBias*> bias;  ///< [batch * heads], null for none; or empty: none
  int threads = 0;  ///< 0: as many as the machine has; results do not depend on it
};

/// The same problem, without its bias.
Problem problem_of(const AttentionInputs<double>& inputs);

/// @throws std::invalid_argument naming the first argument that does not fit: sizes as for the
/// equations (attention/attention.hpp), every position's mask, q, k and v finite, threads >= 0,
/// biases that reach over the problem.
void check(const Problem& problem);

/// Query rows of a sequence and what the mask says of them.
struct ChosenRows {
  std::vector<int> row, position;
  std::vector<KeyRange> visible;
  std::vector<double> log_count;  ///< empty without SSMax

  /// Blocks of at most `size` rows, size <= row_tile.
  int blocks(int size = row_tile) const;
  /// Block n of them, with the SSMax scale of a head.
  QueryRows block(int n, double ssmax_scale, int size = row_tile) const;
};

/// @throws std::invalid_argument for a row that is not one of the problem's.
ChosenRows choose_rows(const Problem& problem, int batch, std::span<const int> rows);

/// Head h of sequence b.
Head head_of(const Problem& problem, int b, int h);

/// 0, 1, ..., count - 1.
std::vector<int> first_numbers(int count);

}  // namespace plumbline::reference::blocked
