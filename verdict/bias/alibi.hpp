// SPDX-License-Identifier: Apache-2.0
// ALiBi.
#pragma once

#include <cstdlib>

#include "reference/bias/alibi.hpp"
#include "verdict/bias/derivatives.hpp"

namespace plumbline::verdict::bias {

struct Alibi : Unanswered {
  template <class R>
  static auto reading(const HeadOf<R>& of) {
    return reference::Alibi<R>{of.parameter(PLUMBLINE_SLOPES)};
  }
  /// The product m |i - j|, the distance exact; up to three more roundings where the kernel folds
  /// log2 e into the slope.
  static double error(const Pair&, double bias) { return 4 * u * std::abs(bias); }
  static constexpr ZeroQuery of_zero_query = ZeroQuery::with_its_own_key_alone;
  static constexpr bool has_sizes = true;
  static BiasSizes sizes(const Query&, const Contract&) { return {.relative = 4 * u}; }
  static std::function<double(int)> plain(const Query& q) {
    return [i = q.position(), slope = q.parameter(PLUMBLINE_SLOPES)](int j) {
      return -slope * std::abs(i - j);
    };
  }
};
/// The slopes are constants.
inline void derivatives(const DerivativeRow&, const reference::Alibi<RunningError>&) {}
inline void derivatives(const DerivativeRow&, const reference::AlibiKeyPosition<RunningError>&) {}

}  // namespace plumbline::verdict::bias
