// SPDX-License-Identifier: Apache-2.0
// The backward pass over queries for Hopper: the arithmetic of mma_backward_queries.cuh with
// products by wgmma and copies by TMA, for 128 queries a block and 64 keys at a time
// (wgmma_memory.cuh). The products are S = Q K' and dP = dO V' of a tile, and dQ += dZ K of the one
// before, with dZ in registers. A kernel of its own has gradients of heads' parameters, too
// (wgmma_head_grads.cuh). Without additions to keys. For compute_90a alone.
#ifndef PLUMBLINE_GPU_ATTENTION_WGMMA_BACKWARD_QUERIES_CUH
#define PLUMBLINE_GPU_ATTENTION_WGMMA_BACKWARD_QUERIES_CUH

#include "attention/backward_kernels.cuh"
#include "attention/mma_query_grads.cuh"
#include "attention/wgmma_consumers.cuh"
#include "attention/wgmma_head_grads.cuh"
#include "attention/wgmma_producers.cuh"

namespace plumbline::gpu {

namespace wgmma_kernels {

inline constexpr int kQueriesKeys = 64;

/// A head dimension of 128 has a stage less where gradients of heads' parameters need room.
template <int D, class Bias, bool of_heads>
using QueriesTiles =
    Shared<D, 2, kQueriesKeys, BiasOfKeys<Bias, kQueriesKeys>, (of_heads && D > 64 ? 3 : 4)>;

template <int D, class Bias>
struct QueriesShared : QueriesTiles<D, Bias, false> {
  using Tiles = QueriesTiles<D, Bias, false>;

  double* row_sums;  // [kRows], of SSMax

  __device__ explicit QueriesShared(SharedMemory& memory)
      : Tiles(memory), row_sums(memory.take<double>(kRows)) {}

  static std::size_t bytes(const typename Bias::Params&) {
    static_assert(Tiles::bytes() + shared_bytes<double>(kRows) <= kSharedOfHopper);
    return Tiles::bytes() + shared_bytes<double>(kRows);
  }
};

/// The same with what gradients of heads' parameters need.
template <int D, class Bias>
struct HeadsShared : QueriesTiles<D, Bias, true> {
  using Tiles = QueriesTiles<D, Bias, true>;

  double* row_sums;
  HeadGradShared<Bias, kQueriesKeys> of_head;

  __device__ explicit HeadsShared(SharedMemory& memory)
      : Tiles(memory), row_sums(memory.take<double>(kRows)), of_head(memory) {}

  static std::size_t bytes(const typename Bias::Params& params) {
    return Tiles::bytes() + shared_bytes<double>(kRows) +
           HeadGradShared<Bias, kQueriesKeys>::bytes(params);
  }
};

}  // namespace wgmma_kernels

#if PLUMBLINE_ON_GPU
namespace wgmma_kernels {

/// Memory: QueriesShared or HeadsShared.
template <int D, class Bias, class Element, class Memory>
__device__ __forceinline__ void grads_of_queries(const Memory& shared, const Problem& problem,
                                                 const BackwardArrays& arrays,
                                                 const typename Bias::Params& params) {
  using Rows = ConsumerRows;
  constexpr bool kOfHeads = std::is_same_v<Memory, HeadsShared<D, Bias>>;
  // With sums of every row, or FIRE's gradients, there are not enough registers for both.
  constexpr bool kFireGrads = kOfHeads && std::is_same_v<Bias, Fire>;
  constexpr bool kOverlapped = D <= 64 || !(Bias::kPerPosition || kFireGrads);
  constexpr int kKeys = Memory::kStagedRows;
  constexpr int kScoreTiles = kKeys / 8, kRowTiles = D / 8, kSteps = kKeys / kWgmmaDepth;
  const Rows rows(problem);
  const KeyTiles<kKeys> tiles(rows.block_range);
  const mma_kernels::QueryRows<1> of(problem, arrays, rows);
  const KeyRange all_see = rows.warp_range(problem).all;
  const bool plain_rows = rows.warp_row + Rows::kWarpRows <= rows.count && !problem.ssmax_scale;
  const auto q = shared.rows(0, consumer_group()), grad_o = shared.rows(1, consumer_group());

  float p[1][kScoreTiles][4], dz[1][kScoreTiles][4], dq[1][kRowTiles][4] = {};
  std::uint32_t rounded[kSteps][4] = {};
  mma_kernels::QuerySums<Rows::kRows> sums;
  const auto of_head = [&] {
    if constexpr (kOfHeads)
      return GroupHeadGrad<Bias, kKeys>{shared.of_head, problem, arrays, params, rows};
    else
      return 0;
  }();
  if constexpr (kOfHeads) of_head.begin();
  if (rows.place == 0)
    for (int r = 0; r < Rows::kRows; ++r) shared.row_sums[rows.row_in_tile(r)] = 0.0;
  run_tiles<kOverlapped>(
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
        // Not in the accumulators: the compiler lets products wait for one another where branches
        // write to those.
        float of_p[1][kScoreTiles][4], of_dz[1][kScoreTiles][4];
        copy_accumulators(of_p[0], p[0]);
        copy_accumulators(of_dz[0], dz[0]);
        if (plain_rows && begin >= all_see.begin && begin + kKeys <= all_see.end)
          mma_kernels::query_score_grads<true, Bias>(of_p, of_dz, sums, shared.row_sums, problem,
                                                     arrays, params, bias, rows, of, begin);
        else
          mma_kernels::query_score_grads<false, Bias>(of_p, of_dz, sums, shared.row_sums, problem,
                                                      arrays, params, bias, rows, of, begin);
#pragma unroll
        for (int step = 0; step < kSteps; ++step)
          accumulators_as_a<Element>(rounded[step], of_dz[0], step);
        if constexpr (kOfHeads) of_head.add(of_dz[0], bias, begin);
      });

  mma_kernels::write_query_grads<D>(dq, problem, arrays, rows);
  mma_kernels::write_position_grads(sums, problem, arrays, rows);
  using Group = GroupTile<kWgmmaRows, kKeys>;
  mma_kernels::write_ssmax_grad<Group>(shared.row_sums, problem, arrays, rows,
                                       consumer_group() * kWgmmaRows, kWgmmaRows);
  if constexpr (kOfHeads) of_head.finish();
}

template <int D, class Bias, class Element, class Memory>
__device__ __forceinline__ void backward_queries(const CUtensorMap& q, const CUtensorMap& grad_o,
                                                 const CUtensorMap& k, const CUtensorMap& v,
                                                 const Problem& problem,
                                                 const BackwardArrays& arrays,
                                                 const typename Bias::Params& params) {
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
  backward_queries<D, Bias, Element, QueriesShared<D, Bias>>(q, grad_o, k, v, problem, arrays,
                                                             params);
#else
  __trap();  // the host asks for it on compute capability 9.0 alone
#endif
}

/// And gradients of heads' parameters.
template <int D, class Bias, class Element>
__global__ void __launch_bounds__(kThreads, 1)
    wgmma_backward_heads_kernel(const __grid_constant__ CUtensorMap q,
                                const __grid_constant__ CUtensorMap grad_o,
                                const __grid_constant__ CUtensorMap k,
                                const __grid_constant__ CUtensorMap v,
                                const __grid_constant__ Problem problem,
                                const __grid_constant__ BackwardArrays arrays,
                                const __grid_constant__ typename Bias::Params params) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  backward_queries<D, Bias, Element, HeadsShared<D, Bias>>(q, grad_o, k, v, problem, arrays,
                                                           params);
#else
  __trap();  // the host asks for it on compute capability 9.0 alone
#endif
}

/// For `dispatch_bias`.
template <class Element>
struct BackwardQueries {
  template <int D, class Bias>
  static void run(const Stream& stream, const Task& task, const BackwardArrays& arrays) {
    const auto params = Bias::params(task.bias);
    if constexpr (HeadGrad<Bias>::kUsed) {
      if (arrays.head_rows > 0) {
        const std::size_t bytes = HeadsShared<D, Bias>::bytes(params);
        if (bytes > kSharedOfHopper) return mma_backward_queries(stream, task, arrays);
        return launch_with<D>(stream, wgmma_backward_heads_kernel<D, Bias, Element>, bytes, task,
                              arrays, params);
      }
    }
    launch_with<D>(stream, wgmma_backward_queries_kernel<D, Bias, Element>,
                   QueriesShared<D, Bias>::bytes(params), task, arrays, params);
  }

 private:
  template <int D, class Kernel, class Params>
  static void launch_with(const Stream& stream, Kernel kernel, std::size_t shared_bytes,
                          const Task& task, const BackwardArrays& arrays, const Params& params) {
    const Problem& p = task.problem;
    const int heads = p.batch * p.heads, kv_heads = p.batch * p.kv_heads;
    const auto tiles = static_cast<unsigned>((p.queries + kRows - 1) / kRows);
    launch(stream,
           {dim3{tiles, static_cast<unsigned>(p.heads), static_cast<unsigned>(p.batch)},
            dim3{kThreads}, shared_bytes},
           kernel, map_of_matrices<kWgmmaRows, D>(p.q, p.format, heads, p.queries),
           map_of_matrices<kWgmmaRows, D>(arrays.grad_o, p.format, heads, p.queries),
           map_of_matrices<kQueriesKeys, D>(p.k, p.format, kv_heads, p.keys),
           map_of_matrices<kQueriesKeys, D>(p.v, p.format, kv_heads, p.keys), p, arrays, params);
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
