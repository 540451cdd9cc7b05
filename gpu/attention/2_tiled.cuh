// SPDX-License-Identifier: Apache-2.0
// Variant 2, tiled: keys and values come through shared memory, a tile of 32 at a time, and serve
// 32 queries. Still two passes over the keys: the first finds each row's maximum, the second
// computes the logits again and sums.
#ifndef PLUMBLINE_GPU_ATTENTION_2_TILED_CUH
#define PLUMBLINE_GPU_ATTENTION_2_TILED_CUH

#include "attention/key_tile.cuh"
#include "attention/variants.cuh"

namespace plumbline::gpu {

namespace tiled {

template <int D, class Bias>
__global__ void __launch_bounds__(kTileThreads, kTileBlocks)
    forward_kernel(Problem problem, Outputs outputs, typename Bias::Params params) {
  SharedMemory shared;
  const Tile<D> tile(shared);
  const BiasTile<Bias> bias(shared);
  const TileRow<Bias> row(problem, params);
  const KeyRange keys = row.block_range;
  load_queries(tile, problem);

  float maximum = problem.first_maximum(row.head);
  for (int begin = keys.begin; begin < keys.end; begin += kTileKeys) {
    __syncthreads();  // all are done with the tile before
    load_keys(tile, problem, begin, keys.end);
    bias.load(params, row.at(), row.first_position, begin, keys.end);
    __syncthreads();
    maximum = fmaxf(maximum, TileLogits(tile, bias, problem, params, row, begin).maximum());
  }
  maximum = row_maximum(maximum);
  const float shift = finite_shift(maximum);

  LaneOutputs<D> output;
  float sum = problem.sinks && row.lane_in_row == 0 ? expf(problem.sinks[row.head] - shift) : 0.0f;
  for (int begin = keys.begin; begin < keys.end; begin += kTileKeys) {
    __syncthreads();
    load_keys(tile, problem, begin, keys.end);
    bias.load(params, row.at(), row.first_position, begin, keys.end);
    load_values(tile, problem, begin, keys.end);
    __syncthreads();
    const TileLogits logits(tile, bias, problem, params, row, begin);
    sum += store_probabilities(tile, logits, problem, row, begin, shift);
    __syncwarp();  // the row's four lanes have written P
    output.accumulate(tile, row);
  }
  output.write(problem, outputs, row, maximum, row_sum(sum));
}

struct Variant {
  template <int D, class Bias>
  static void run(const Stream& stream, const Task& task, const Outputs& outputs) {
    launch(stream, tile_launch(task.problem, Tile<D>::bytes() + BiasTile<Bias>::bytes()),
           forward_kernel<D, Bias>, task.problem, outputs, Bias::params(task.bias));
  }
};

}  // namespace tiled

}  // namespace plumbline::gpu

#endif
