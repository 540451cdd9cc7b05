// SPDX-License-Identifier: Apache-2.0
// The mask tensor of a generated case.
#include <algorithm>

#include "support/draw.hpp"
#include "verdict/cases/bias_parameters.hpp"
#include "verdict/cases/tensor_shapes.hpp"

namespace plumbline::cases {
namespace {

/// One [queries, keys] of the tensor. Query row r stands at position r + query_offset, whatever the
/// lengths: sequences may share it.
class PatternOf {
 public:
  /// @param which its number, counted over batch and heads
  PatternOf(const Spec& spec, std::uint64_t which)
      : spec_(spec),
        draw_(spec.seed, static_cast<std::uint64_t>(Stream::mask)),
        base_(which * per_tensor),
        tile_(4 << draw_.below(base_, 5)),
        prefix_(1 + static_cast<int>(draw_.below(base_ + 1, spec.keys))) {
    if (spec.mask.pattern == Pattern::tree) grow_tree();
  }

  bool sees(int row, int key) const {
    const int i = row + spec_.query_offset;
    switch (spec_.mask.pattern) {
      case Pattern::prefix:
        return key < prefix_ || key <= i;
      case Pattern::chunks:
        return i >= 0 && key / tile_ == i / tile_;
      case Pattern::blocks:
        return one_in_two(row / tile_, key / tile_);
      case Pattern::tree:
        return key < first_node_ ? true : is_ancestor(key - first_node_, i - first_node_);
      case Pattern::scattered:
        return draw_.below(base_ + 2 + row, 8) != 0 && one_in_two(row, key);
      case Pattern::sink_tokens:
        return key <= static_cast<int>(draw_.below(base_ + 1, 4)) || i - key < tile_;
      case Pattern::none:
      case Pattern::file:
        break;
    }
    return true;
  }

 private:
  static constexpr std::uint64_t per_tensor = std::uint64_t{1} << 40, of_pairs = per_tensor / 2;

  bool one_in_two(int a, int b) const {
    return draw_.below(base_ + of_pairs + static_cast<std::uint64_t>(a) * spec_.keys + b, 2) == 0;
  }

  /// The last tokens, at most 64 of them, are nodes; each but the first follows an earlier one.
  void grow_tree() {
    const int nodes = std::min({spec_.keys, spec_.queries, 64});
    first_node_ = spec_.keys - nodes;
    for (int n = 0; n < nodes; ++n) {
      parent_.push_back(n == 0 ? -1 : static_cast<int>(draw_.below(base_ + 2 + n, n)));
    }
  }
  /// Of a node, or of a row before the tree (none) or beyond the keys (all of it).
  bool is_ancestor(int node, int of) const {
    if (of >= static_cast<int>(parent_.size())) return true;
    while (of > node) of = parent_[of];
    return of == node;
  }

  const Spec& spec_;
  Draw draw_;
  std::uint64_t base_;
  int tile_, prefix_, first_node_ = 0;
  std::vector<int> parent_;
};

}  // namespace

void draw_mask_tensor(Case& c) {
  const Spec& spec = c.spec;
  if (spec.mask.pattern == Pattern::none) return;
  const Shape shape = mask_shape(spec);
  c.mask.reserve(static_cast<std::size_t>(elements(shape)));
  for (std::int64_t which = 0; which < shape[0] * shape[1]; ++which) {
    const PatternOf pattern(spec, static_cast<std::uint64_t>(which));
    for (int row = 0; row < spec.queries; ++row) {
      for (int key = 0; key < spec.keys; ++key) c.mask.push_back(pattern.sees(row, key) ? 1 : 0);
    }
  }
}

}  // namespace plumbline::cases
