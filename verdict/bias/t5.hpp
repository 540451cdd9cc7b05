// SPDX-License-Identifier: Apache-2.0
// T5's tables, in its four forms. Their derivatives are DerivativeRow::table.
#pragma once

#include <algorithm>
#include <cmath>

#include "reference/bias/t5.hpp"
#include "verdict/bias/derivatives.hpp"

namespace plumbline::verdict::bias {

struct Table : Unanswered {
  /// The number itself, perhaps with log2 e folded in.
  static double error(const Pair&, double bias) { return 2 * u * std::abs(bias); }
  static constexpr bool has_sizes = true;
  static BiasSizes sizes(const Query& q, const Contract&) {
    const auto& table = q.the_case[PLUMBLINE_TABLE];
    const std::size_t rows = table.size() / q.the_case.spec.heads;
    return {.largest = largest_size(table, q.head * rows, rows), .relative = 2 * u};
  }
};

/// Also the bidirectional form.
struct T5 : Table {
  template <class R>
  static auto reading(const HeadOf<R>& of) {
    return reference::T5<R>(of.table(), of.buckets());
  }
};

/// b_ij of the clipped forms: the distance from `least` to `largest`.
inline std::function<double(int)> of_clipped(const Query& q, bool both) {
  const auto& table = q.the_case[PLUMBLINE_TABLE];
  const float* of_head = table.data() + table.size() / q.the_case.spec.heads * q.head;
  const int largest = static_cast<int>(q.the_case.options[PLUMBLINE_LARGEST]);
  return [=, i = q.position()](int j) {
    const int distance = std::clamp(i - j, both ? -largest : 0, largest);
    return double{of_head[both ? largest + distance : distance]};
  };
}

struct T5Clipped : Table {
  template <class R>
  static auto reading(const HeadOf<R>& of) {
    return reference::T5Clipped<R>(of.table(), reference::ClippedDistance(of.largest()));
  }
  static std::function<double(int)> plain(const Query& q) { return of_clipped(q, false); }
};

struct T5ClippedOffset : Table {
  template <class R>
  static auto reading(const HeadOf<R>& of) {
    return reference::T5ClippedOffset<R>(of.table(), reference::ClippedOffset(of.largest()));
  }
  static std::function<double(int)> plain(const Query& q) { return of_clipped(q, true); }
};

template <reference::RelativeRow Rows>
void derivatives(const DerivativeRow&, const reference::RelativeTable<RunningError, Rows>&) {}

}  // namespace plumbline::verdict::bias
