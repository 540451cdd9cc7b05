// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_OPS_CLAMP_CUH
#define PLUMBLINE_GPU_OPS_CLAMP_CUH

#include <cstddef>

#include "core/launch.cuh"

namespace plumbline::gpu {

/// x[n] = min(max(x[n], least), most) in place; NaN stays NaN. x [count] in device memory. Exact.
/// Throws std::invalid_argument for a null array and unless least <= most.
void clamp(const Stream& stream, float* x, std::size_t count, float least, float most);

}  // namespace plumbline::gpu

#endif
