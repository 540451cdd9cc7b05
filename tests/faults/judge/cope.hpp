// SPDX-License-Identifier: Apache-2.0
// CoPE of plumbline_kernel.h as the campaign's kernel computes it, with its faults.
#pragma once

#include <vector>

#include "tests/faults/judge/problem.hpp"
#include "tests/faults/judge/variant.hpp"

namespace plumbline::bench {

/// A query row of one head, over its visible keys.
template <class Real>
struct CopeRow {
  std::vector<Real> scores;  ///< scale * q.k
  std::vector<Real> counts;  ///< sums of gates, not clamped
  std::vector<Real> z;       ///< q.E_n of every row of the table
};

template <class Real>
class Cope {
 public:
  Cope(const Problem& problem, const Variant& variant, const Fault& fault)
      : in_(problem), variant_(variant), fault_(fault) {}

  int positions() const { return static_cast<int>(in_.option(PLUMBLINE_POSITIONS)); }
  /// Row n of the head's table.
  const float* embedding(int head, int n) const;

  /// Fills counts from scores. @param hidden for each key what the gates of hidden keys from it on
  /// sum to, which count where that is the fault.
  void count(CopeRow<Real>& row, const std::vector<Real>& hidden) const;
  Real gate(Real score) const;
  /// What is added to score n.
  Real added(const CopeRow<Real>& row, std::size_t n) const;
  /// Turns gradients of the logits into those of the scores; returns those of z.
  std::vector<Real> grad(const CopeRow<Real>& row, std::vector<Real>& logits) const;

 private:
  /// Where a count lies in the table: between row and row + 1, or on the last row.
  struct At {
    int row;
    Real w;
    bool clamped;
  };
  At at(Real count) const;

  const Problem& in_;
  const Variant& variant_;
  const Fault& fault_;
};

}  // namespace plumbline::bench
