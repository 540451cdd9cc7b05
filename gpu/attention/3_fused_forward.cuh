// SPDX-License-Identifier: Apache-2.0
// Variant 3, fused forward: one pass over the keys (Dao et al., FlashAttention, algorithm 1). The
// maximum is that of the keys seen so far; when a tile raises it, the sum and the output gathered
// before are rescaled by exp(old - new).
//
// With Skipping the tiles come from the last to the first, so that a causal row sees its nearest
// keys first, and a tile is left out where no row needs it (skipping.cuh).
#ifndef PLUMBLINE_GPU_ATTENTION_3_FUSED_FORWARD_CUH
#define PLUMBLINE_GPU_ATTENTION_3_FUSED_FORWARD_CUH

#include "attention/key_tile.cuh"
#include "attention/skipping.cuh"
#include "attention/variants.cuh"

namespace plumbline::gpu {

namespace fused {

/// `key_norms` is read with Skipping alone.
template <int D, class Bias, bool Skipping>
__global__ void __launch_bounds__(kTileThreads, Skipping ? kTileBlocks - 1 : kTileBlocks)
    forward_kernel(Problem problem, Outputs outputs, typename Bias::Params params,
                   const float* key_norms) {
  SharedMemory shared;
  const Tile<D> tile(shared);
  const BiasTile<Bias> bias(shared);
  const SkipTest skip_test(shared, Skipping);
  const TileRow<Bias> row(problem, params);
  const KeyRange keys = row.block_range;
  load_queries(tile, problem);
  float length = 0.0f;
  if constexpr (Skipping) {
    __syncthreads();
    length = SkipTest::query_length(tile, problem, row);
  }

  LaneOutputs<D> output;
  float maximum = problem.first_maximum(row.head);
  // Of this lane's keys; the four lanes share the maximum, so it adds up.
  float sum = row.lane_in_row == 0 ? problem.first_sum() : 0.0f;
  const int tiles = (keys.end - keys.begin + kTileKeys - 1) / kTileKeys;
  for (int n = 0; n < tiles; ++n) {
    const int begin = keys.begin + (Skipping ? tiles - 1 - n : n) * kTileKeys;
    __syncthreads();  // all are done with the tile before
    bias.load(params, row.at(), row.first_position, begin, keys.end);
    if constexpr (Skipping) {
      __syncthreads();
      if (!skip_test.needed(bias, problem, params, row, key_norms, length, maximum, begin))
        continue;
    }
    load_keys(tile, problem, begin, keys.end);
    load_values(tile, problem, begin, keys.end);
    __syncthreads();

    const TileLogits logits(tile, bias, problem, params, row, begin);
    const float old_maximum = maximum;
    maximum = fmaxf(maximum, row_maximum(logits.maximum()));
    const float shift = finite_shift(maximum);
    const float rescale = expf(old_maximum - shift);  // 0 at the first key seen
    sum *= rescale;
    output.rescale(rescale);

    sum += store_probabilities(tile, logits, problem, row, begin, shift);
    __syncwarp();  // the row's four lanes have written P
    output.accumulate(tile, row);
  }
  output.write(problem, outputs, row, maximum, row_sum(sum));
}

template <bool Skipping>
struct Variant {
  template <int D, class Bias>
  static void run(const Stream& stream, const Task& task, const Outputs& outputs,
                  const float* const& key_norms) {
    launch(stream,
           tile_launch(task.problem,
                       Tile<D>::bytes() + BiasTile<Bias>::bytes() + SkipTest::bytes(Skipping)),
           forward_kernel<D, Bias, Skipping>, task.problem, outputs, Bias::params(task.bias),
           key_norms);
  }
};

}  // namespace fused

}  // namespace plumbline::gpu

#endif
