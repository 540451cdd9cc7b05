// SPDX-License-Identifier: Apache-2.0
// A plain run in the case's format, as a framework's operations make it one after the other: what
// FlashAttention's tests measure an allowance with.
#pragma once

#include "tests/faults/judge/kernel.hpp"

namespace plumbline::bench {

/// o, dQ, dK and dV, every intermediate tensor stored in the case's format; softmax in float.
/// Follows attention_ref(..., upcast=False, reorder_ops=True) of FlashAttention's tests.
Results<double> in_same_precision(const cases::Case& the_case);

}  // namespace plumbline::bench
