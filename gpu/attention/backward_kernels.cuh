// SPDX-License-Identifier: Apache-2.0
// The backward pass step by step; all arrays are in device memory.
#ifndef PLUMBLINE_GPU_ATTENTION_BACKWARD_KERNELS_CUH
#define PLUMBLINE_GPU_ATTENTION_BACKWARD_KERNELS_CUH

#include "attention/backward_arrays.cuh"
#include "ops/column_sums.cuh"

namespace plumbline::gpu {

/// Sums that a block of query rows leaves for the parameters of heads.
int head_rows(const Task& task);

/// delta[b, h, r] = sum_d dO o - dL/dlse, in double, rounded once; grad_lse may be null. A row that
/// sees no key has no sum, whatever its dO holds, and dL/dlse with a sink alone. Runs first.
void backward_delta(const Stream& stream, const Task& task, const void* o, const void* grad_o,
                    const float* grad_lse, float* delta);

/// dK, dV and the keys' side of dS.
void backward_keys(const Stream& stream, const Task& task, const BackwardArrays& arrays);

/// The same on tensor cores, in bf16, fp16 and tf32: P and dZ are rounded to the format where they
/// meet dO and Q. To all kernels on tensor cores q and k come rotated (rotated_rows.cuh), and
/// Problem::rotation is not read.
void mma_backward_keys(const Stream& stream, const Task& task, const BackwardArrays& arrays);

/// The same for one element format; every one has its own source file.
template <class Element>
void mma_backward_keys_in(const Stream& stream, const Task& task, const BackwardArrays& arrays);

/// dQ and what belongs to queries and heads; with arrays.atomic all. Runs after backward_keys, or
/// after dk, dv and prefix_sum are zero.
void backward_queries(const Stream& stream, const Task& task, const BackwardArrays& arrays);

/// The same on tensor cores, in bf16, fp16 and tf32: dZ is rounded to the format where it meets K
/// and Q, P where it meets dO.
void mma_backward_queries(const Stream& stream, const Task& task, const BackwardArrays& arrays);

template <class Element>
void mma_backward_queries_in(const Stream& stream, const Task& task, const BackwardArrays& arrays);

#if PLUMBLINE_ON_GPU
/// Both by wgmma and TMA, on a device that has them (variants.cuh), in bf16 and fp16 for head
/// dimensions of 64 and 128. The rest is done by mma, and over queries FIRE's gradients where its
/// hidden layer is too wide for the shared memory.
void wgmma_backward_keys(const Stream& stream, const Task& task, const BackwardArrays& arrays);
void wgmma_backward_queries(const Stream& stream, const Task& task, const BackwardArrays& arrays);

template <class Element>
void wgmma_backward_keys_in(const Stream& stream, const Task& task, const BackwardArrays& arrays);
template <class Element>
void wgmma_backward_queries_in(const Stream& stream, const Task& task,
                               const BackwardArrays& arrays);
#endif

enum class RowsOf { queries, keys, values };

/// All rows of a gradient in fp32, those of queries and keys rotated back by RoPE. Rounds to the
/// problem's format.
void backward_store(const Stream& stream, const Task& task, const float* gradient, void* stored,
                    RowsOf of);

/// grad[h, n] (or grad[n], over all heads) = sum of partial[b, h, tile, first + n] in a fixed
/// order, n < count, or that and what was there; partial has `stride` numbers for each tile. The
/// sum is taken in double and rounded once.
struct HeadPartial {
  const double* partial;
  int batch, heads, tiles, stride, first, count;
  bool shared_by_heads;
};
void backward_reduce(const Stream& stream, const HeadPartial& from, float* grad, Gradient mode);

/// grad[h] = -sum over batch and queries of exp(sinks[h] - lse) delta, in double and a fixed order,
/// rounded once.
void backward_sinks(const Stream& stream, const Task& task, const BackwardArrays& arrays,
                    float* grad, Gradient mode);

/// The gradient of a bias tensor: dL/db_ij, [batch, heads, queries, keys], summed over the axes of
/// which the tensor has one, in double and a fixed order, rounded once.
void backward_reduce_pairs(const Stream& stream, const Task& task, const float* pairs, float* grad,
                           Gradient mode);

}  // namespace plumbline::gpu

#endif
