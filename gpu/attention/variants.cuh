// SPDX-License-Identifier: Apache-2.0
// The ladder: each variant computes the same and adds one idea to the one before.
#ifndef PLUMBLINE_GPU_ATTENTION_VARIANTS_CUH
#define PLUMBLINE_GPU_ATTENTION_VARIANTS_CUH

#include "attention/fp8_arrays.cuh"
#include "attention/problem.cuh"

namespace plumbline::gpu {

/// Variant 1: one thread a query, everything from global memory, the maximum found beforehand.
void naive_forward(const Stream& stream, const Task& task, const Outputs& outputs);

/// In naive_bf16: keys whose products with V are summed in float before the sum of o, in bf16,
/// takes them.
inline constexpr int kNaiveSumBlock = 32;

/// The same with scores, P and the sum of o rounded to bf16; no lse.
void naive_bf16_forward(const Stream& stream, const Task& task, const Outputs& outputs);

/// Variant 2: keys and values come through shared memory, tile by tile, and serve 32 queries.
void tiled_forward(const Stream& stream, const Task& task, const Outputs& outputs);

/// Variant 3: one pass over the keys with a running maximum; what was summed before is rescaled.
void fused_forward(const Stream& stream, const Task& task, const Outputs& outputs);

/// The same without the tiles of keys whose weights are provably negligible.
void fused_skipping_forward(const Stream& stream, const Task& task, const Outputs& outputs);

/// Variant 3 on tensor cores, in bf16, fp16 and tf32. To these kernels and those below q and k come
/// rotated (rotated_rows.cuh), and Problem::rotation is not read.
void mma_forward(const Stream& stream, const Task& task, const Outputs& outputs);

/// The same in bf16 and fp16 without the tiles of keys whose weights are provably negligible. With
/// FIRE and bias tensors nothing is known of a tile, and none is left out.
void mma_skipping_forward(const Stream& stream, const Task& task, const Outputs& outputs);

/// Both for one element format; every one has its own source file.
template <class Element>
void mma_forward_in(const Stream& stream, const Task& task, const Outputs& outputs);
template <class Element>
void mma_skipping_forward_in(const Stream& stream, const Task& task, const Outputs& outputs);

#if PLUMBLINE_ON_GPU
/// The same by wgmma and TMA, in bf16 and fp16, for head dimensions of 64 and 128; for others
/// mma_forward.
void wgmma_forward(const Stream& stream, const Task& task, const Outputs& outputs);

template <class Element>
void wgmma_forward_in(const Stream& stream, const Task& task, const Outputs& outputs);

/// The same in e4m3, for head dimensions of 64 and 128 alone. The task is that of the problem in
/// bf16.
void wgmma_fp8_forward(const Stream& stream, const Task& task, const Fp8Arrays& arrays,
                       const Outputs& outputs);

/// Whether this thread's device has wgmma: of compute capability 9.0, and no other.
bool device_has_wgmma();
#endif

}  // namespace plumbline::gpu

#endif
