// SPDX-License-Identifier: Apache-2.0
// What decoding keeps of a layer's tokens: keys, values and, for methods that have them, prefix
// sums. A cache of this layout is read by Attention::decode as one page of `capacity` keys a
// sequence, pages[b] = b, with prefix_stride = capacity.
#ifndef PLUMBLINE_GPU_ATTENTION_CACHE_CUH
#define PLUMBLINE_GPU_ATTENTION_CACHE_CUH

#include "core/formats.cuh"
#include "core/launch.cuh"

namespace plumbline::gpu {

/// `added` tokens come after the `before` tokens that a cache holds of every sequence.
struct Appended {
  int batch, heads, capacity, before, added;
};

/// cache[b, h, before + t, d] = rows[b, h, t, d], bits unchanged. Shapes, in device memory: rows
/// [batch, heads, added, head_dim], cache [batch, heads, capacity, head_dim], both of `format`.
/// @throws std::invalid_argument unless the tokens fit into the capacity, every size is at least 1
/// (before: 0), head_dim a multiple of 8 and both arrays are aligned to 16 bytes.
void append_rows(const Stream& stream, Format format, const Appended& shape, int head_dim,
                 const void* rows, void* cache);

/// sums[b, h, i] = sums[b, h, i - 1] + increments[b, h, i - before] for the added i, in double, one
/// after the other; nothing stands before the first. Shapes, in device memory: increments [batch,
/// heads, added], sums [batch, heads, capacity]. However a sequence is cut into calls, its sums
/// have the same bits. @throws std::invalid_argument as append_rows.
void append_prefix_sums(const Stream& stream, const Appended& shape, const float* increments,
                        double* sums);

}  // namespace plumbline::gpu

#endif
