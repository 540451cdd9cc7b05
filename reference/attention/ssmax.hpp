// SPDX-License-Identifier: Apache-2.0
// Scalable softmax. Source: BAM, section 2.4 and appendix H.4, after Nakanishi, arXiv:2501.19399.
#pragma once

#include "reference/core/preconditions.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::reference {

/// c = s ln n, which multiplies the whole logit, scaled product and bias. n is the number of keys
/// that the row sees; s is learned, per head. Derivative in s: ln n.
/// Source: BAM, section 2.4, z_i -> n^(s z_i) / sum_j n^(s z_j).
/// @throws std::invalid_argument if n < 1.
template <Real R>
R ssmax_factor(const R& s, int n) {
  require(n >= 1, "n", n, "at least 1 visible key");
  return s * log(R(n));
}

}  // namespace plumbline::reference
