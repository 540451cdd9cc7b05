// SPDX-License-Identifier: Apache-2.0
// Rung 3, fused forward: one pass over the keys (Dao et al., FlashAttention, algorithm 1). The
// maximum is that of the keys seen so far; when a tile raises it, the sum and the output gathered
// before are rescaled by exp(old - new).
#ifndef PLUMBLINE_GPU_ATTENTION_3_FUSED_FORWARD_CUH
#define PLUMBLINE_GPU_ATTENTION_3_FUSED_FORWARD_CUH

#include "attention/key_tile.cuh"
#include "attention/rungs.cuh"

namespace plumbline::gpu {

namespace fused {

template <int D, class Bias>
__global__ void __launch_bounds__(kTileThreads, kTileBlocks)
    forward_kernel(Problem problem, Outputs outputs, typename Bias::Params params) {
  SharedMemory shared;
  const Tile<D> tile(shared);
  const BiasTile<Bias> bias(shared);
  const TileRow<Bias> row(problem, params);
  const KeyRange keys = row.block_range;
  load_queries(tile, problem);

  OutputQuarter<D> output;
  float maximum = -INFINITY;
  float sum = 0.0f;  // of this lane's keys; the four lanes share the maximum, so it adds up
  for (int begin = keys.begin; begin < keys.end; begin += kTileKeys) {
    __syncthreads();  // all are done with the tile before
    load_keys(tile, problem, begin, keys.end);
    bias.load(params, row.at(), row.first_position, begin, keys.end);
    load_values(tile, problem, begin, keys.end);
    __syncthreads();

    const TileLogits logits(tile, bias, problem, params, row, begin);
    const float old_maximum = maximum;
    maximum = fmaxf(maximum, row_maximum(logits.maximum()));
    const float shift = finite_shift(maximum);
    const float rescale = expf(old_maximum - shift);  // 0 at the first key seen
    sum *= rescale;
    output.rescale(rescale);

    sum += store_probabilities(tile, logits, row, shift);
    __syncwarp();  // the row's four lanes have written P
    output.accumulate(tile, row);
  }
  output.write(problem, outputs, row, maximum, row_sum(sum));
}

struct Rung {
  template <int D, class Bias>
  static void run(const Stream& stream, const Task& task, const Outputs& outputs) {
    launch(stream, tile_launch(task.problem, Tile<D>::bytes() + BiasTile<Bias>::bytes()),
           forward_kernel<D, Bias>, task.problem, outputs, Bias::params(task.bias));
  }
};

}  // namespace fused

}  // namespace plumbline::gpu

#endif
