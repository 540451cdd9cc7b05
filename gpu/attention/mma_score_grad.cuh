// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_ATTENTION_MMA_SCORE_GRAD_CUH
#define PLUMBLINE_GPU_ATTENTION_MMA_SCORE_GRAD_CUH

#include "attention/mma_bias.cuh"
#include "core/exp2.cuh"

namespace plumbline::gpu {

namespace mma_kernels {

/// p_ij = 2^(product_factor q.k + bias_factor b_ij - lse2), all in units of log2 as in
/// make_logits(): e^(s_ij - lse_i).
template <class Bias>
__device__ __forceinline__ float probability(float product_factor, float product, float bias_factor,
                                             float b, float lse2) {
  if constexpr (std::is_same_v<Bias, Nope>)
    return exp2_approximate(product_factor * product - lse2);
  else
    return exp2_approximate(product_factor * product + bias_factor * b - lse2);
}

}  // namespace mma_kernels

}  // namespace plumbline::gpu

#endif
