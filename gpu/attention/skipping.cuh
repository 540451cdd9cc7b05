// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_ATTENTION_SKIPPING_CUH
#define PLUMBLINE_GPU_ATTENTION_SKIPPING_CUH

#include "attention/key_tile.cuh"
#include "attention/skipped_mass.cuh"

namespace plumbline::gpu {

/// Which tiles of keys no row needs. By Cauchy and Schwarz
///   s_ij <= c_i (|scale| |q_i| |k_j| + b_ij)   for c_i >= 0,
/// so where the right side is below m_i - ln n_i - 10, m_i the largest logit seen so far and n_i at
/// least the number of keys that the row sees, key j has a probability below e^-10 / n_i, and all
/// keys left out together below e^-10. The norms are taken 0.01 % too large, which covers their own
/// rounding; that of the logits has the rest up to 2^-14, a factor of 1.34.
struct SkipTest {
  int* warps;  // [4]: whether a row of the warp needs the tile

  static constexpr int kWarps = kTileThreads / static_cast<int>(kWarpSize);

  __device__ SkipTest(SharedMemory& shared, bool used)
      : warps(shared.take<int>(used ? kWarps : 0)) {}

  static constexpr std::size_t bytes(bool used) { return shared_bytes<int>(used ? kWarps : 0); }

  /// |scale| |q_i|, from above. The queries must be there.
  template <int D, class Bias>
  __device__ static float query_length(const Tile<D>& tile, const Problem& problem,
                                       const TileRow<Bias>& row) {
    float square = kLostSquares;
    for (int d = 0; d < D; ++d) {
      const float x = tile.q[row.row_in_tile * Tile<D>::kQueryStride + d];
      square += x * x;
    }
    return kNormFactor * fabsf(problem.scale) * sqrtf(square);
  }

  /// The same for all threads of the block. What `bias` knows of the tile must be there.
  template <class Bias>
  __device__ bool needed(const BiasTile<Bias>& bias, const Problem& problem,
                         const typename Bias::Params& params, const TileRow<Bias>& row,
                         const float* key_norms, float length, float maximum, int begin) const {
    const float threshold =
        maximum - logf(static_cast<float>(row.range.end - row.range.begin)) - kSkippedLogit;
    const std::size_t first = problem.key_start(row.b, row.head, begin, 1);
    int any = 0;
    for (int n = 0; n < kKeysPerLane; ++n) {
      const int key = row.lane_in_row * kKeysPerLane + n;
      if (!problem.sees(row.range, row.at(), begin + key)) continue;
      const float bound =
          row.factor * (length * key_norms[first + key] +
                        bias.value(params, row.head, row.bias, row.row_in_tile, key));
      if (!(row.factor >= 0.0f && bound < threshold)) any = 1;  // NaN is needed too
    }
    any = butterfly<1, 2, 4, 8, 16>(any, [](int a, int b) { return a | b; });
    const int thread = static_cast<int>(threadIdx.x);
    if (thread % static_cast<int>(kWarpSize) == 0)
      warps[thread / static_cast<int>(kWarpSize)] = any;
    __syncthreads();
    for (int warp = 0; warp < kWarps; ++warp) any |= warps[warp];
    return any != 0;
  }
};

}  // namespace plumbline::gpu

#endif
