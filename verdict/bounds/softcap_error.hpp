// SPDX-License-Identifier: Apache-2.0
// What a softcap makes of a score's error, and the error of its derivative. Derived in
// docs/bounds.md, "The softcap".
#pragma once

#include "verdict/judge/contract.hpp"

namespace plumbline::verdict {

/// Of one key: A = cap T, T = tanh(x / cap), x = tau q.k.
struct SoftcapErrors {
  double slope = 1;  ///< |dA/dx| at most, at any number that the kernel may have for x
  double added = 0;  ///< error of A beside slope times x's own; infinite where that is
  double derivative = 1, derivative_error = 0;  ///< 1 - T^2, and of a kernel's
};

/// @param cap above 0; @param x exact; @param x_error bound of a kernel's x.
SoftcapErrors softcap_errors(const Contract& contract, double cap, double x, double x_error);

}  // namespace plumbline::verdict
