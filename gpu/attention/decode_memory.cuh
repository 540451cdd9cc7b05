// SPDX-License-Identifier: Apache-2.0
// What a block of decoding has in shared memory: its rows and queries, and of each warp the keys
// and values that it works on, as the cache stores them.
#ifndef PLUMBLINE_GPU_ATTENTION_DECODE_MEMORY_CUH
#define PLUMBLINE_GPU_ATTENTION_DECODE_MEMORY_CUH

#include "attention/decode.cuh"
#include "core/cp_async.cuh"
#include "core/shared_memory.cuh"
#include "core/warp.cuh"

namespace plumbline::gpu::decode {

inline constexpr int kRows = 8;
inline constexpr int kKeys = 32;  // of a warp's tile: a lane each
inline constexpr int kMostWarps = 4;
inline constexpr int kAtOnce = 8;  // components of a key, or keys of a column, in registers

/// Which query row of which head is row `index` of a key head.
struct RowAt {
  int head, row;

  __device__ RowAt(const Problem& problem, int kv_head, int index)
      : head(kv_head * (problem.heads / problem.kv_heads) + index / problem.queries),
        row(index % problem.queries) {}
};

__device__ inline int rows_of_key_head(const Problem& problem) {
  return problem.heads / problem.kv_heads * problem.queries;
}

/// What a row is, for all warps.
template <class Bias>
struct Row {
  At at;
  KeyRange range;
  float factor;
  typename Bias::Row bias;
};

/// Shared memory of a warp. A lane writes and reads cells [row][lane] of its own, but where it says
/// otherwise.
struct WarpMemory {
  char *k, *v;             // [kKeys] rows of the cache; those of K are 16 bytes apart, so that
  int k_stride, v_stride;  // lanes that read a column each have banks of their own
  std::size_t *k_starts, *v_starts;  // [kKeys] where each key's row begins in the cache
  float* p;                          // [kRows][kKeys]: logits, then weights, which all lanes read
  float* sum;                        // [kRows][kKeys]

  __host__ __device__ static constexpr int k_row(int head_dim, int bytes) {
    return head_dim * bytes + 16;
  }
};

/// Shared memory of a block.
template <int D, class Bias>
struct Memory {
  float* q;              // [kRows][D]
  Row<Bias>* rows;       // [kRows]
  float *maximum, *sum;  // [warps][kRows], when the warps are done
  WarpMemory warp;       // of this thread's

  /// @param bytes of an element of the cache.
  __device__ Memory(SharedMemory& shared, int warps, int bytes)
      : q(shared.take<float>(kRows * D)),
        rows(shared.take<Row<Bias>>(kRows)),
        maximum(shared.take<float>(kMostWarps * kRows)),
        sum(shared.take<float>(kMostWarps * kRows)) {
    const int own = static_cast<int>(threadIdx.x / kWarpSize);
    warp.k_stride = WarpMemory::k_row(D, bytes);
    warp.v_stride = D * bytes;
    const auto of_warps = [&]<class T>(T*& array, int count) {
      array = shared.take<T>(static_cast<std::size_t>(warps) * count) + own * count;
    };
    of_warps(warp.k, kKeys * warp.k_stride);
    of_warps(warp.v, kKeys * warp.v_stride);
    of_warps(warp.k_starts, kKeys);
    of_warps(warp.v_starts, kKeys);
    of_warps(warp.p, kRows * kKeys);
    of_warps(warp.sum, kRows * kKeys);
  }

  static constexpr std::size_t bytes(int warps, int element) {
    const auto of_warps = static_cast<std::size_t>(warps * kKeys);
    return shared_bytes<float>(kRows * D) + shared_bytes<Row<Bias>>(kRows) +
           2 * shared_bytes<float>(kMostWarps * kRows) +
           shared_bytes<char>(of_warps * WarpMemory::k_row(D, element)) +
           shared_bytes<char>(of_warps * D * element) + 2 * shared_bytes<std::size_t>(of_warps) +
           2 * shared_bytes<float>(of_warps * kRows);
  }
};

/// Starts to copy rows of D elements of `kBytes`, of which `width` are there, from where the cache
/// has them; rows from `exist` on, and what is beyond the width, become zero.
template <int D, int kBytes>
__device__ void copy_rows(char* to, int stride, const void* cache, const std::size_t* starts,
                          int exist, int width, bool aligned) {
  constexpr int kChunks = D * kBytes / 16;
  const int lane = static_cast<int>(lane_index());
#pragma unroll 4
  for (int n = 0; n < kChunks; ++n) {
    const int index = n * kKeys + lane, row = index / kChunks, at = index % kChunks * 16;
    const int bytes = row < exist ? max(min(width * kBytes - at, 16), 0) : 0;
    const char* from =
        static_cast<const char*>(cache) + (bytes > 0 ? starts[row] * kBytes + at : 0);
    char* const shared = to + row * stride + at;
    if (aligned) {
      cp_async_16(shared, from, bytes);
    } else {
      for (int byte = 0; byte < 16; ++byte) shared[byte] = byte < bytes ? from[byte] : '\0';
    }
  }
}

/// Where the keys or values of this block are. `aligned`: every row begins on a boundary of 16
/// bytes.
struct Source {
  const void* cache;
  const RowPlaces& places;
  int width;
  bool aligned;
};

/// Starts to copy keys begin .. end - 1, at most kKeys of them, when all lanes are done with what
/// was there.
template <int D>
__device__ void copy_keys(char* to, int stride, std::size_t* starts, const Source& from,
                          const Cache& cache, int bytes, int begin, int end) {
  const int lane = static_cast<int>(lane_index());
  const int exist = min(max(end - begin, 0), kKeys);
  if (lane < exist)
    starts[lane] = cache.start(from.places, static_cast<int>(blockIdx.z),
                               static_cast<int>(blockIdx.y), begin + lane);
  __syncwarp();  // the starts are there for all lanes, which have read the keys before
  const auto copy = [&]<int kBytes>() {
    copy_rows<D, kBytes>(to, stride, from.cache, starts, exist, from.width, from.aligned);
  };
  if (bytes == 1)
    copy.template operator()<1>();
  else if (bytes == 2)
    copy.template operator()<2>();
  else
    copy.template operator()<4>();
}

/// Components d, ... of the key at `position`, rotated where there is RoPE; of 8 bits times its
/// scale.
template <class T>
__device__ __forceinline__ void load_components(const Rotation& rotation, const T* row, int d,
                                                int position, float scale,
                                                float (&components)[kAtOnce]) {
  load_rotated_components(rotation, row, d, position, components);
  if constexpr (sizeof(T) == 1)
    for (float& component : components) component *= scale;
}

/// The block's queries, and what its rows are; queries that do not exist are zero.
template <int D, class Bias>
__device__ void load_queries(const Memory<D, Bias>& shared, const Problem& problem,
                             const typename Bias::Params& params, int first_row, int rows) {
  const int b = static_cast<int>(blockIdx.z), kv_head = static_cast<int>(blockIdx.y);
  const int first_position = problem.first_position(b);
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < rows) {
    const RowAt row(problem, kv_head, first_row + thread);
    const At at{b, row.head, row.row, row.row + first_position};
    shared.rows[thread] = {at, key_range(problem.mask, b, at.position),
                           problem.logit_factor(b, at.head, at.row), Bias::load_row(params, at)};
  }
  for (int n = thread; n < kRows * D; n += static_cast<int>(blockDim.x)) {
    shared.q[n] = 0.0f;
    if (n / D >= rows) continue;
    const RowAt row(problem, kv_head, first_row + n / D);
    shared.q[n] =
        problem.query(problem.q_rows.start(b, row.head, row.row), n % D, row.row + first_position);
  }
}

/// Whether all rows of an array of the cache begin on boundaries of 16 bytes.
inline bool has_aligned_rows(const void* array, const RowPlaces& rows, int element_bytes) {
  const auto is_aligned = [](std::uint64_t address) { return address % 16 == 0; };
  const auto bytes = [&](long long elements) {
    return static_cast<std::uint64_t>(elements) * static_cast<std::uint64_t>(element_bytes);
  };
  return is_aligned(reinterpret_cast<std::uintptr_t>(array)) && is_aligned(bytes(rows.batch)) &&
         is_aligned(bytes(rows.head)) && is_aligned(bytes(rows.token));
}

}  // namespace plumbline::gpu::decode

#endif
