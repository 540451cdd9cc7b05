// SPDX-License-Identifier: Apache-2.0
// What the tensor cores of Hopper multiply in e4m3: values are transposed beforehand.
#ifndef PLUMBLINE_GPU_ATTENTION_FP8_ARRAYS_CUH
#define PLUMBLINE_GPU_ATTENTION_FP8_ARRAYS_CUH

#include "attention/problem.cuh"

namespace plumbline::gpu {

/// Scales of q, k and v, [batch, kv_heads], in device memory.
struct Fp8Scales {
  const float *q, *k, *v;
};

/// What a pass in e4m3 reads beside its task, whose q, k and v it does not. In device memory.
struct Fp8Arrays {
  const void *q, *k;   ///< as the problem has them
  const void* values;  ///< transposed
  Fp8Scales scales;
};

inline constexpr int kKeyGroup = 32;

/// Keys of a row of transposed values: whole groups, on a boundary of 16 bytes.
constexpr int padded_keys(int keys) { return (keys + kKeyGroup - 1) / kKeyGroup * kKeyGroup; }

/// Which key of its group of 32 stands in place `place`: for l = 0 ... 3 the places 4 l ... 4 l + 3
/// have the keys 2 l, 2 l + 1, 2 l + 8 and 2 l + 9, and those from 16 on the same, 16 later. So a
/// lane's accumulators of P are its A of the next product.
__host__ __device__ constexpr int key_in_place(int place) {
  return place / 16 * 16 + place % 16 / 4 * 2 + place % 2 + place / 2 % 2 * 8;
}

/// transposed[b, h, d, n] = v[b, h, key, d], in bits, the key being that in place n % 32 of its
/// group; 0 for a key that no query of the sequence sees, and beyond the last. D, the problem's
/// value_dim, is 64 or 128. Shapes: v [batch, kv_heads, keys, D], transposed [batch, kv_heads, D,
/// padded_keys(keys)].
void transpose_fp8_values(const Stream& stream, const Problem& problem, const void* v,
                          void* transposed);

}  // namespace plumbline::gpu

#endif
