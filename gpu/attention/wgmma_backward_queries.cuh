// SPDX-License-Identifier: Apache-2.0
// The backward pass over queries for Hopper: the arithmetic of mma_backward_queries.cuh with
// products by wgmma and copies by TMA, for 128 queries a block and 64 keys at a time
// (wgmma_memory.cuh). The products are S = Q K' and dP = dO V' of a tile, and dQ += dZ K of the one
// before, with dZ in registers. Without gradients of heads' parameters, SSMax, and additions to
// keys. For compute_90a alone.
#ifndef PLUMBLINE_GPU_ATTENTION_WGMMA_BACKWARD_QUERIES_CUH
#define PLUMBLINE_GPU_ATTENTION_WGMMA_BACKWARD_QUERIES_CUH

#include "attention/backward_kernels.cuh"
#include "attention/mma_query_grads.cuh"
#include "attention/wgmma_consumers.cuh"
#include "attention/wgmma_producers.cuh"

namespace plumbline::gpu {

namespace wgmma_kernels {

template <int D, class Bias>
using QueriesShared = Shared<D, 2, 64, BiasOfKeys<Bias, 64>>;

}  // namespace wgmma_kernels

#if PLUMBLINE_ON_GPU
namespace wgmma_kernels {

template <int D, class Bias, class Element>
__device__ __forceinline__ void grads_of_queries(const QueriesShared<D, Bias>& shared,
                                                 const Problem& problem,
                                                 const BackwardArrays& arrays,
                                                 const typename Bias::Params& params) {
  using Memory = QueriesShared<D, Bias>;
  using Rows = ConsumerRows;
  constexpr int kKeys = Memory::kStagedRows;
  constexpr int kScoreTiles = kKeys / 8, kRowTiles = D / 8, kSteps = kKeys / kWgmmaDepth;
  const Rows rows(problem);
  const KeyTiles<kKeys> tiles(rows.block_range);
  const mma_kernels::QueryRows<1> of(problem, arrays, rows);
  const KeyRange all_see = rows.warp_range(problem).all;
  const bool all_rows = rows.warp_row + Rows::kWarpRows <= rows.count;
  const auto q = shared.rows(0, consumer_group()), grad_o = shared.rows(1, consumer_group());

  float p[1][kScoreTiles][4], dz[1][kScoreTiles][4], dq[1][kRowTiles][4] = {};
  std::uint32_t rounded[kSteps][4] = {};
  mma_kernels::QuerySums<Rows::kRows> sums;
  // With sums of every row there are not enough registers for both.
  run_tiles<!(Bias::kPerPosition && D > 64)>(
      shared, tiles.count,
      [&] {
        keep_order(p[0]);
        keep_order(dz[0]);
        keep_order(dq[0]);
        keep_order(rounded);
      },
      [&](int stage) {
        const auto k = shared.first(stage), v = shared.second(stage);
#pragma unroll
        for (int d = 0; d < D; d += kWgmmaDepth)
          wgmma_rows<Element>(p[0], q.from_column(d), k.from_column(d), d > 0);
#pragma unroll
        for (int d = 0; d < D; d += kWgmmaDepth)
          wgmma_rows<Element>(dz[0], grad_o.from_column(d), v.from_column(d), d > 0);
      },
      [&](int stage) {
        const auto k = shared.first(stage);
#pragma unroll
        for (int step = 0; step < kSteps; ++step)
          wgmma_columns<Element>(dq[0], rounded[step], k.from_row(step * kWgmmaDepth));
      },
      [&](int n) {
        const int begin = tiles.begin(n);
        const auto bias = shared.bias.stage(n % Memory::kStages).bias;
        // Nobody asks for SSMax here, but without its code ptxas spills.
        double* const no_sums = nullptr;
        // Not in the accumulators: the compiler lets products wait for one another where branches
        // write to those.
        float of_p[1][kScoreTiles][4], of_dz[1][kScoreTiles][4];
        copy_accumulators(of_p[0], p[0]);
        copy_accumulators(of_dz[0], dz[0]);
        if (all_rows && begin >= all_see.begin && begin + kKeys <= all_see.end)
          mma_kernels::query_score_grads<true, Bias>(of_p, of_dz, sums, no_sums, problem, arrays,
                                                     params, bias, rows, of, begin);
        else
          mma_kernels::query_score_grads<false, Bias>(of_p, of_dz, sums, no_sums, problem, arrays,
                                                      params, bias, rows, of, begin);
#pragma unroll
        for (int step = 0; step < kSteps; ++step)
          accumulators_as_a<Element>(rounded[step], of_dz[0], step);
      });

  mma_kernels::write_query_grads<D>(dq, problem, arrays, rows);
  mma_kernels::write_position_grads(sums, problem, arrays, rows);
}

template <int D, class Bias, class Element>
__global__ void __launch_bounds__(kThreads, 1)
    wgmma_backward_queries_kernel(const __grid_constant__ CUtensorMap q,
                                  const __grid_constant__ CUtensorMap grad_o,
                                  const __grid_constant__ CUtensorMap k,
                                  const __grid_constant__ CUtensorMap v,
                                  const __grid_constant__ Problem problem,
                                  const __grid_constant__ BackwardArrays arrays,
                                  const __grid_constant__ typename Bias::Params params) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using Memory = QueriesShared<D, Bias>;
  SharedMemory memory;
  const Memory shared(memory);
  shared.start_barriers();
  if (threadIdx.x >= kProducers) {
    become_consumer<Bias>();
    grads_of_queries<D, Bias, Element>(shared, problem, arrays, params);
    return;
  }
  become_producer<Bias>();
  const auto copy_rows = [&](const PhaseBarrier& barrier, const ProducerRows& rows) {
    const int matrix = rows.b * problem.heads + rows.head;
    for (int group = 0; group < kConsumerGroups; ++group) {
      const int row = rows.first_row + group * kWgmmaRows;
      copy_tile(shared.rows(0, group), q, row, matrix, barrier);
      copy_tile(shared.rows(1, group), grad_o, row, matrix, barrier);
    }
  };
  const auto copy_keys = [&](const PhaseBarrier& barrier, int stage, int begin, int matrix) {
    copy_tile(shared.first(stage), k, begin, matrix, barrier);
    copy_tile(shared.second(stage), v, begin, matrix, barrier);
  };
  produce<Bias>(shared, problem, params, copy_rows, copy_keys, &Memory::first);
#else
  __trap();  // the host asks for it on compute capability 9.0 alone
#endif
}

/// For `dispatch_bias`.
template <class Element>
struct BackwardQueries {
  template <int D, class Bias>
  static void run(const Stream& stream, const Task& task, const BackwardArrays& arrays) {
    using Memory = QueriesShared<D, Bias>;
    const Problem& p = task.problem;
    const int heads = p.batch * p.heads, kv_heads = p.batch * p.kv_heads;
    const auto tiles = static_cast<unsigned>((p.queries + kRows - 1) / kRows);
    launch(stream,
           {dim3{tiles, static_cast<unsigned>(p.heads), static_cast<unsigned>(p.batch)},
            dim3{kThreads}, Memory::bytes()},
           wgmma_backward_queries_kernel<D, Bias, Element>,
           map_of_matrices<kWgmmaRows, D>(p.q, p.format, heads, p.queries),
           map_of_matrices<kWgmmaRows, D>(arrays.grad_o, p.format, heads, p.queries),
           map_of_matrices<Memory::kStagedRows, D>(p.k, p.format, kv_heads, p.keys),
           map_of_matrices<Memory::kStagedRows, D>(p.v, p.format, kv_heads, p.keys), p, arrays,
           Bias::params(task.bias));
  }
};

}  // namespace wgmma_kernels

template <class Element>
void wgmma_backward_queries_in(const Stream& stream, const Task& task,
                               const BackwardArrays& arrays) {
  wgmma_kernels::dispatch<wgmma_kernels::BackwardQueries<Element>>(stream, task, arrays);
}

#endif

}  // namespace plumbline::gpu

#endif
