// SPDX-License-Identifier: Apache-2.0
// NoPE, and CoPE, which has no bias before there are scores.
#pragma once

#include "reference/bias/nope.hpp"
#include "verdict/bias/derivatives.hpp"

namespace plumbline::verdict::bias {

struct Nope : Unanswered {
  template <class R>
  static auto reading(const HeadOf<R>&) {
    return reference::Nope<R>{};
  }
  static double error(const Pair&, double) { return 0.0; }
  static constexpr ZeroQuery of_zero_query = ZeroQuery::always;
  static constexpr bool has_sizes = true;
  static std::function<double(int)> plain(const Query&) {
    return [](int) { return 0.0; };
  }
};
inline void derivatives(const DerivativeRow&, const reference::Nope<RunningError>&) {}

/// Its products of q with a table are added by CaseReading::added.
struct Cope : Unanswered {
  template <class R>
  static auto reading(const HeadOf<R>&) {
    return reference::Nope<R>{};
  }
  static double error(const Pair&, double) { return 0.0; }
  static constexpr ZeroQuery of_zero_query = ZeroQuery::always;
};

}  // namespace plumbline::verdict::bias
