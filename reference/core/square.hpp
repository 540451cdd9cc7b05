// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/core/primitives.hpp"

namespace plumbline::reference {

/// x^2, as |x| |x|: an enclosure of x around 0 then has no negative squares. Derivative: 2x.
template <Real R>
R square(const R& x) {
  return absolute(x) * absolute(x);
}

}  // namespace plumbline::reference
