// SPDX-License-Identifier: Apache-2.0
// What every variant of the ladder computes, and the parts of it that no variant does differently.
#ifndef PLUMBLINE_GPU_ATTENTION_PROBLEM_CUH
#define PLUMBLINE_GPU_ATTENTION_PROBLEM_CUH

#include <cstddef>

#include "attention/dropout.cuh"
#include "attention/mask.cuh"
#include "attention/rotation.cuh"
#include "bias/policy.cuh"
#include "core/formats.cuh"
#include "core/launch.cuh"

namespace plumbline::gpu {

inline constexpr float kLog2E = 1.44269504f;

/// Where the rows of an array lie, in elements: one after the other, elsewhere in memory, or those
/// of packed sequences.
struct RowPlaces {
  long long batch, head, token;
  const int* cu_seqlens;  // [batch + 1], or null: not packed
  int queries;            // of a packed array like q: its rows are the last of so many; else 0

  /// Whether there is such a row: packed sequences have fewer of them.
  __device__ bool has(int b, int row) const {
    if (!cu_seqlens) return true;
    const int tokens = cu_seqlens[b + 1] - cu_seqlens[b];
    return queries > 0 ? row >= queries - tokens : row < tokens;
  }

  /// Its first element. One that is not there has none, but those after it lie as if it were.
  __device__ std::size_t start(int b, int of_head, int row) const {
    if (cu_seqlens) row += queries > 0 ? cu_seqlens[b + 1] - queries : cu_seqlens[b];
    return static_cast<std::size_t>(b * batch + of_head * head + row * token);
  }
};

/// Attention in device memory; layouts, masks and formulas as kernel_abi/plumbline_kernel.h has
/// them. q, k, v and grad_o are in the problem's format, all arithmetic is in fp32.
struct Problem {
  int batch, heads, kv_heads, queries, keys;
  float scale;
  float softcap;  // 0: none
  Format format;
  Format output_format;  // of o and of the gradients of q, k and v
  float lse_scale;       // lse is stored times 1, or to base 2 times log2 e
  Mask mask;
  Rotation rotation;  // of q and k as they are loaded; none where they come rotated
  const void *q, *k, *v;
  const float* ssmax_scale;   // [heads], or null: no SSMax
  const int* visible_counts;  // [batch, queries], with SSMax only
  const float* sinks;         // [heads], or null: no attention sinks
  MaskTensor mask_tensor;
  int value_dim;  // of a row of v and o
  PairDropout dropout;
  RowPlaces q_rows, k_rows, v_rows, o_rows, lse_rows;  // gradients lie like what they are of

  /// The position of query row 0 of sequence b.
  __device__ int first_position(int b) const { return gpu::first_position(mask, b); }

  /// First element of query row `row` in a contiguous q or o: `width` is head_dim or value_dim.
  __device__ std::size_t query_start(int b, int head, int row, int width) const {
    return ((static_cast<std::size_t>(b) * heads + head) * queries + row) * width;
  }

  /// First element of key `key` in a contiguous k or v, as query head `head` sees them.
  __device__ std::size_t key_start(int b, int head, int key, int width) const {
    const int kv_head = kv_head_of(head);
    return ((static_cast<std::size_t>(b) * kv_heads + kv_head) * keys + key) * width;
  }

  /// The natural lse of a row, as the backward pass is given it.
  __device__ float natural_lse(const float* lse, int b, int head, int row) const {
    return lse[lse_rows.start(b, head, row)] / lse_scale;
  }

  __device__ int kv_head_of(int head) const { return head / (heads / kv_heads); }

  /// Component d of a query row, rotated where the problem has RoPE.
  __device__ __forceinline__ float query(std::size_t start, int d, int position) const {
    return load_rotated(rotation, q, format, start, d, position);
  }

  /// Component d of the key at `position`, likewise.
  __device__ __forceinline__ float key(std::size_t start, int d, int position) const {
    return load_rotated(rotation, k, format, start, d, position);
  }

  /// Component d of the row of v or dO that begins at `start`; 0 beyond value_dim, where a tile is
  /// wider.
  __device__ __forceinline__ float value(const void* array, std::size_t start, int d) const {
    return d < value_dim ? load_element(array, format, start + d) : 0.0f;
  }

  /// Whether a query row sees a key. `range` is that of its position.
  __device__ bool sees(const KeyRange& range, const At& at, int key) const {
    if (!visible(mask, range, at.batch, at.position, key)) return false;
    if (!mask_tensor.values) return true;
    const int b = mask_tensor.per_batch ? at.batch : 0, head = mask_tensor.per_head ? at.head : 0;
    const std::size_t of_head =
        static_cast<std::size_t>(b) * (mask_tensor.per_head ? heads : 1) + head;
    return mask_tensor.values[(of_head * queries + at.row) * keys + key] != 0;
  }

  /// Whether it sees any. Documents leave a position its own key; only a tensor hides all.
  __device__ bool sees_any(const At& at) const {
    const KeyRange range = key_range(mask, at.batch, at.position);
    if (!mask_tensor.values) return range.begin < range.end;
    int key = range.begin;
    while (key < range.end && !sees(range, at, key)) ++key;
    return key < range.end;
  }

  /// Where a number of each batch, head and query row stands, in arrays of the kernels' own.
  __device__ std::size_t row_index(int b, int head, int row) const {
    return (static_cast<std::size_t>(b) * heads + head) * queries + row;
  }

  /// Where a number of each batch, head, query row and key stands.
  __device__ std::size_t pair_index(const At& at, int key) const {
    return row_index(at.batch, at.head, at.row) * keys + key;
  }

  /// m_ij x: x after dropout.
  __device__ float dropped(const At& at, int key, float x) const {
    return dropout.keeps(pair_index(at, key)) ? dropout.factor * x : 0.0f;
  }

  /// Where a number of each batch, head and key stands.
  __device__ std::size_t sum_index(int b, int head, int key) const {
    return (static_cast<std::size_t>(b) * heads + head) * keys + key;
  }

  /// A scaled product as it is, or with a softcap softcap * tanh(product / softcap).
  __device__ float capped(float product) const {
    return softcap > 0.0f ? softcap * tanhf(product / softcap) : product;
  }

  /// The derivative of what is capped: 1 - tanh^2, or 1.
  __device__ float cap_slope(float capped) const {
    if (!(softcap > 0.0f)) return 1.0f;
    const float t = capped / softcap;
    return 1.0f - t * t;
  }

  /// Where a row's softmax begins: with the sink's logit and its weight, e^0, or with no key.
  __device__ float first_maximum(int head) const { return sinks ? sinks[head] : -INFINITY; }
  __device__ float first_sum() const { return sinks ? 1.0f : 0.0f; }

  /// ln n_i, with SSMax only and where the row sees a key.
  __device__ float log_visible(int b, int row) const {
    return logf(static_cast<float>(visible_counts[static_cast<std::size_t>(b) * queries + row]));
  }

  /// c_i = s_h ln(n_i) of SSMax, or 1. Of no use where the row sees no key.
  __device__ float logit_factor(int b, int head, int row) const {
    return ssmax_scale ? ssmax_scale[head] * log_visible(b, row) : 1.0f;
  }

  /// The same in units of log2: c_i log2 e = s_h log2(n_i), or log2 e.
  __device__ float log2_logit_factor(int b, int head, int row) const {
    if (!ssmax_scale) return kLog2E;
    const int visible = visible_counts[static_cast<std::size_t>(b) * queries + row];
    return ssmax_scale[head] * log2f(static_cast<float>(visible));
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

/// What a kernel is asked for, whatever the pass.
struct Task {
  Problem problem;
  BiasInputs bias;
  int head_dim;  // one of HeadDims, but with variant 1
};

/// Where the forward pass writes.
struct Outputs {
  void* o;
  float* lse;
};

}  // namespace plumbline::gpu

#endif
