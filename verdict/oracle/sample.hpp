// SPDX-License-Identifier: Apache-2.0
// Which rows and heads of a case are judged against the oracle: all of them, or a sample of a large
// case.
#pragma once

#include <cstddef>
#include <vector>

#include "verdict/cases/spec.hpp"

namespace plumbline::verdict {

/// Products of a query's with a key's component, and of a probability with a value's: what a pass
/// takes, and what judging it takes. A backward pass counts as 4 of the forward pass's.
double work_of(const cases::Spec&);

/// Up to so much work a case is judged whole: a second or two of one processor.
inline constexpr double most_work_of_oracle = 0x1p27;

/// A function of the spec alone, so that a repeated case is judged in the same places.
class Sample {
 public:
  /// Everything, of specs read from a file and of those within most_work_of_oracle. Of others rows
  /// of every batch and query head, at and beside the boundaries of tiles and anywhere; and the
  /// gradients of some key heads with their query heads.
  /// @param most_work of what is judged, but for one key head at least.
  explicit Sample(const cases::Spec&, double most_work = most_work_of_oracle);

  bool whole() const { return whole_; }
  /// Numbers of the rows, counted along [batch, heads, queries], ascending.
  const std::vector<std::size_t>& rows() const { return rows_; }
  /// Whether the gradients of a key head, counted along [batch, kv_heads], are judged.
  bool has_key_head(int kv) const { return key_heads_[static_cast<std::size_t>(kv)]; }
  /// Whether those of a query head are, in all sequences.
  bool has_head_everywhere(int head) const;

 private:
  void choose_rows();
  void choose_key_heads();

  cases::Spec spec_;
  double most_work_;
  bool whole_ = true;
  std::vector<std::size_t> rows_;
  std::vector<bool> key_heads_;
};

}  // namespace plumbline::verdict
