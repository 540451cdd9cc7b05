// SPDX-License-Identifier: Apache-2.0
// Tiles of queries, keys and values in shared memory, and how tensor-core kernels read them. A
// block has four warps, each with 16 query rows or a multiple of them.
#ifndef PLUMBLINE_GPU_ATTENTION_MMA_TILE_CUH
#define PLUMBLINE_GPU_ATTENTION_MMA_TILE_CUH

#include "attention/problem.cuh"
#include "core/cp_async.cuh"
#include "core/ldmatrix.cuh"
#include "core/mma.cuh"
#include "core/shared_memory.cuh"

namespace plumbline::gpu {

inline constexpr int kMmaThreads = 128;
inline constexpr int kMmaWarps = kMmaThreads / 32;
inline constexpr int kMmaWarpRows = 16;

/// A tile of rows of D elements, which a block of `threads` threads copies. Rows are padded by 16
/// bytes, so that eight consecutive ones lie in different banks, and elements in tf32 of two rows,
/// two rows apart, do not collide either.
template <int D, class Element, int threads = kMmaThreads>
struct MmaTile {
  using Storage = typename MmaStorage<Element>::type;
  static constexpr int kChunk = 16 / static_cast<int>(sizeof(Storage));  // elements in 16 bytes
  static constexpr int kStride = D + kChunk;
  static constexpr int kDepth = kMmaDepth<Element>;
  static constexpr int kSteps = D / kDepth;
  /// Keys of a tile: fewer where shared memory is short.
  static constexpr int kKeys = D * static_cast<int>(sizeof(Storage)) <= 256 ? 64 : 32;

  Storage* data;

  static constexpr std::size_t bytes(int rows) {
    return shared_bytes<Storage>(static_cast<std::size_t>(rows) * kStride);
  }

  __device__ static MmaTile take(SharedMemory& shared, int rows) {
    return {shared.take<Storage>(static_cast<std::size_t>(rows) * kStride)};
  }

  /// The tile that begins with its row `row`.
  __device__ MmaTile from(int row) const { return {data + row * kStride}; }

  /// Of a row the column `lane_column` + `column`, the latter known to the compiler.
  __device__ __forceinline__ Storage* place(int row, int lane_column, int column) const {
    return data + row * kStride + lane_column + column;
  }

  /// 16 bytes of a row's own, in its padding.
  template <class Note>
  __device__ Note& note(int row) const {
    static_assert(sizeof(Note) <= kChunk * sizeof(Storage));
    return *reinterpret_cast<Note*>(data + row * kStride + D);
  }

  /// Starts to copy `rows` rows, of which `exist` are there, from `global` on; the others become
  /// zero.
  __device__ void copy(const Storage* global, int rows, int exist) const {
    constexpr int chunks = D / kChunk;
    if constexpr (threads % chunks == 0) {
      // Of a whole tile a thread has the same column of every kStep-th row: constant offsets.
      constexpr int kStep = threads / chunks;
      if (exist >= rows && rows % kStep == 0) {
        const int row = static_cast<int>(threadIdx.x) / chunks;
        const int column = static_cast<int>(threadIdx.x) % chunks * kChunk;
        Storage* const to = data + row * kStride + column;
        const Storage* const from = global + row * D + column;
#pragma unroll
        for (int n = 0; n < rows / kStep; ++n)
          cp_async_16(to + n * (kStep * kStride), from + n * (kStep * D));
        return;
      }
    }
#pragma unroll 1
    for (int n = static_cast<int>(threadIdx.x); n < rows * chunks; n += threads) {
      const int row = n / chunks, column = n % chunks * kChunk;
      const bool exists = row < exist;
      cp_async_16(data + row * kStride + column, global + (exists ? row : 0) * D + column,
                  exists ? 16 : 0);
    }
  }

  /// Writes the rows from `row` on, of which `exist` are there and at most `rows`, to `global`,
  /// where they follow one another: by the lanes of a warp, 16 bytes each.
  template <int rows>
  __device__ __forceinline__ void write_rows(Storage* global, int lane, int row, int exist) const {
    struct [[gnu::may_alias]] alignas(16) Chunk {
      std::uint32_t words[4];
    };
    constexpr int chunks = D / kChunk, kLanes = 32;
    static_assert(rows * chunks % kLanes == 0);
#pragma unroll
    for (int first = 0; first < rows * chunks; first += kLanes) {
      const int n = first + lane, of_row = n / chunks, column = n % chunks * kChunk;
      if (of_row < exist)
        *reinterpret_cast<Chunk*>(global + n * kChunk) =
            *reinterpret_cast<const Chunk*>(data + (row + of_row) * kStride + column);
    }
  }

  /// The row becomes zero, by `lanes` lanes, of which this is `lane`.
  __device__ void clear_row(int row, int lane, int lanes) const {
    for (int column = lane; column < D; column += lanes)
      data[row * kStride + column] = from_float<Storage>(0.0f);
  }

  // Addresses are a lane's own offset plus a constant of the unrolled loops, in this order: as one
  // index, every sum of the two would be kept in a register of its own.

  /// A from the 16 rows from `row` on; step n has its columns n kDepth ...
  __device__ __forceinline__ void load_a(std::uint32_t (&a)[4], int lane, int row, int step) const {
    ldmatrix_x4(a, lane, [&](int n) {
      return data + (row + n % 16) * kStride + n / 16 * (kDepth / 2) + step * kDepth;
    });
  }

  /// B = the transpose of the 16 rows from `row` on: those are B's columns.
  __device__ __forceinline__ void load_b_rows(std::uint32_t (&b)[4], int lane, int row,
                                              int step) const {
    ldmatrix_x4(b, lane, [&](int n) {
      return data + (n % 8 + n / 16 * 8) * kStride + n / 8 % 2 * (kDepth / 2) +
             (row * kStride + step * kDepth);
    });
  }

  /// B = kDepth rows from `row` on, its 16 columns from `column` on. In tf32 the rows come in the
  /// order of `accumulators_as_a`: 0 2 4 6 1 3 5 7.
  __device__ __forceinline__ void load_b_columns(std::uint32_t (&b)[4], int lane, int row,
                                                 int column) const {
    if constexpr (kDepth == 8) {
      const float* element = data + 2 * (lane % 4) * kStride + lane / 4 + (row * kStride + column);
#pragma unroll
      for (int n = 0; n < 4; ++n)
        memcpy(&b[n], element + (n % 2 * kStride + n / 2 * 8), sizeof b[n]);
    } else {
      ldmatrix_x4_trans(b, lane, [&](int n) {
        return data + n % 16 * kStride + n / 16 * 8 + (row * kStride + column);
      });
    }
  }
};

/// A from the accumulators of columns `step` kDepth ..., rounded to the element format. A lane has
/// the elements 2 place and 2 place + 1 of a tile of eight columns: in tf32 they stand for the
/// columns place and place + 4, which only changes the order of the sum.
template <class Element, int tiles>
__device__ __forceinline__ void accumulators_as_a(std::uint32_t (&a)[4], const float (&c)[tiles][4],
                                                  int step) {
  if constexpr (kMmaDepth<Element> == 8) {
    const float rounded[4] = {round_to_tf32(c[step][0]), round_to_tf32(c[step][2]),
                              round_to_tf32(c[step][1]), round_to_tf32(c[step][3])};
    memcpy(a, rounded, sizeof a);
  } else {
    a[0] = pack<Element>(c[2 * step][0], c[2 * step][1]);
    a[1] = pack<Element>(c[2 * step][2], c[2 * step][3]);
    a[2] = pack<Element>(c[2 * step + 1][0], c[2 * step + 1][1]);
    a[3] = pack<Element>(c[2 * step + 1][2], c[2 * step + 1][3]);
  }
}

/// Writes two neighbouring floats, the first at an even place of a tensor.
__device__ __forceinline__ void store_pair(float* address, float low, float high) {
  struct [[gnu::may_alias]] alignas(8) Pair {
    float low, high;
  };
  *reinterpret_cast<Pair*>(address) = {low, high};
}

/// The same of elements, rounded.
template <class Element>
__device__ __forceinline__ void store_pair(typename MmaStorage<Element>::type* address, float low,
                                           float high) {
  if constexpr (kMmaDepth<Element> == 8) {
    store_pair(address, low, high);
  } else {
    // No memcpy: of an address of 16-bit elements the compiler would store byte by byte.
    *reinterpret_cast<std::uint32_t*>(address) = pack<Element>(low, high);
  }
}

}  // namespace plumbline::gpu

#endif
