// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_OPS_CLAMP_CUH
#define PLUMBLINE_GPU_OPS_CLAMP_CUH

#include <cstddef>

#include "core/launch.cuh"

namespace plumbline::gpu {

/// x[n] = min(max(x[n], least), most) in place; NaN stays NaN. x [count] in device memory. Exact.
/// `grad_factor` is that of the optimizer's step before it, or null: where it is NaN, nothing is
/// changed.
/// Throws std::invalid_argument for a null array and unless least <= most.
void clamp(const Stream& stream, float* x, std::size_t count, float least, float most,
           const float* grad_factor = nullptr);

}  // namespace plumbline::gpu

#endif
