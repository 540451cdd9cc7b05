// SPDX-License-Identifier: Apache-2.0
// GELU and its derivative as fp32 computes them, for an exact x. Derived in docs/bounds-ops.md,
// section "GELU".
#pragma once

#include "verdict/bounds/ops/computed.hpp"

namespace plumbline::op_bounds {

Computed gelu_tanh(double x);
Computed gelu_tanh_derivative(double x);
Computed gelu_erf(double x);
Computed gelu_erf_derivative(double x);

}  // namespace plumbline::op_bounds
