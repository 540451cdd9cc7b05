// SPDX-License-Identifier: Apache-2.0
// What the tiled rungs share: a block of 128 threads works on 32 queries and 32 keys at a time.
//
// Four neighbouring lanes own a query row. Each computes the logits of eight keys of the tile and
// holds a quarter of the output's columns, so that only these four lanes ever exchange anything
// about a row, by shuffles and by P in shared memory.
#ifndef PLUMBLINE_GPU_ATTENTION_KEY_TILE_CUH
#define PLUMBLINE_GPU_ATTENTION_KEY_TILE_CUH

#include <source_location>

#include "attention/dispatch.cuh"
#include "core/shared_memory.cuh"
#include "core/vector4.cuh"
#include "core/warp.cuh"

namespace plumbline::gpu {

inline constexpr int kTileQueries = 32;
inline constexpr int kTileKeys = 32;
inline constexpr int kLanesPerRow = 4;
inline constexpr int kTileThreads = kTileQueries * kLanesPerRow;
/// Blocks that a multiprocessor shall hold: leaves 128 registers to a thread. Without it ptxas aims
/// for more blocks than shared memory has room for, and spills.
inline constexpr int kTileBlocks = 4;
inline constexpr int kKeysPerLane = kTileKeys / kLanesPerRow;

/// P of a key that the row does not see. Never multiplied with V, which may hold an infinity there.
inline constexpr float kInvisible = -1.0f;

/// Shared memory of a block, all in fp32. K lies transposed, so that the eight keys of a lane are
/// neighbours; the strides are padded against bank conflicts.
template <int D>
struct Tile {
  static constexpr int kQueryStride = D + 1;
  static constexpr int kKeyStride = kTileKeys + 4;
  static constexpr int kProbabilityStride = kTileKeys + 4;

  float* q;  // [kTileQueries][kQueryStride]
  float* k;  // [D][kKeyStride]
  float* v;  // [kTileKeys][D]
  float* p;  // [kTileQueries][kProbabilityStride]

  __device__ explicit Tile(SharedMemory& shared)
      : q(shared.take<float>(kTileQueries * kQueryStride)),
        k(shared.take<float>(D * kKeyStride)),
        v(shared.take<float>(kTileKeys * D)),
        p(shared.take<float>(kTileQueries * kProbabilityStride)) {}

  static constexpr std::size_t bytes() {
    return shared_bytes<float>(kTileQueries * kQueryStride) + shared_bytes<float>(D * kKeyStride) +
           shared_bytes<float>(kTileKeys * D) +
           shared_bytes<float>(kTileQueries * kProbabilityStride);
  }
};

/// A thread's place in the block and what it knows of its query row. Rows beyond the last query
/// see no key and write nothing, but go through every barrier.
template <class Bias>
struct TileRow {
  int b, head, row, row_in_tile, quarter;
  bool exists;
  int position;
  KeyRange range;        // of this row
  KeyRange block_range;  // of all rows of the block
  float factor;
  typename Bias::Row bias;

  template <class Element>
  __device__ TileRow(const Problem<Element>& problem, const typename Bias::Params& params) {
    const int thread = static_cast<int>(threadIdx.x);
    const int first_row = static_cast<int>(blockIdx.x) * kTileQueries;
    const int last_row = min(first_row + kTileQueries, problem.queries) - 1;
    b = static_cast<int>(blockIdx.z);
    head = static_cast<int>(blockIdx.y);
    row_in_tile = thread / kLanesPerRow;
    quarter = thread % kLanesPerRow;
    exists = first_row + row_in_tile <= last_row;
    row = min(first_row + row_in_tile, last_row);
    position = row + problem.query_offset;
    range = exists ? key_range(problem.mask, b, position) : KeyRange{0, 0};
    block_range = key_range(problem.mask, b, first_row + problem.query_offset,
                            last_row + problem.query_offset);
    factor = problem.logit_factor(b, head, row);
    bias = Bias::load_row(params, At{b, head, row, position, 0});
  }
};

/// Copies the block's queries; rows beyond the last are zero.
template <int D, class Element>
__device__ void load_queries(const Tile<D>& tile, const Problem<Element>& problem) {
  const int first_row = static_cast<int>(blockIdx.x) * kTileQueries;
  const Element* q = problem.q + problem.query_start(static_cast<int>(blockIdx.z),
                                                     static_cast<int>(blockIdx.y), first_row, D);
  for (int n = static_cast<int>(threadIdx.x); n < kTileQueries * D; n += kTileThreads) {
    const int row = n / D, d = n % D;
    tile.q[row * Tile<D>::kQueryStride + d] =
        first_row + row < problem.queries ? to_float(q[row * D + d]) : 0.0f;
  }
}

/// Copies the keys begin .. begin+31, transposed; keys from `end` on are zero.
template <int D, class Element>
__device__ void load_keys(const Tile<D>& tile, const Problem<Element>& problem, int begin,
                          int end) {
  const Element* k = problem.k + problem.key_start(static_cast<int>(blockIdx.z),
                                                   static_cast<int>(blockIdx.y), begin, D);
  for (int n = static_cast<int>(threadIdx.x); n < kTileKeys * D; n += kTileThreads) {
    const int key = n / D, d = n % D;
    tile.k[d * Tile<D>::kKeyStride + key] = begin + key < end ? to_float(k[key * D + d]) : 0.0f;
  }
}

/// Copies the values begin .. begin+31; values from `end` on are zero.
template <int D, class Element>
__device__ void load_values(const Tile<D>& tile, const Problem<Element>& problem, int begin,
                            int end) {
  const Element* v = problem.v + problem.key_start(static_cast<int>(blockIdx.z),
                                                   static_cast<int>(blockIdx.y), begin, D);
  for (int n = static_cast<int>(threadIdx.x); n < kTileKeys * D; n += kTileThreads)
    tile.v[n] = begin + n / D < end ? to_float(v[n]) : 0.0f;
}

/// The logits of this thread's row and its eight keys of the tile at `begin`, and which of them the
/// row sees. A logit that it does not see is -infinity.
struct TileLogits {
  float logit[kKeysPerLane];
  unsigned visible = 0;  // bit n: key n

  __device__ bool sees(int n) const { return (visible >> n & 1u) != 0; }

  template <int D, class Element, class Bias>
  __device__ TileLogits(const Tile<D>& tile, const Problem<Element>& problem,
                        const typename Bias::Params& params, const TileRow<Bias>& row, int begin,
                        Bias) {
    float4 low{0.0f, 0.0f, 0.0f, 0.0f}, high = low;
    const float* q = tile.q + row.row_in_tile * Tile<D>::kQueryStride;
    const float* k = tile.k + row.quarter * kKeysPerLane;
#pragma unroll 8
    for (int d = 0; d < D; ++d) {
      multiply_add(low, q[d], load4(k + d * Tile<D>::kKeyStride));
      multiply_add(high, q[d], load4(k + d * Tile<D>::kKeyStride + 4));
    }
    const float score[kKeysPerLane] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    const int first_key = begin + row.quarter * kKeysPerLane;
#pragma unroll
    for (int n = 0; n < kKeysPerLane; ++n) {
      const At at{row.b, row.head, row.row, row.position, first_key + n};
      logit[n] = -INFINITY;
      if (!gpu::visible(problem.mask, row.range, row.b, row.position, at.key)) continue;
      visible |= 1u << n;
      logit[n] =
          rounded_product(row.factor, Bias::add(params, row.bias, problem.scale * score[n], at));
    }
  }

  __device__ float maximum() const {
    float largest = logit[0];
#pragma unroll
    for (int n = 1; n < kKeysPerLane; ++n) largest = fmaxf(largest, logit[n]);
    return largest;
  }
};

/// Over the four lanes of a row.
__device__ inline float row_maximum(float x) {
  x = fmaxf(x, shuffle_xor(x, 1));
  return fmaxf(x, shuffle_xor(x, 2));
}

__device__ inline float row_sum(float x) {
  x += shuffle_xor(x, 1);
  return x + shuffle_xor(x, 2);
}

/// Writes this lane's eight P = exp(logit - shift) for the row's other lanes; returns their sum.
template <int D, class Bias>
__device__ float store_probabilities(const Tile<D>& tile, const TileLogits& logits,
                                     const TileRow<Bias>& row, float shift) {
  float* p = tile.p + row.row_in_tile * Tile<D>::kProbabilityStride + row.quarter * kKeysPerLane;
  float sum = 0.0f;
#pragma unroll
  for (int n = 0; n < kKeysPerLane; ++n) {
    p[n] = kInvisible;
    if (!logits.sees(n)) continue;
    p[n] = expf(logits.logit[n] - shift);
    sum += p[n];
  }
  return sum;
}

/// A lane's quarter of the output row: columns 16n + 4*quarter .. + 3. Interleaved so that the four
/// lanes read one contiguous piece of V.
template <int D>
struct OutputQuarter {
  float4 value[D / 16];

  __device__ OutputQuarter() {
#pragma unroll
    for (int n = 0; n < D / 16; ++n) value[n] = {0.0f, 0.0f, 0.0f, 0.0f};
  }

  __device__ void rescale(float factor) {
#pragma unroll
    for (int n = 0; n < D / 16; ++n) scale(value[n], factor);
  }

  /// += P V of the tile.
  template <class Bias>
  __device__ void accumulate(const Tile<D>& tile, const TileRow<Bias>& row) {
    const float* p = tile.p + row.row_in_tile * Tile<D>::kProbabilityStride;
    const float* v = tile.v + 4 * row.quarter;
    for (int key = 0; key < kTileKeys; ++key) {
      if (p[key] == kInvisible) continue;
#pragma unroll
      for (int n = 0; n < D / 16; ++n) multiply_add(value[n], p[key], load4(v + key * D + 16 * n));
    }
  }

  /// Writes o = value / sum, and the row's lse = shift + ln sum; 0 and -infinity for an empty row.
  template <class Element, class Bias>
  __device__ void write(const Problem<Element>& problem, const TileRow<Bias>& row, float maximum,
                        float sum) const {
    if (!row.exists) return;
    Element* o = problem.o + problem.query_start(row.b, row.head, row.row, D) + 4 * row.quarter;
    const bool empty = sum == 0.0f;
#pragma unroll
    for (int n = 0; n < D / 16; ++n) {
      o[16 * n + 0] = from_float<Element>(empty ? 0.0f : value[n].x / sum);
      o[16 * n + 1] = from_float<Element>(empty ? 0.0f : value[n].y / sum);
      o[16 * n + 2] = from_float<Element>(empty ? 0.0f : value[n].z / sum);
      o[16 * n + 3] = from_float<Element>(empty ? 0.0f : value[n].w / sum);
    }
    if (row.quarter == 0)
      problem.lse[problem.lse_index(row.b, row.head, row.row)] =
          empty ? -INFINITY : maximum + logf(sum);
  }
};

/// Grid of the tiled rungs; errors are told with the caller's line.
template <class Element>
LaunchShape tile_launch(const Problem<Element>& problem, std::size_t shared,
                        std::source_location where = std::source_location::current()) {
  const auto tiles = static_cast<unsigned>((problem.queries + kTileQueries - 1) / kTileQueries);
  return {dim3{tiles, static_cast<unsigned>(problem.heads), static_cast<unsigned>(problem.batch)},
          dim3{kTileThreads}, shared, where};
}

}  // namespace plumbline::gpu

#endif
