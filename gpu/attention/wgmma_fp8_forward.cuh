// SPDX-License-Identifier: Apache-2.0
// The fused forward pass for Hopper in e4m3: the structure of wgmma_forward.cuh, with both products
// in e4m3. What its tensor cores sum over has to lie along the rows of both operands: so V is
// transposed beforehand (fp8_arrays.cuh), with the keys in the order in which a lane has them in P.
// P is multiplied by 2^8 before it is rounded, as FlashAttention-3 does. For compute_90a alone.
#ifndef PLUMBLINE_GPU_ATTENTION_WGMMA_FP8_FORWARD_CUH
#define PLUMBLINE_GPU_ATTENTION_WGMMA_FP8_FORWARD_CUH

#include "attention/fp8_arrays.cuh"
#include "attention/mma_forward_bias.cuh"
#include "attention/mma_softmax.cuh"
#include "attention/variants.cuh"
#include "attention/wgmma_consumers.cuh"
#include "attention/wgmma_producers.cuh"

namespace plumbline::gpu {

namespace wgmma_kernels {

inline constexpr int kFp8Keys = 128;     // of a tile
inline constexpr int kFp8Depth = 32;     // numbers that one product sums over,
inline constexpr int kFp8Elements = 16;  // which are so many elements of a SwizzledTile
inline constexpr float kProbabilityScale = 256.0f;

/// Rows of D bytes, of a query or key. Those of a component of V have kFp8Keys: the tile is as
/// large as that of K.
template <int D, class Bias>
using Fp8Shared = Shared<D / 2, 1, kFp8Keys, BiasOfKeys<Bias, kFp8Keys>>;
template <int D>
using Fp8Values = SwizzledTile<D, kFp8Keys / 2>;

}  // namespace wgmma_kernels

#if PLUMBLINE_ON_GPU
namespace wgmma_kernels {

/// Four probabilities times kProbabilityScale, rounded to e4m3, from the lowest byte on.
__device__ __forceinline__ std::uint32_t pack_e4m3(float a, float b, float c, float d) {
  std::uint32_t packed;
  asm("{\n.reg .b16 low, high;\n"
      "cvt.rn.satfinite.e4m3x2.f32 low, %2, %1;\n"
      "cvt.rn.satfinite.e4m3x2.f32 high, %4, %3;\n"
      "mov.b32 %0, {low, high};\n}"
      : "=r"(packed)
      : "f"(kProbabilityScale * a), "f"(kProbabilityScale * b), "f"(kProbabilityScale * c),
        "f"(kProbabilityScale * d));
  return packed;
}

/// A from the accumulators of the keys 32 step ... . A lane has of each tile of eight keys two
/// neighbours; as A it has four: so the columns of A, and with them the rows of B, are the keys in
/// the order of fp8_arrays.cuh.
template <int tiles>
__device__ __forceinline__ void accumulators_as_e4m3(std::uint32_t (&a)[4],
                                                     const float (&c)[tiles][4], int step) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float(&first)[4] = c[4 * step + 2 * half];
    const float(&second)[4] = c[4 * step + 2 * half + 1];
    a[2 * half] = pack_e4m3(first[0], first[1], second[0], second[1]);
    a[2 * half + 1] = pack_e4m3(first[2], first[3], second[2], second[3]);
  }
}

/// Of all sequences' key heads the one that the block's queries see: theirs are its scales. Each
/// call finds it anew: kept through all tiles it would take a register.
__device__ __forceinline__ int key_head_of(const ConsumerRows& rows, const Problem& problem) {
  int head = rows.head;
  asm volatile("" : "+r"(head));
  return rows.b * problem.kv_heads + problem.kv_head_of(head);
}

template <int D, class Bias>
__device__ __forceinline__ void attend_in_fp8(const Fp8Shared<D, Bias>& shared,
                                              const Problem& problem, const Fp8Scales& scales,
                                              const Outputs& outputs,
                                              const typename Bias::Params& params) {
  using Memory = Fp8Shared<D, Bias>;
  constexpr int kScoreTiles = kFp8Keys / 8, kSteps = kFp8Keys / kFp8Depth;
  const ConsumerRows rows(problem);
  const KeyTiles<kFp8Keys, kKeyGroup> tiles(rows.block_range);
  const WarpRange range = rows.warp_range(problem);
  const auto q = shared.rows(0, consumer_group());
  const int key_head = key_head_of(rows, problem);
  const float scale = problem.scale * (scales.q[key_head] * scales.k[key_head]);

  float score[1][kScoreTiles][4], output[1][D / 8][4] = {};
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
        for (int step = 0; step < D / kFp8Depth; ++step)
          wgmma_e4m3(score[0], q.from_column(step * kFp8Elements),
                     k.from_column(step * kFp8Elements), step > 0);
      },
      [&](int stage) {
        const Fp8Values<D> v{shared.second(stage).bytes};
#pragma unroll
        for (int step = 0; step < kSteps; ++step)
          wgmma_e4m3(output[0], p[step], v.from_column(step * kFp8Elements), true);
      },
      [&](int n) {
        const int begin = tiles.begin(n);
        make_logits<Bias>(score, rows, scale, params, shared.bias.stage(n % Memory::kStages),
                          begin);
        if (begin < range.all.begin || begin + kFp8Keys > range.all.end)
          rows.hide(score, problem, begin);
        softmax.add(score, output);
#pragma unroll
        for (int step = 0; step < kSteps; ++step) accumulators_as_e4m3(p[step], score[0], step);
      });

  const float v_scale = scales.v[key_head_of(rows, problem)] / kProbabilityScale;
#pragma unroll
  for (float(&tile)[4] : output[0]) {
#pragma unroll
    for (float& x : tile) x *= v_scale;
  }
  write_outputs<D, bfloat16>(output, softmax, problem, outputs, rows);
}

template <int D, class Bias>
__global__ void __launch_bounds__(kThreads, 1)
    wgmma_fp8_forward_kernel(const __grid_constant__ CUtensorMap q,
                             const __grid_constant__ CUtensorMap k,
                             const __grid_constant__ CUtensorMap v,
                             const __grid_constant__ Problem problem, const Fp8Scales scales,
                             const Outputs outputs,
                             const __grid_constant__ typename Bias::Params params) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using Memory = Fp8Shared<D, Bias>;
  SharedMemory memory;
  const Memory shared(memory);
  shared.start_barriers();
  if (threadIdx.x >= kProducers) {
    become_consumer<Bias>();
    attend_in_fp8<D, Bias>(shared, problem, scales, outputs, params);
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
    copy_tile(Fp8Values<D>{shared.second(stage).bytes}, v, 0, matrix, barrier, begin / 2);
  };
  produce<Bias, kKeyGroup>(shared, problem, params, copy_rows, copy_keys, nullptr);
#else
  __trap();  // the host asks for it on compute capability 9.0 alone
#endif
}

/// For `dispatch_bias`.
struct Fp8Forward {
  template <int D, class Bias>
  static void run(const Stream& stream, const Task& task, const Fp8Arrays& arrays,
                  const Outputs& outputs) {
    const Problem& p = task.problem;
    const int key_heads = p.batch * p.kv_heads;
    const auto tiles = static_cast<unsigned>((p.queries + kRows - 1) / kRows);
    // Two numbers for one of 16 bits.
    launch(stream,
           {dim3{tiles, static_cast<unsigned>(p.heads), static_cast<unsigned>(p.batch)},
            dim3{kThreads}, Fp8Shared<D, Bias>::bytes()},
           wgmma_fp8_forward_kernel<D, Bias>,
           map_of_matrices<kWgmmaRows, D / 2>(arrays.q, Format::bf16, p.batch * p.heads, p.queries),
           map_of_matrices<kFp8Keys, D / 2>(arrays.k, Format::bf16, key_heads, p.keys),
           map_of_matrices<D, kFp8Keys / 2>(arrays.values, Format::bf16, key_heads, D,
                                            padded_keys(p.keys) / 2),
           p, arrays.scales, outputs, Bias::params(task.bias));
  }
};

}  // namespace wgmma_kernels
#endif

}  // namespace plumbline::gpu

#endif
