// SPDX-License-Identifier: Apache-2.0
// What the tiled variants share: a block of 128 threads works on 32 queries and 32 keys at a time.
//
// Four neighbouring lanes own a query row. Each computes the logits of eight keys of the tile and
// holds a quarter of the output's columns, so that only these four lanes ever exchange anything
// about a row, by shuffles and by P in shared memory.
#ifndef PLUMBLINE_GPU_ATTENTION_KEY_TILE_CUH
#define PLUMBLINE_GPU_ATTENTION_KEY_TILE_CUH

#include <source_location>

#include "attention/bias_tile.cuh"
#include "core/vector4.cuh"

namespace plumbline::gpu {

/// Blocks that a multiprocessor shall hold: leaves 128 registers to a thread. Without it ptxas aims
/// for more blocks than shared memory has room for, and spills.
inline constexpr int kTileBlocks = 4;

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
  int b, head, row, row_in_tile, lane_in_row;
  bool exists;
  int position, first_position;  // the row's, and that of the block's first row
  KeyRange range;                // of this row
  KeyRange block_range;          // of all rows of the block
  float factor;
  typename Bias::Row bias;

  __device__ TileRow(const Problem& problem, const typename Bias::Params& params) {
    const int thread = static_cast<int>(threadIdx.x);
    const int first_row = static_cast<int>(blockIdx.x) * kTileQueries;
    const int last_row = min(first_row + kTileQueries, problem.queries) - 1;
    b = static_cast<int>(blockIdx.z);
    head = static_cast<int>(blockIdx.y);
    row_in_tile = thread / kLanesPerRow;
    lane_in_row = thread % kLanesPerRow;
    exists = first_row + row_in_tile <= last_row;
    row = min(first_row + row_in_tile, last_row);
    first_position = first_row + problem.first_position(b);
    position = row - first_row + first_position;
    range = exists ? key_range(problem.mask, b, position) : KeyRange{0, 0};
    block_range = key_range(problem.mask, b, first_position, first_position + last_row - first_row);
    factor = problem.logit_factor(b, head, row);
    bias = Bias::load_row(params, at());
  }

  __device__ At at() const { return {b, head, row, position}; }
};

/// Copies the block's queries; rows beyond the last are zero.
template <int D>
__device__ void load_queries(const Tile<D>& tile, const Problem& problem) {
  const int first_row = static_cast<int>(blockIdx.x) * kTileQueries;
  const int b = static_cast<int>(blockIdx.z);
  const int first_position = first_row + problem.first_position(b);
  const RowPlaces& rows = problem.q_rows;
  const std::size_t start = rows.start(b, static_cast<int>(blockIdx.y), first_row);
  for (int n = static_cast<int>(threadIdx.x); n < kTileQueries * D; n += kTileThreads) {
    const int row = n / D, d = n % D;
    const bool there = first_row + row < problem.queries && rows.has(b, first_row + row);
    tile.q[row * Tile<D>::kQueryStride + d] =
        there ? problem.query(start + row * rows.token, d, first_position + row) : 0.0f;
  }
}

/// Copies the keys begin .. begin+31, transposed; keys from `end` on are zero.
template <int D>
__device__ void load_keys(const Tile<D>& tile, const Problem& problem, int begin, int end) {
  const RowPlaces& rows = problem.k_rows;
  const std::size_t start = rows.start(static_cast<int>(blockIdx.z),
                                       problem.kv_head_of(static_cast<int>(blockIdx.y)), begin);
  for (int n = static_cast<int>(threadIdx.x); n < kTileKeys * D; n += kTileThreads) {
    const int key = n / D, d = n % D;
    tile.k[d * Tile<D>::kKeyStride + key] =
        begin + key < end ? problem.key(start + key * rows.token, d, begin + key) : 0.0f;
  }
}

/// Copies the values begin .. begin+31; values from `end` on, and columns from value_dim on, are
/// zero.
template <int D>
__device__ void load_values(const Tile<D>& tile, const Problem& problem, int begin, int end) {
  const RowPlaces& rows = problem.v_rows;
  const std::size_t start = rows.start(static_cast<int>(blockIdx.z),
                                       problem.kv_head_of(static_cast<int>(blockIdx.y)), begin);
  for (int n = static_cast<int>(threadIdx.x); n < kTileKeys * D; n += kTileThreads) {
    const int key = n / D, d = n % D;
    tile.v[n] = begin + key < end ? problem.value(problem.v, start + key * rows.token, d) : 0.0f;
  }
}

/// The logits of this thread's row and its eight keys of the tile at `begin`, and which of them the
/// row sees. A logit that it does not see is -infinity.
struct TileLogits {
  float logit[kKeysPerLane];
  unsigned visible = 0;  // bit n: key n

  __device__ bool sees(int n) const { return (visible >> n & 1u) != 0; }

  template <int D, class Bias>
  __device__ TileLogits(const Tile<D>& tile, const BiasTile<Bias>& bias, const Problem& problem,
                        const typename Bias::Params& params, const TileRow<Bias>& row, int begin) {
    float4 low{0.0f, 0.0f, 0.0f, 0.0f}, high = low;
    const float* q = tile.q + row.row_in_tile * Tile<D>::kQueryStride;
    const float* k = tile.k + row.lane_in_row * kKeysPerLane;
#pragma unroll 8
    for (int d = 0; d < D; ++d) {
      multiply_add(low, q[d], load4(k + d * Tile<D>::kKeyStride));
      multiply_add(high, q[d], load4(k + d * Tile<D>::kKeyStride + 4));
    }
    const float score[kKeysPerLane] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    const int first_key = begin + row.lane_in_row * kKeysPerLane;
#pragma unroll
    for (int n = 0; n < kKeysPerLane; ++n) {
      logit[n] = -INFINITY;
      if (!problem.sees(row.range, row.at(), first_key + n)) continue;
      visible |= 1u << n;
      const float added = bias.value(params, row.head, row.bias, row.row_in_tile,
                                     row.lane_in_row * kKeysPerLane + n);
      logit[n] = rounded_product(row.factor, problem.capped(problem.scale * score[n]) + added);
    }
  }

  __device__ float maximum() const {
    float largest = logit[0];
#pragma unroll
    for (int n = 1; n < kKeysPerLane; ++n) largest = fmaxf(largest, logit[n]);
    return largest;
  }
};

/// Writes this lane's eight P = exp(logit - shift), after dropout, for the row's other lanes;
/// returns their sum before it.
template <int D, class Bias>
__device__ float store_probabilities(const Tile<D>& tile, const TileLogits& logits,
                                     const Problem& problem, const TileRow<Bias>& row, int begin,
                                     float shift) {
  float* p =
      tile.p + row.row_in_tile * Tile<D>::kProbabilityStride + row.lane_in_row * kKeysPerLane;
  float sum = 0.0f;
#pragma unroll
  for (int n = 0; n < kKeysPerLane; ++n) {
    p[n] = kInvisible;
    if (!logits.sees(n)) continue;
    const float weight = expf(logits.logit[n] - shift);
    sum += weight;
    p[n] = problem.dropped(row.at(), begin + row.lane_in_row * kKeysPerLane + n, weight);
  }
  return sum;
}

/// A lane's quarter of the output row: columns 16n + 4*lane_in_row .. + 3. Interleaved so that the
/// four lanes read one contiguous piece of V.
template <int D>
struct LaneOutputs {
  float4 value[D / 16];

  __device__ LaneOutputs() {
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
    const float* v = tile.v + 4 * row.lane_in_row;
    for (int key = 0; key < kTileKeys; ++key) {
      if (p[key] == kInvisible) continue;
#pragma unroll
      for (int n = 0; n < D / 16; ++n) multiply_add(value[n], p[key], load4(v + key * D + 16 * n));
    }
  }

  /// Writes o = value / sum, and the row's lse = shift + ln sum; 0 and -infinity for an empty row.
  template <class Bias>
  __device__ void write(const Problem& problem, const Outputs& outputs, const TileRow<Bias>& row,
                        float maximum, float sum) const {
    if (!row.exists || !problem.o_rows.has(row.b, row.row)) return;
    const std::size_t start = problem.o_rows.start(row.b, row.head, row.row);
    const bool empty = sum == 0.0f;
    const auto store = [&](int n, float x) {
      const int column = n + 4 * row.lane_in_row;
      if (column >= problem.value_dim) return;
      store_element(outputs.o, problem.output_format, start + column, empty ? 0.0f : x / sum);
    };
#pragma unroll
    for (int n = 0; n < D / 16; ++n) {
      store(16 * n + 0, value[n].x);
      store(16 * n + 1, value[n].y);
      store(16 * n + 2, value[n].z);
      store(16 * n + 3, value[n].w);
    }
    if (row.lane_in_row == 0)
      outputs.lse[problem.lse_rows.start(row.b, row.head, row.row)] =
          empty ? -INFINITY : problem.lse_scale * (maximum + logf(sum));
  }
};

/// Grid of the tiled variants; errors are told with the caller's line.
inline LaunchShape tile_launch(const Problem& problem, std::size_t shared,
                               std::source_location where = std::source_location::current()) {
  const auto tiles = static_cast<unsigned>((problem.queries + kTileQueries - 1) / kTileQueries);
  return {dim3{tiles, static_cast<unsigned>(problem.heads), static_cast<unsigned>(problem.batch)},
          dim3{kTileThreads}, shared, where};
}

}  // namespace plumbline::gpu

#endif
