// SPDX-License-Identifier: Apache-2.0
// The consumers of the kernels for Hopper. For compute_90a alone.
#ifndef PLUMBLINE_GPU_ATTENTION_WGMMA_CONSUMERS_CUH
#define PLUMBLINE_GPU_ATTENTION_WGMMA_CONSUMERS_CUH

#include "attention/mma_rows.cuh"
#include "attention/wgmma_memory.cuh"

#if PLUMBLINE_ON_GPU
namespace plumbline::gpu {

namespace wgmma_kernels {

/// A consumer's query rows.
using ConsumerRows = MmaRows<1, kConsumerWarps, kProducers>;
static_assert(ConsumerRows::kQueries == kRows);

/// Which of the two groups a thread is of.
__device__ __forceinline__ int consumer_group() {
  return static_cast<int>(threadIdx.x) / 128 - kProducers / 128;
}

template <int tiles>
__device__ __forceinline__ void copy_accumulators(float (&to)[tiles][4],
                                                  const float (&from)[tiles][4]) {
#pragma unroll
  for (int n = 0; n < 4 * tiles; ++n) to[n / 4][n % 4] = from[n / 4][n % 4];
}

/// What a group does with `tiles` tiles, one after the other: first(stage) begins the products of a
/// tile that its rows' scores come from, scores(n) makes of them what second(stage) multiplies.
/// `overlapped`: in an iteration first() of a tile and second() of the one before begin together,
/// and the groups take turns: while one waits for its products, the other is at its scores. Else
/// scores need no registers of their own beside the products'. keep(): keep_order() of all
/// registers that products read or write.
template <bool overlapped, class Memory, class Keep, class First, class Second, class Scores>
__device__ __forceinline__ void run_tiles(const Memory& shared, int tiles, Keep keep, First first,
                                          Second second, Scores scores) {
  constexpr int kStages = Memory::kStages;
  if (tiles <= 0) return;
  const int group = consumer_group();
  // Barriers 1 and 2 of the block: the turn of a group, which the other gives.
  const auto take_turn = [&] { asm volatile("bar.sync %0, 256;" ::"r"(1 + group) : "memory"); };
  const auto give_turn = [&] { asm volatile("bar.arrive %0, 256;" ::"r"(2 - group) : "memory"); };
  const auto begin_products = [&] {
    keep();
    wgmma_fence();
  };
  const auto end_products = [&] {
    wgmma_wait();
    keep();
  };

  const auto release = [&](int stage) {
    if (threadIdx.x % 32 == 0) shared.empty(stage).arrive();
  };

  if constexpr (!overlapped) {
#pragma unroll 1
    for (int n = 0; n < tiles; ++n) {
      const int stage = n % kStages;
      shared.full(stage).wait(n / kStages & 1);
      begin_products();
      first(stage);
      wgmma_commit();
      end_products();
      scores(n);
      begin_products();
      second(stage);
      wgmma_commit();
      end_products();
      release(stage);
    }
  } else {
    if (group == 1) give_turn();
    shared.full(0).wait(0);
    take_turn();
    begin_products();
    first(0);
    wgmma_commit();
    if (group == 0 || tiles > 1) give_turn();
    end_products();
    scores(0);
#pragma unroll 1
    for (int n = 1; n < tiles; ++n) {
      const int stage = n % kStages, before = (n - 1) % kStages;
      shared.full(stage).wait(n / kStages & 1);
      take_turn();
      begin_products();
      first(stage);
      second(before);
      wgmma_commit();
      if (group == 0 || n + 1 < tiles) give_turn();
      end_products();
      release(before);
      scores(n);
    }
    begin_products();
    second((tiles - 1) % kStages);
    wgmma_commit();
    end_products();
  }
}

}  // namespace wgmma_kernels

}  // namespace plumbline::gpu
#endif

#endif
