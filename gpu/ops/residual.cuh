// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_OPS_RESIDUAL_CUH
#define PLUMBLINE_GPU_OPS_RESIDUAL_CUH

#include <cstddef>

#include "core/launch.cuh"

namespace plumbline::gpu {

/// y[n] = x[n] + update[n]: the residual stream after a layer, and the gradient where the stream
/// branches. Element is float, bfloat16 or float16; the sum is rounded to fp32, then to the format.
/// All [count] in device memory; y may be the same array as either.
/// Throws std::invalid_argument for a null array.
template <class Element>
void add(const Stream& stream, const Element* x, const Element* update, Element* y,
         std::size_t count);

}  // namespace plumbline::gpu

#endif
