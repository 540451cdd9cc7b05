// SPDX-License-Identifier: Apache-2.0
// A tensor of biases: exact but for log2 e, which may be folded in.
#pragma once

#include "reference/bias/bias_tensor.hpp"
#include "verdict/bias/derivatives.hpp"

namespace plumbline::verdict::bias {

struct BiasTensor : Unanswered {
  /// Of one query: a single row.
  template <class R>
  static auto reading(const HeadOf<R>& of) {
    return reference::BiasTensor<R>{of.tensor_row()};
  }
  static double error(const Pair&, double bias) { return 2 * u * std::abs(bias); }
  static constexpr bool has_sizes = true;
  static BiasSizes sizes(const Query& q, const Contract&) {
    const auto keys = static_cast<std::size_t>(q.the_case.spec.keys);
    return {.largest = largest_size(q.the_case[PLUMBLINE_TENSOR], first(q), keys),
            .relative = 2 * u};
  }
  static std::function<double(int)> plain(const Query& q) {
    return [row = q.the_case[PLUMBLINE_TENSOR].data() + first(q)](int j) { return double{row[j]}; };
  }

 private:
  static std::size_t first(const Query& q) {
    return cases::first_of_row(q.the_case.spec, q.the_case.options, q.batch, q.head, q.query);
  }
};

/// 1 for the number of the pair, exactly.
inline void derivatives(const DerivativeRow& row, const reference::BiasTensor<RunningError>&) {
  const cases::Case& c = row.the_case;
  row.result.pairs =
      cases::first_of_row_in_head(c.spec, c.options, row.position - c.first_position(row.batch));
}

}  // namespace plumbline::verdict::bias
