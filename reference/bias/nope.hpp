// SPDX-License-Identifier: Apache-2.0
// NoPE: no positional bias. Source: BAM, section 2.2 (a uniform prior over positions).
#pragma once

#include "reference/core/real.hpp"

namespace plumbline::reference {

/// b_ij = 0.
template <Real R>
struct Nope {
  struct Grad {};  ///< no parameters

  R operator()(int, int) const { return R(0.0); }
  Grad zero_grad() const { return {}; }
  void accumulate_grad(Grad&, int, int, const R&) const {}
};

}  // namespace plumbline::reference
