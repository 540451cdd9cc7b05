// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_BIAS_ALIBI_CUH
#define PLUMBLINE_GPU_BIAS_ALIBI_CUH

#include <cstdlib>

#include "bias/policy.cuh"

namespace plumbline::gpu {

/// ALiBi (Press et al., ICLR 2022, section 3), symmetric form: b_ij = -m_h |i - j|.
/// |i - j| is exact in fp32 up to 2^24, so the bias carries one rounding.
struct Alibi {
  struct Params {
    const float* slopes;
  };
  struct Row {
    float slope;
  };

  static Params params(const BiasInputs& inputs) { return {inputs.slopes}; }

  __device__ static Row load_row(const Params& p, const At& at) { return {p.slopes[at.head]}; }

  __device__ static float add(const Params&, const Row& row, float x, const At& at) {
    return x - row.slope * static_cast<float>(abs(at.position - at.key));
  }
};
static_assert(BiasPolicy<Alibi>);

}  // namespace plumbline::gpu

#endif
