// SPDX-License-Identifier: Apache-2.0
// The fused forward pass for Hopper: the arithmetic of mma_forward.cuh with products by wgmma and
// copies by TMA. A block has 128 query rows and three warpgroups. The producers, the first, bring
// tiles of 128 keys and values into a ring of stages, and what the bias knows of them; of the two
// of consumers each has 64 rows.
//
// A consumer's iteration: S = Q K^T of this tile and O += P V of the one before, together; then
// logits, softmax and P of this tile. The two take turns: while one waits for its products, the
// other is at its softmax.
//
// The barrier `full` of a stage says that its tile is there: TMA's bytes, and an arrival of each
// producer, which has written of the bias; `empty`, that every consumer warp is done with it.
//
// For nvcc and compute_90a alone.
#ifndef PLUMBLINE_GPU_ATTENTION_WGMMA_FORWARD_CUH
#define PLUMBLINE_GPU_ATTENTION_WGMMA_FORWARD_CUH

#include "attention/mma_forward_bias.cuh"
#include "attention/mma_rows.cuh"
#include "attention/mma_softmax.cuh"
#include "attention/variants.cuh"
#include "attention/wgmma_memory.cuh"

namespace plumbline::gpu {

namespace wgmma_kernels {

/// Registers of a thread, in eights: together no more than 384 times the 168 of the launch.
struct Registers {
  int of_producer, of_consumer;
};
template <class Bias>
inline constexpr Registers kRegisters = Bias::kHasEntry ? Registers{56, 224} : Registers{40, 232};

/// Rows of a consumer's lane; the producers know of the block's alone.
using ConsumerRows = MmaRows<1, kConsumerWarps, kProducers>;
using ProducerRows = MmaRows<1, kConsumerWarps>;
static_assert(ConsumerRows::kQueries == kQueries && kProducers == kMmaThreads);

/// The tiles of keys that a block visits, from the last to the first: most biases fall with the
/// distance, so that the largest logits come first. Tile n has the keys begin(n) ... .
struct KeyTiles {
  KeyRange keys;
  int count;

  __device__ explicit KeyTiles(const KeyRange& of_block)
      : keys(of_block), count((max(of_block.end - of_block.begin, 0) + kKeys - 1) / kKeys) {}

  __device__ int begin(int n) const { return keys.begin + (count - 1 - n) * kKeys; }
};

template <int D, class Bias>
__device__ __forceinline__ void produce(const Shared<D, Bias>& shared, const CUtensorMap& q,
                                        const CUtensorMap& k, const CUtensorMap& v,
                                        const Problem& problem,
                                        const typename Bias::Params& params) {
  using Memory = Shared<D, Bias>;
  const ProducerRows rows(problem);
  const KeyTiles tiles(rows.block_range);
  const int thread = static_cast<int>(threadIdx.x);
  const int matrix = rows.b * problem.kv_heads + problem.kv_head_of(rows.head);
  const At first = rows.first();
  const int row = min(thread, rows.count - 1);
  if constexpr (Memory::OfBias::kBiasRows > 0)
    shared.bias.rows[thread] =
        Bias::load_row(params, {first.batch, first.head, first.row + row, first.position + row});
  shared.bias.factors[thread] = problem.log2_logit_factor(rows.b, rows.head, rows.first_row + row);

  float last_entry = 0.0f;
#pragma unroll 1
  for (int n = 0; n < tiles.count; ++n) {
    const int stage = n % Memory::kStages, begin = tiles.begin(n);
    shared.empty(stage).wait((n / Memory::kStages & 1) ^ 1);
    // The values of keys that no row of the block sees meet P = 0, and may hold anything, of which
    // 0 NaN and 0 infinity would not be 0.
    const bool clears = begin + kKeys > tiles.keys.end || problem.mask.documents;
    const PhaseBarrier copied = clears ? shared.copied() : shared.full(stage);
    if (thread == 0) {
      constexpr std::uint32_t kTiles = 2 * Memory::KeyTile::kBytes;
      constexpr std::uint32_t kQueryTiles = kConsumerGroups * Memory::QueryTile::kBytes;
      copied.arrive_and_expect(n == 0 ? kTiles + kQueryTiles : kTiles);
      if (clears) shared.full(stage).arrive();
      if (n == 0) {
        const int of_queries = rows.b * problem.heads + rows.head;
        for (int group = 0; group < kConsumerGroups; ++group)
          copy_tile(shared.q(group), q, rows.first_row + group * kWgmmaRows, of_queries, copied);
      }
      copy_tile(shared.k(stage), k, begin, matrix, copied);
      copy_tile(shared.v(stage), v, begin, matrix, copied);
    }
    if constexpr (Memory::OfBias::kBiasKeys > 0)
      shared.bias.keys[stage * kKeys + thread] =
          Bias::load_key(params, first, min(begin + thread, tiles.keys.end - 1));
    if constexpr (Memory::OfBias::kEntries > 0) {
      float* const entries = shared.bias.entries + stage * Memory::OfBias::kEntries;
      const int offset = first.position - begin + thread - (kKeys - 1);
      entries[thread] = n == 0 ? Bias::entry(params, rows.head, offset) : last_entry;
      entries[thread + kKeys] = last_entry = Bias::entry(params, rows.head, offset + kKeys);
    }
    if (clears) {
      copied.wait(n & 1);  // without documents n is 0: a tile of the last keys
      asm volatile("bar.sync 3, 128;" ::: "memory");  // before the next phase begins
      if (problem.mask.documents)
        rows.template clear_unseen<kKeys>(shared.v(stage), problem, begin);
      else if (begin + thread >= tiles.keys.end)
        shared.v(stage).clear_row(thread, 0, 1);
      fence_for_copies();
    }
    shared.full(stage).arrive();
  }
}

template <int D, class Bias, class Element>
__device__ __forceinline__ void consume(const Shared<D, Bias>& shared, const Problem& problem,
                                        const Outputs& outputs,
                                        const typename Bias::Params& params) {
  using Memory = Shared<D, Bias>;
  using Storage = typename MmaStorage<Element>::type;
  constexpr int kScoreTiles = kKeys / 8, kOutputTiles = D / 8, kSteps = kKeys / kWgmmaDepth;
  const ConsumerRows rows(problem);
  const KeyTiles tiles(rows.block_range);
  const WarpRange range = rows.warp_range(problem);
  const int group = rows.warp_row / kWgmmaRows;
  const auto q = shared.q(group);

  float score[1][kScoreTiles][4], output[1][kOutputTiles][4] = {};
  std::uint32_t p[kSteps][4] = {};
  RunningSoftmax<2> softmax;
  if (problem.sinks) softmax.begin_with(problem.sinks[rows.head] * kLog2E, rows.place == 0);

  const auto add_values = [&](int stage) {
    const auto v = shared.v(stage);
#pragma unroll
    for (int step = 0; step < kSteps; ++step)
      wgmma_columns<Element>(output[0], p[step], v.from_row(step * kWgmmaDepth));
  };
  const auto release = [&](int stage) {
    if (rows.lane == 0) shared.empty(stage).arrive();
  };
  // Barriers 1 and 2: the turn of a group, which the other gives.
  const auto take_turn = [&] { asm volatile("bar.sync %0, 256;" ::"r"(1 + group) : "memory"); };
  const auto give_turn = [&] { asm volatile("bar.arrive %0, 256;" ::"r"(2 - group) : "memory"); };
  // The products of tile n, and of the one before.
  const auto add_scores = [&](int stage) {
    const auto k = shared.k(stage);
#pragma unroll
    for (int d = 0; d < D; d += kWgmmaDepth)
      wgmma_rows<Element>(score[0], q.from_column(d), k.from_column(d), d > 0);
  };
  const auto begin_products = [&] {
    keep_order(score[0]);
    keep_order(output[0]);
    wgmma_fence();
  };
  const auto end_products = [&] {
    wgmma_wait();
    keep_order(score[0]);
    keep_order(output[0]);
  };
  const auto make_weights = [&](int n) {
    const int stage = n % Memory::kStages, begin = tiles.begin(n);
    make_logits<Bias>(score, rows, problem, params, shared.bias.stage(stage));
    if (begin < range.all.begin || begin + kKeys > range.all.end) rows.hide(score, problem, begin);
    softmax.add(score, output);
#pragma unroll
    for (int step = 0; step < kSteps; ++step) accumulators_as_a<Element>(p[step], score[0], step);
  };

  if (tiles.count > 0) {
    if (group == 1) give_turn();
    shared.full(0).wait(0);
    take_turn();
    begin_products();
    add_scores(0);
    wgmma_commit();
    if (group == 0 || tiles.count > 1) give_turn();
    end_products();
    make_weights(0);
#pragma unroll 1
    for (int n = 1; n < tiles.count; ++n) {
      const int stage = n % Memory::kStages, before = (n - 1) % Memory::kStages;
      shared.full(stage).wait(n / Memory::kStages & 1);
      take_turn();
      begin_products();
      add_scores(stage);
      add_values(before);
      wgmma_commit();
      if (group == 0 || n + 1 < tiles.count) give_turn();
      end_products();
      release(before);
      make_weights(n);
    }
    begin_products();
    add_values((tiles.count - 1) % Memory::kStages);
    wgmma_commit();
    end_products();
  }

  lanes_sum(softmax.sum);
  const std::size_t first = problem.row_index(rows.b, rows.head, rows.row(0));
  Storage* const o = static_cast<Storage*>(outputs.o) + first * D + 2 * rows.place;
#pragma unroll
  for (int r = 0; r < ConsumerRows::kRows; ++r) {
    if (!rows.exists(r)) continue;
    const bool empty = softmax.sum[r] == 0.0f;
    const float by_sum = 1.0f / softmax.sum[r];
#pragma unroll
    for (int tile = 0; tile < kOutputTiles; ++tile) {
      const float* of_row = output[0][tile] + r % 2 * 2;
      store_pair<Element>(o + r * ConsumerRows::kRowStep * D + 8 * tile,
                          empty ? 0.0f : of_row[0] * by_sum, empty ? 0.0f : of_row[1] * by_sum);
    }
    if (rows.place == 0) outputs.lse[first + r * ConsumerRows::kRowStep] = softmax.lse(r);
  }
}

template <int D, class Bias, class Element>
__global__ void __launch_bounds__(kThreads, 1)
    wgmma_forward_kernel(const __grid_constant__ CUtensorMap q,
                         const __grid_constant__ CUtensorMap k,
                         const __grid_constant__ CUtensorMap v,
                         const __grid_constant__ Problem problem, const Outputs outputs,
                         const __grid_constant__ typename Bias::Params params) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  SharedMemory memory;
  const Shared<D, Bias> shared(memory);
  constexpr int kStages = Shared<D, Bias>::kStages;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      shared.full(stage).start(kProducers + 1);  // and that of the bytes
      shared.empty(stage).start(kConsumerWarps);
    }
    shared.copied().start(1);
    PhaseBarrier::fence_start();
  }
  __syncthreads();
  if (threadIdx.x < kProducers) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters<Bias>.of_producer));
    produce<D, Bias>(shared, q, k, v, problem, params);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters<Bias>.of_consumer));
    consume<D, Bias, Element>(shared, problem, outputs, params);
  }
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
    const auto tiles = static_cast<unsigned>((p.queries + kQueries - 1) / kQueries);
    launch(stream,
           {dim3{tiles, static_cast<unsigned>(p.heads), static_cast<unsigned>(p.batch)},
            dim3{kThreads}, Shared<D, Bias>::bytes()},
           wgmma_forward_kernel<D, Bias, Element>,
           map_of_matrices<kWgmmaRows, D>(p.q, p.format, p.batch * p.heads, p.queries),
           map_of_matrices<kKeys, D>(p.k, p.format, p.batch * p.kv_heads, p.keys),
           map_of_matrices<kKeys, D>(p.v, p.format, p.batch * p.kv_heads, p.keys), p, outputs,
           Bias::params(task.bias));
  }
};

}  // namespace wgmma_kernels

template <class Element>
void wgmma_forward_in(const Stream& stream, const Task& task, const Outputs& outputs) {
  const auto run = [&]<int D>() {
    if constexpr (D % 64 == 0)
      dispatch_bias<wgmma_kernels::Forward<Element>, D>(stream, task, outputs);
    else
      throw std::invalid_argument("head dimension must be a multiple of 64");
  };
  if (!with_head_dim(task.head_dim, run))
    throw std::invalid_argument("head dimension must be one of " + list_of(HeadDims{}));
}

}  // namespace plumbline::gpu

#endif
