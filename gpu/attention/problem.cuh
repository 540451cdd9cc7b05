// SPDX-License-Identifier: Apache-2.0
// What every rung of the ladder computes, and the parts of it that no rung does differently.
#ifndef PLUMBLINE_GPU_ATTENTION_PROBLEM_CUH
#define PLUMBLINE_GPU_ATTENTION_PROBLEM_CUH

#include <cstddef>

#include "attention/mask.cuh"
#include "bias/policy.cuh"
#include "core/bfloat16.cuh"
#include "core/launch.cuh"
#include "plumbline_kernel.h"

namespace plumbline::gpu {

/// Attention in device memory; layouts, masks and formulas as kernel_abi/plumbline_kernel.h has
/// them. Element is float or bfloat16.
template <class Element>
struct Problem {
  int batch, heads, kv_heads, queries, keys, query_offset;
  float scale;
  Mask mask;
  const Element *q, *k, *v;
  const float* ssmax_scale;   // [heads], or null: no SSMax
  const int* visible_counts;  // [batch, queries], with SSMax only
  Element* o;
  float* lse;

  /// First element of query row `row` in q and o.
  __device__ std::size_t query_start(int b, int head, int row, int head_dim) const {
    return ((static_cast<std::size_t>(b) * heads + head) * queries + row) * head_dim;
  }

  /// First element of key `key` in k and v, as query head `head` sees them.
  __device__ std::size_t key_start(int b, int head, int key, int head_dim) const {
    const int kv_head = head / (heads / kv_heads);
    return ((static_cast<std::size_t>(b) * kv_heads + kv_head) * keys + key) * head_dim;
  }

  __device__ std::size_t lse_index(int b, int head, int row) const {
    return (static_cast<std::size_t>(b) * heads + head) * queries + row;
  }

  /// c_i = s_h ln(n_i) of SSMax, or 1. Of no use where the row sees no key.
  __device__ float logit_factor(int b, int head, int row) const {
    if (!ssmax_scale) return 1.0f;
    const int count = visible_counts[static_cast<std::size_t>(b) * queries + row];
    return ssmax_scale[head] * logf(static_cast<float>(count));
  }
};

/// a * b rounded to fp32, never fused into a later addition. A logit is a product, and the maximum
/// of the logits is subtracted from it: fused, the difference at the largest logit would be the
/// product's rounding error instead of 0, and its exponential anything for huge logits.
__device__ inline float rounded_product(float a, float b) {
#if PLUMBLINE_ON_GPU
  return __fmul_rn(a, b);
#else
  return __builtin_assoc_barrier(a * b);
#endif
}

/// What is subtracted from the logits of a row before the exponential: their maximum, or 0 while
/// that is -infinity, so that no infinity is ever subtracted from itself.
__device__ inline float finite_shift(float maximum) {
  return maximum == -INFINITY ? 0.0f : maximum;
}

/// What a rung is asked for.
template <class Element>
struct Forward {
  Problem<Element> problem;
  BiasInputs bias_inputs;
  int head_dim;  // 32, 64 or 128
  plumbline_bias bias;
};

}  // namespace plumbline::gpu

#endif
