// SPDX-License-Identifier: Apache-2.0
// Decoding from host memory to host memory, and what its kernels share.
#ifndef PLUMBLINE_GPU_ATTENTION_DECODE_CUH
#define PLUMBLINE_GPU_ATTENTION_DECODE_CUH

#include <string>

#include "attention/problem.cuh"
#include "plumbline_kernel.h"

namespace plumbline::gpu {

/// Most ranges that the keys are split into.
inline constexpr int kMostSplits = 64;

/// Fewest keys of a split.
inline constexpr int kLeastSplitKeys = 64;

/// Where the keys of a sequence lie, in pages, in the order of a table, or without one as Problem
/// has them; and how they are stored.
struct Cache {
  const int* pages;  // [batch, pages_per_sequence], or null
  int page_size, pages_per_sequence;
  CacheFormat format;
  bool scale_per_key;
  const float *k_scale, *v_scale;  // of 8 bits: [batch, kv_heads], or of each key where it lies

  /// The page with a key.
  __device__ int page_of(int b, int key) const {
    return pages[static_cast<std::size_t>(b) * pages_per_sequence + key / page_size];
  }

  /// First element of a key in k or v, which lie so.
  __device__ std::size_t start(const RowPlaces& rows, int b, int kv_head, int key) const {
    return pages ? rows.start(page_of(b, key), kv_head, key % page_size)
                 : rows.start(b, kv_head, key);
  }

  /// The same where rows of `width` numbers lie one after the other.
  __device__ std::size_t key_start(const Problem& problem, int b, int kv_head, int key,
                                   int width) const {
    const auto block = static_cast<std::size_t>(pages ? page_of(b, key) : b);
    const int rows = pages ? page_size : problem.keys;
    return ((block * problem.kv_heads + kv_head) * rows + key % rows) * width;
  }

  /// A key's number of k_scale or v_scale.
  __device__ float scale(const float* scales, const Problem& problem, int b, int kv_head,
                         int key) const {
    if (format == CacheFormat::in_format) return 1.0f;
    return scales[scale_per_key ? key_start(problem, b, kv_head, key, 1)
                                : static_cast<std::size_t>(b) * problem.kv_heads + kv_head];
  }

  /// Bytes of an element of k or v.
  __host__ __device__ int element_bytes(const Problem& problem) const {
    return format == CacheFormat::in_format ? static_cast<int>(gpu::element_bytes(problem.format))
                                            : 1;
  }

  /// Calls use.operator()<T>() for the type T of the elements of k and v.
  template <class Use>
  __device__ __forceinline__ void with_element(const Problem& problem, const Use& use) const {
    const int bytes = element_bytes(problem);
    if (bytes == 2) {
      if (problem.format == Format::bf16) return use.template operator()<bfloat16>();
      return use.template operator()<float16>();
    }
    if (bytes == 4) return use.template operator()<float>();
    if (format == CacheFormat::e4m3) return use.template operator()<float8_e4m3>();
    if (format == CacheFormat::e5m2) return use.template operator()<float8_e5m2>();
    use.template operator()<std::int8_t>();
  }
};

/// The softmax of each split of each row, by itself: o not yet divided by the sum. Rows as those of
/// lse.
struct Partials {
  float* o;        // [rows, splits, value_dim]
  float* maximum;  // [rows, splits]; -infinity where the row sees no key of the split
  float* sum;      // [rows, splits]
  int splits;
};

/// Ranges that the keys are split into: enough blocks for a large GPU, at least
/// kLeastSplitKeys keys each, at most kMostSplits. Follows from the problem alone, so that every
/// device computes the same bits.
int split_count(const plumbline_problem& problem);

/// Splits, then merge.
void split_kv_decode(const Stream& stream, const Task& task, const Cache& cache,
                     const Partials& partials, const Outputs& outputs);

/// As `unsupported_reason`, and what decoding asks beyond it: no dropout, at most 64 queries,
/// page_size 0 .. 2^30.
std::string unsupported_decode_reason(const plumbline_problem& problem);

/// As run_forward. Throws InvalidProblem also for a page table that is missing or holds a negative
/// page, but beyond a sequence's length, and there with CoPE and DAPE.
void run_decode(const plumbline_problem& problem, const plumbline_outputs& outputs);

}  // namespace plumbline::gpu

#endif
