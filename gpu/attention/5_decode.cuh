// SPDX-License-Identifier: Apache-2.0
// Variant 5, decoding: few queries against a long cache, so that the keys have to keep the device
// busy (Dao et al., Flash-Decoding, 2023). Each block takes a range of the keys and leaves the
// maximum, the sum and the output of its own softmax; a second kernel merges the ranges of a row,
// always in the same order.
//
// A block has up to 8 rows that share a key head: its query heads times the queries. A warp owns
// two of them. Its lanes take a key each of a tile for the logits, and a column each for P V.
#ifndef PLUMBLINE_GPU_ATTENTION_5_DECODE_CUH
#define PLUMBLINE_GPU_ATTENTION_5_DECODE_CUH

#include "attention/bias_tile.cuh"
#include "attention/decode.cuh"
#include "ops/reduce.cuh"

namespace plumbline::gpu::decode {

inline constexpr int kRows = 8;
inline constexpr int kKeys = 32;
inline constexpr int kWarps = 4;
inline constexpr int kThreads = kWarps * static_cast<int>(kWarpSize);
inline constexpr int kRowsPerWarp = kRows / kWarps;
inline constexpr int kBlocks = 4;  // that a multiprocessor shall hold

/// Shared memory of a block, all in fp32. The lanes that read a column of K are in rows of their
/// own, hence the padding.
template <int D>
struct Tile {
  static constexpr int kKeyStride = D + 1;

  float* q;  // [kRows][D]
  float* k;  // [kKeys][kKeyStride]
  float* v;  // [kKeys][D]
  float* p;  // [kRows][kKeys]

  __device__ explicit Tile(SharedMemory& shared)
      : q(shared.take<float>(kRows * D)),
        k(shared.take<float>(kKeys * kKeyStride)),
        v(shared.take<float>(kKeys * D)),
        p(shared.take<float>(kRows * kKeys)) {}

  static constexpr std::size_t bytes() {
    return shared_bytes<float>(kRows * D) + shared_bytes<float>(kKeys * kKeyStride) +
           shared_bytes<float>(kKeys * D) + shared_bytes<float>(kRows * kKeys);
  }
};

/// The split's part of the keys that some query may see, in whole tiles; empty where there are
/// fewer tiles than splits.
__device__ inline KeyRange split_range(const KeyRange& keys, int split, int splits) {
  const int tiles = (keys.end - keys.begin + kKeys - 1) / kKeys;
  const int length = (tiles + splits - 1) / splits * kKeys;
  const int begin = min(keys.begin + split * length, keys.end);
  return {begin, min(begin + length, keys.end)};
}

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

/// A row's softmax over the keys of this block. Its warp's lanes share the maximum, and have a
/// quota each of the sum and of the output's columns: lane, lane + 32, ...
template <int D, class Bias>
struct Row {
  static constexpr int kColumns =
      (D + static_cast<int>(kWarpSize) - 1) / static_cast<int>(kWarpSize);

  bool exists;
  int b, row_in_tile, head, row, position;
  KeyRange range;
  float factor;
  typename Bias::Row bias;
  float maximum = -INFINITY, sum = 0.0f;
  float output[kColumns] = {};

  /// @param split The first has the sink.
  __device__ Row(const Problem& problem, const typename Bias::Params& params, int first_row,
                 int row_of_tile, int split)
      : b(static_cast<int>(blockIdx.z)), row_in_tile(row_of_tile) {
    const int last = rows_of_key_head(problem) - 1;
    exists = first_row + row_of_tile <= last;
    const RowAt at(problem, static_cast<int>(blockIdx.y), min(first_row + row_of_tile, last));
    head = at.head;
    row = at.row;
    position = row + problem.first_position(b);
    range = key_range(problem.mask, b, position);
    factor = problem.logit_factor(b, head, row);
    bias = Bias::load_row(params, {b, head, row, position});
    if (split > 0) return;
    maximum = problem.first_maximum(head);
    if (lane_index() == 0) sum = problem.first_sum();
  }

  __device__ float logit(const Tile<D>& tile, const Problem& problem,
                         const typename Bias::Params& params, int lane, int key) const {
    const float* q = tile.q + row_in_tile * D;
    const float* k = tile.k + lane * Tile<D>::kKeyStride;
    float score = 0.0f;
#pragma unroll 8
    for (int d = 0; d < D; ++d) score += q[d] * k[d];
    const At at{b, head, row, position};
    const float added = Bias::value(
        params, head, bias, Bias::load_key(params, at, key),
        Bias::kHasEntry ? Bias::entry(params, place_of_head<Bias>(params, b, head), position - key)
                        : 0.0f);
    return rounded_product(factor, problem.capped(problem.scale * score) + added);
  }

  /// Takes in the tile's keys begin .. end - 1.
  __device__ void add(const Tile<D>& tile, const Problem& problem,
                      const typename Bias::Params& params, int begin, int end) {
    const int lane = static_cast<int>(lane_index());
    const int key = begin + lane;
    // The row's own range goes on in the next split.
    const bool sees = key < end && problem.sees(range, {b, head, row, position}, key);
    const float own = sees ? logit(tile, problem, params, lane, key) : -INFINITY;
    const float old_maximum = maximum;
    maximum = fmaxf(maximum, warp_reduce(own, [](float x, float y) { return fmaxf(x, y); }));
    const float shift = finite_shift(maximum);
    const float rescale = expf(old_maximum - shift);  // 0 at the first key seen
    sum *= rescale;
#pragma unroll
    for (int n = 0; n < kColumns; ++n) output[n] *= rescale;

    float* p = tile.p + row_in_tile * kKeys;
    p[lane] = kInvisible;
    if (sees) {
      p[lane] = expf(own - shift);
      sum += p[lane];
    }
    __syncwarp();  // the warp's other lanes have written P
#pragma unroll 4
    for (int j = 0; j < kKeys; ++j) {
      const float weight = p[j];
      if (weight == kInvisible) continue;
#pragma unroll
      for (int n = 0; n < kColumns; ++n) {
        const int d = lane + n * static_cast<int>(kWarpSize);
        if (d < D) output[n] += weight * tile.v[j * D + d];
      }
    }
  }

  /// Leaves what the merge needs. A range without a key that the row sees: -infinity and zeros, or
  /// the first one's sink.
  __device__ void write(const Problem& problem, const Partials& partials, int split) const {
    const int lane = static_cast<int>(lane_index());
    const float total = warp_sum(sum);
    const std::size_t at = problem.row_index(b, head, row) * partials.splits + split;
#pragma unroll
    for (int n = 0; n < kColumns; ++n) {
      const int d = lane + n * static_cast<int>(kWarpSize);
      if (d < problem.value_dim) partials.o[at * problem.value_dim + d] = output[n];
    }
    if (lane != 0) return;
    partials.maximum[at] = maximum;
    partials.sum[at] = total;
  }
};

/// The block's queries; rows that do not exist are zero.
template <int D>
__device__ void load_queries(const Tile<D>& tile, const Problem& problem, int first_row) {
  const int b = static_cast<int>(blockIdx.z), rows = rows_of_key_head(problem);
  for (int n = static_cast<int>(threadIdx.x); n < kRows * D; n += kThreads) {
    const int index = first_row + n / D, d = n % D;
    tile.q[n] = 0.0f;
    if (index >= rows) continue;
    const RowAt at(problem, static_cast<int>(blockIdx.y), index);
    tile.q[n] = problem.query(problem.q_rows.start(b, at.head, at.row), d,
                              at.row + problem.first_position(b));
  }
}

/// Keys and values begin .. end - 1 of the cache; those of the tile beyond, and columns from
/// value_dim on, are zero. A warp takes
/// every fourth key, so that its lanes look up the same page.
template <int D>
__device__ void load_tile(const Tile<D>& tile, const Problem& problem, const Cache& cache,
                          int begin, int end) {
  const int lane = static_cast<int>(lane_index());
  const int b = static_cast<int>(blockIdx.z), kv_head = static_cast<int>(blockIdx.y);
  for (int j = static_cast<int>(threadIdx.x / kWarpSize); j < kKeys; j += kWarps) {
    const int key = begin + j;
    const bool there = key < end;
    const auto start = [&](const RowPlaces& rows) {
      return there ? cache.start(rows, b, kv_head, key) : 0;
    };
    const auto scale = [&](const float* scales) {
      return there ? cache.scale(scales, problem, b, kv_head, key) : 0.0f;
    };
    const std::size_t of_key = start(problem.k_rows), of_value = start(problem.v_rows);
    const float k_scale = scale(cache.k_scale), v_scale = scale(cache.v_scale);
    const auto k = [&](int d) { return cache.load(problem, problem.k, of_key + d, k_scale); };
    const auto v = [&](int d) { return cache.load(problem, problem.v, of_value + d, v_scale); };
    for (int d = lane; d < D; d += static_cast<int>(kWarpSize)) {
      tile.k[j * Tile<D>::kKeyStride + d] = there ? rotated(problem.rotation, k, d, key) : 0.0f;
      tile.v[j * D + d] = there && d < problem.value_dim ? v(d) : 0.0f;
    }
  }
}

template <int D, class Bias>
__global__ void __launch_bounds__(kThreads, kBlocks)
    split_kernel(Problem problem, Cache cache, Partials partials, typename Bias::Params params) {
  SharedMemory shared;
  const Tile<D> tile(shared);
  const int split = static_cast<int>(blockIdx.x) % partials.splits;
  const int first_row = static_cast<int>(blockIdx.x) / partials.splits * kRows;
  const int warp = static_cast<int>(threadIdx.x / kWarpSize);
  const int b = static_cast<int>(blockIdx.z), first_position = problem.first_position(b);
  const KeyRange keys =
      split_range(key_range(problem.mask, b, first_position, first_position + problem.queries - 1),
                  split, partials.splits);
  load_queries(tile, problem, first_row);
  Row<D, Bias> low(problem, params, first_row, warp, split);
  Row<D, Bias> high(problem, params, first_row, warp + kWarps, split);
  static_assert(kRowsPerWarp == 2);
  for (int begin = keys.begin; begin < keys.end; begin += kKeys) {
    __syncthreads();  // all are done with the tile before
    load_tile(tile, problem, cache, begin, keys.end);
    __syncthreads();
    if (low.exists) low.add(tile, problem, params, begin, keys.end);
    if (high.exists) high.add(tile, problem, params, begin, keys.end);
  }
  if (low.exists) low.write(problem, partials, split);
  if (high.exists) high.write(problem, partials, split);
}

struct Split {
  template <int D, class Bias>
  static void run(const Stream& stream, const Task& task, const Cache& cache,
                  const Partials& partials) {
    const Problem& problem = task.problem;
    const int tiles = (problem.heads / problem.kv_heads * problem.queries + kRows - 1) / kRows;
    launch(stream,
           {dim3{static_cast<unsigned>(tiles * partials.splits),
                 static_cast<unsigned>(problem.kv_heads), static_cast<unsigned>(problem.batch)},
            dim3{kThreads}, Tile<D>::bytes()},
           split_kernel<D, Bias>, problem, cache, partials, Bias::params(task.bias));
  }
};

}  // namespace plumbline::gpu::decode

#endif
