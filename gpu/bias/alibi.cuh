// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_BIAS_ALIBI_CUH
#define PLUMBLINE_GPU_BIAS_ALIBI_CUH

#include "core/cuda.cuh"

namespace plumbline::gpu {

/// ALiBi (Press et al., ICLR 2022, section 3), symmetric form: b = -m_h |i - j|. The distance is
/// exact in fp32 up to 2^24, so the bias carries one rounding. The slope is a constant.
struct Alibi {
  float slope;

  __device__ float value(float offset) const { return -slope * fabsf(offset); }
};

}  // namespace plumbline::gpu

#endif
