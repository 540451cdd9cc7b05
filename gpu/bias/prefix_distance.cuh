// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_BIAS_PREFIX_DISTANCE_CUH
#define PLUMBLINE_GPU_BIAS_PREFIX_DISTANCE_CUH

#include <cstddef>

#include "bias/policy.cuh"

namespace plumbline::gpu {

/// The contextual distance |S_i - S_j| of the CABLE family.
///
/// S grows with the length while neighbours stay close, so in fp32 the difference would lose its
/// leading digits. It is formed in double per pair and rounded to fp32 once: relative error u.
/// Neither S recentred per key tile nor a pair of floats keeps that where increments of very
/// different size meet in a tile, and one subtraction in double beside the 2D multiply-adds of a
/// pair costs little where double runs at half the rate of float (sm_80, sm_90).
struct PrefixDistance {
  const double* sums;  // of this batch and head, one per key
  double own;          // S_i

  __device__ static PrefixDistance load(const double* prefix_sum, int heads, int keys,
                                        const At& at) {
    const double* sums = prefix_sum + (static_cast<std::size_t>(at.batch) * heads + at.head) * keys;
    return {sums, sums[at.position]};
  }

  __device__ float to(int key) const { return static_cast<float>(fabs(own - sums[key])); }
};

/// g_i of gain [batch, heads, queries].
__device__ inline float load_gain(const float* gain, int heads, int queries, const At& at) {
  return gain[(static_cast<std::size_t>(at.batch) * heads + at.head) * queries + at.row];
}

}  // namespace plumbline::gpu

#endif
