// SPDX-License-Identifier: Apache-2.0
// What decoding keeps of a layer's tokens: keys, rotated where the model has RoPE, values and, for
// methods that have them, prefix sums. A cache of this layout is read by Attention::decode as one
// page of `capacity` keys a sequence, pages[b] = b, with prefix_stride = capacity.
#ifndef PLUMBLINE_GPU_ATTENTION_CACHE_CUH
#define PLUMBLINE_GPU_ATTENTION_CACHE_CUH

#include "attention/rotation.cuh"
#include "core/formats.cuh"
#include "core/launch.cuh"

namespace plumbline::gpu {

/// New tokens of one sequence, of which a cache holds *before tokens already. `before` is in device
/// memory: what is launched once more for the next token has the same arguments.
struct Appended {
  int heads, kv_heads, head_dim, capacity, count;
  const int* before;
};

/// Rows of all heads, one after the other in a row of `stride` numbers: row t of head h begins at
/// number t stride + h head_dim. In device memory.
struct HeadRows {
  const void* first;
  int stride;
};

/// Where the new tokens come from, and where they go. All arrays in device memory, of `format`
/// where it does not say otherwise; the caches are those of one sequence.
struct AppendedArrays {
  Format format;
  HeadRows q, k, v;
  Rotation rotation;        ///< of q and k; its tables have `capacity` positions
  void* queries;            ///< [heads, count, head_dim]
  void *k_cache, *v_cache;  ///< [kv_heads, capacity, head_dim]
  const float* increments;  ///< [heads, count], or null
  double* sums;             ///< [heads, capacity], where there are increments
};

/// With n = *before: queries[h, t] = q_ht and k_cache[g, n + t] = k_gt, both rotated by the angles
/// of position n + t and rounded once to the format; v_cache[g, n + t] = v_gt, bits unchanged (a
/// NaN becomes the canonical one); sums[h, i] = sums[h, i - 1] + increments[h, i - n] for the new
/// i, in double, one after the other: nothing stands before the first. However a sequence is cut
/// into calls, its cache has the same bits. n + count must be at most the capacity.
/// @throws std::invalid_argument unless heads, kv_heads, head_dim, count >= 1, count <= capacity,
/// and for a null array.
void append_tokens(const Stream& stream, const Appended& shape, const AppendedArrays& arrays);

}  // namespace plumbline::gpu

#endif
