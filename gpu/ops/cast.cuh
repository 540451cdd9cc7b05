// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_OPS_CAST_CUH
#define PLUMBLINE_GPU_OPS_CAST_CUH

#include <cstddef>

#include "core/launch.cuh"

namespace plumbline::gpu {

/// result[n] = x[n] in another format: from fp32 rounded to nearest, ties to even, beyond the
/// largest number to infinity; to fp32 exactly. One of the two is float, the other bfloat16 or
/// float16. Both [count] in device memory, apart from each other.
/// Throws std::invalid_argument for a null array.
template <class From, class To>
void cast(const Stream& stream, const From* x, To* result, std::size_t count);

}  // namespace plumbline::gpu

#endif
