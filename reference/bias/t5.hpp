// SPDX-License-Identifier: Apache-2.0
// T5: a learned number for each bucket of distances. Source: CABLE, section 2, "T5-bias", after
// Raffel et al., "Exploring the Limits of Transfer Learning", section 2.1.
#pragma once

#include <concepts>

#include "reference/bias/t5_buckets.hpp"
#include "reference/core/linear_algebra.hpp"

namespace plumbline::reference {

/// A row of a table for every pair of positions.
template <class I>
concept RelativeRow = requires(const I& row, int i, int j) {
  { row.rows() } -> std::same_as<int>;
  { row(i, j) } -> std::same_as<int>;
};

template <Real R>
struct RelativeTableGrad {
  Vector<R> table;  ///< [rows]
};

/// b_ij = table[row(i, j)]. Shape: table [rows], per head. Exact.
/// @throws std::invalid_argument if the table has not as many rows as `row` names.
template <Real R, RelativeRow Row>
class RelativeTable {
 public:
  RelativeTable(const Vector<R>& table, const Row& row) : table_(table), row_(row) {
    require(table.size() == row.rows(), "table.size()", table.size(), "the number of rows");
  }

  using Grad = RelativeTableGrad<R>;

  R operator()(int i, int j) const { return table_[row_(i, j)]; }

  Grad zero_grad() const { return {zeros<R>(row_.rows())}; }

  /// d b_ij: d table[row(i, j)] = 1.
  void accumulate_grad(Grad& grad, int i, int j, const R& grad_bias) const {
    grad.table[row_(i, j)] += grad_bias;
  }

 private:
  Vector<R> table_;
  Row row_;
};

/// T5's own bias, causal or bidirectional. T5 does not scale q . k (its scale is 1); the baselines
/// of CABLE do.
template <Real R>
using T5 = RelativeTable<R, T5Buckets>;

/// b_ij = r_min(i-j, K): CABLE, section 2.
template <Real R>
using T5Clipped = RelativeTable<R, ClippedDistance>;

/// What CABLE's code runs as its T5 baseline.
template <Real R>
using T5ClippedOffset = RelativeTable<R, ClippedOffset>;

}  // namespace plumbline::reference
