// SPDX-License-Identifier: Apache-2.0
// The fused forward pass for Hopper: the arithmetic of mma_forward.cuh with products by wgmma and
// copies by TMA, for 128 queries a block and 128 or 64 keys at a time (wgmma_memory.cuh). The
// products are S = Q K' of a tile and O += P V of the one before, with P in registers. For
// compute_90a alone.
#ifndef PLUMBLINE_GPU_ATTENTION_WGMMA_FORWARD_CUH
#define PLUMBLINE_GPU_ATTENTION_WGMMA_FORWARD_CUH

#include "attention/mma_forward_bias.cuh"
#include "attention/mma_softmax.cuh"
#include "attention/variants.cuh"
#include "attention/wgmma_consumers.cuh"
#include "attention/wgmma_producers.cuh"

namespace plumbline::gpu {

namespace wgmma_kernels {

/// Of a tile. Shared memory has room for four stages of them, so that copies are ahead of products.
template <int D>
inline constexpr int kForwardKeys = D <= 64 ? 128 : 64;

template <int D, class Bias>
using ForwardShared = Shared<D, 1, kForwardKeys<D>, BiasOfKeys<Bias, kForwardKeys<D>>>;

}  // namespace wgmma_kernels

#if PLUMBLINE_ON_GPU
namespace wgmma_kernels {

/// A group's tile of Q as write_outputs() takes it, for the block's rows that are the group's.
template <int D, class Element>
struct OutputStage {
  using Storage = typename MmaStorage<Element>::type;

  SwizzledTile<kWgmmaRows, D> tile;
  int first_row;

  __device__ __forceinline__ Storage* place(int row, int lane_column, int column) const {
    return reinterpret_cast<Storage*>(tile.chunk(row - first_row, column / 8)) + lane_column;
  }
  /// As MmaTile's.
  template <int rows>
  __device__ __forceinline__ void write_rows(Storage* global, int lane, int row, int exist) const {
    constexpr int chunks = D / 8, kLanes = 32;
#pragma unroll
    for (int first = 0; first < rows * chunks; first += kLanes) {
      const int n = first + lane, of_row = n / chunks;
      if (of_row < exist)
        *reinterpret_cast<uint4*>(global + 8 * n) =
            *reinterpret_cast<const uint4*>(tile.chunk(row - first_row + of_row, n % chunks));
    }
  }
};

template <int D, class Bias, class Element>
__device__ __forceinline__ void attend(const ForwardShared<D, Bias>& shared, const Problem& problem,
                                       const Outputs& outputs,
                                       const typename Bias::Params& params) {
  using Memory = ForwardShared<D, Bias>;
  constexpr int kKeys = Memory::kStagedRows;
  constexpr int kScoreTiles = kKeys / 8, kOutputTiles = D / 8, kSteps = kKeys / kWgmmaDepth;
  const ConsumerRows rows(problem);
  const KeyTiles<kKeys> tiles(rows.block_range);
  const WarpRange range = rows.warp_range(problem);
  const auto q = shared.rows(0, consumer_group());

  float score[1][kScoreTiles][4], output[1][kOutputTiles][4] = {};
  std::uint32_t p[kSteps][4] = {};
  RunningSoftmax<2> softmax;
  if (problem.sinks) softmax.begin_with(problem.sinks[rows.head] * kLog2E, rows.place == 0);
  run_tiles<true>(
      shared, tiles.count,
      [&] {
        keep_order(score[0]);
        keep_order(output[0]);
        keep_order(p);
      },
      [&](int stage) {
        const auto k = shared.first(stage);
#pragma unroll
        for (int d = 0; d < D; d += kWgmmaDepth)
          wgmma_rows<Element>(score[0], q.from_column(d), k.from_column(d), d > 0);
      },
      [&](int stage) {
        const auto v = shared.second(stage);
#pragma unroll
        for (int step = 0; step < kSteps; ++step)
          wgmma_columns<Element>(output[0], p[step], v.from_row(step * kWgmmaDepth));
      },
      [&](int n) {
        const int begin = tiles.begin(n);
        make_logits<Bias>(score, rows, problem.scale, params,
                          shared.bias.stage(n % Memory::kStages), begin);
        if (begin < range.all.begin || begin + kKeys > range.all.end)
          rows.hide(score, problem, begin);
        softmax.add(score, output);
#pragma unroll
        for (int step = 0; step < kSteps; ++step)
          accumulators_as_a<Element>(p[step], score[0], step);
      });

  GroupTile<kWgmmaRows, kKeys>::meet();  // the group's last products have read Q
  const OutputStage<D, Element> stage{q, consumer_group() * kWgmmaRows};
  write_outputs<D, Element>(output, softmax, problem, outputs, rows, stage);
}

template <int D, class Bias, class Element>
__global__ void __launch_bounds__(kThreads, 1)
    wgmma_forward_kernel(const __grid_constant__ CUtensorMap q,
                         const __grid_constant__ CUtensorMap k,
                         const __grid_constant__ CUtensorMap v,
                         const __grid_constant__ Problem problem, const Outputs outputs,
                         const __grid_constant__ typename Bias::Params params) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using Memory = ForwardShared<D, Bias>;
  SharedMemory memory;
  const Memory shared(memory);
  shared.start_barriers();
  if (threadIdx.x >= kProducers) {
    become_consumer<Bias>();
    attend<D, Bias, Element>(shared, problem, outputs, params);
    return;
  }
  become_producer<Bias>();
  const auto copy_rows = [&](const PhaseBarrier& barrier, const ProducerRows& rows) {
    const int matrix = rows.b * problem.heads + rows.head;
    for (int group = 0; group < kConsumerGroups; ++group)
      copy_tile(shared.rows(0, group), q, rows.first_row + group * kWgmmaRows, matrix, barrier);
  };
  const auto copy_keys = [&](const PhaseBarrier& barrier, int stage, int begin, int matrix) {
    copy_tile(shared.first(stage), k, begin, matrix, barrier);
    copy_tile(shared.second(stage), v, begin, matrix, barrier);
  };
  produce<Bias>(shared, problem, params, copy_rows, copy_keys, &Memory::second);
#else
  __trap();  // the host asks for it on compute capability 9.0 alone
#endif
}

/// For `dispatch_bias`.
template <class Element>
struct Forward {
  template <int D, class Bias>
  static void run(const Stream& stream, const Task& task, const Outputs& outputs) {
    const Problem& p = task.problem;
    const auto tiles = static_cast<unsigned>((p.queries + kRows - 1) / kRows);
    launch(stream,
           {dim3{tiles, static_cast<unsigned>(p.heads), static_cast<unsigned>(p.batch)},
            dim3{kThreads}, ForwardShared<D, Bias>::bytes()},
           wgmma_forward_kernel<D, Bias, Element>,
           map_of_matrices<kWgmmaRows, D>(p.q, p.format, p.batch * p.heads, p.queries),
           map_of_matrices<ForwardShared<D, Bias>::kStagedRows, D>(p.k, p.format,
                                                                   p.batch * p.kv_heads, p.keys),
           map_of_matrices<ForwardShared<D, Bias>::kStagedRows, D>(p.v, p.format,
                                                                   p.batch * p.kv_heads, p.keys),
           p, outputs, Bias::params(task.bias));
  }
};

}  // namespace wgmma_kernels

template <class Element>
void wgmma_forward_in(const Stream& stream, const Task& task, const Outputs& outputs) {
  wgmma_kernels::dispatch<wgmma_kernels::Forward<Element>>(stream, task, outputs);
}

#endif

}  // namespace plumbline::gpu

#endif
