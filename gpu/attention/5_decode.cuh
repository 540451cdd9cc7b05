// SPDX-License-Identifier: Apache-2.0
// Variant 5, decoding: few queries against a long cache, so that the keys have to keep the device
// busy (Dao et al., Flash-Decoding, 2023). Each block takes a range of the keys, each of its warps
// a part of that, with a softmax of its own. The block merges those of its warps and leaves a
// maximum, a sum and an output; a second kernel merges the blocks' of a row. Both always in the
// same order.
//
// A block has up to 8 rows that share a key head: its query heads times the queries. A warp reads
// 32 keys at a time and uses them for all rows. Its lanes take a key each for the logits, and two
// columns each for P V. Keys and values lie in shared memory as the cache stores them; while the
// warp works on the ones, the others are on their way by cp.async.
#ifndef PLUMBLINE_GPU_ATTENTION_5_DECODE_CUH
#define PLUMBLINE_GPU_ATTENTION_5_DECODE_CUH

#include "attention/decode_memory.cuh"
#include "attention/dispatch.cuh"
#include "ops/reduce.cuh"

namespace plumbline::gpu::decode {

inline constexpr int kBlocks = 3;            // that a multiprocessor shall hold
inline constexpr float kHidden = -INFINITY;  // in place of the weight of a key that a row hides

/// Part `part` of `parts` of a range of keys, in whole tiles; empty where there are fewer tiles.
__device__ inline KeyRange part_of(const KeyRange& keys, int part, int parts) {
  const int tiles = (keys.end - keys.begin + kKeys - 1) / kKeys;
  const int length = (tiles + parts - 1) / parts * kKeys;
  const int begin = min(keys.begin + part * length, keys.end);
  return {begin, min(begin + length, keys.end)};
}

/// A warp's softmax of each row over its keys. Lane r has what all lanes know of row r.
template <int D, class Bias>
struct Softmax {
  static constexpr int kPairs = (D / 2 + static_cast<int>(kWarpSize) - 1) /
                                static_cast<int>(kWarpSize);  // of columns: lane, lane + 32, ...

  const Problem& problem;
  const Cache& cache;
  const typename Bias::Params& params;
  const Memory<D, Bias>& shared;
  int rows, lane;
  float maximum = -INFINITY, rescale = 0.0f;  // of row `lane`
  float output[kRows][kPairs][2] = {};

  __device__ Softmax(const Problem& p, const Cache& c, const typename Bias::Params& b,
                     const Memory<D, Bias>& memory, int count)
      : problem(p),
        cache(c),
        params(b),
        shared(memory),
        rows(count),
        lane(static_cast<int>(lane_index())) {
    for (int r = 0; r < kRows; ++r) cell(shared.warp.sum, r) = 0.0f;
  }

  /// Begins with the sink of each row.
  __device__ void add_sinks() {
    if (lane < rows) maximum = problem.first_maximum(shared.rows[lane].at.head);
    for (int r = 0; r < rows && lane == 0; ++r) cell(shared.warp.sum, r) = problem.first_sum();
  }

  __device__ float& cell(float* array, int r) const { return array[r * kKeys + lane]; }

  /// Calls use(r) for each row, unrolled: what is indexed by r stays in registers.
  template <class Use>
  __device__ __forceinline__ void for_each_row(const Use& use) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      if (r < rows) use(r);
  }

  /// The products of all rows with the lane's key, in p. `key` is its position.
  __device__ void multiply(int key, float k_scale) {
    float product[kRows] = {};
    const char* const own = shared.warp.k + lane * shared.warp.k_stride;
#pragma unroll 1
    for (int d = 0; d < D; d += kAtOnce) {
      float k[kAtOnce];
      cache.with_element(problem, [&]<class T>() {
        const T* const row = reinterpret_cast<const T*>(own);
        load_components(problem.rotation, row, d, key, k_scale, k);
      });
      for_each_row([&](int r) {
        float q[kAtOnce];
        load_vector<float>(shared.q + r * D + d, q);
#pragma unroll
        for (int n = 0; n < kAtOnce; ++n) product[r] += q[n] * k[n];
      });
    }
    for_each_row([&](int r) { cell(shared.warp.p, r) = product[r]; });
  }

  __device__ float logit(const Row<Bias>& row, float product, int key) const {
    const float added = Bias::value(
        params, row.at.head, row.bias, Bias::load_key(params, row.at, key),
        Bias::kHasEntry
            ? Bias::entry(params, place_of_head<Bias>(params, row.at.batch, row.at.head),
                          row.at.position - key)
            : 0.0f);
    return rounded_product(row.factor, problem.capped(problem.scale * product) + added);
  }

  /// From products to weights, those of the values times their scale. `there`: whether the lane has
  /// a key.
  __device__ void weigh(int key, bool there, float v_scale) {
#pragma unroll 1
    for (int r = 0; r < rows; ++r) {
      const Row<Bias>& row = shared.rows[r];
      const bool sees = there && problem.sees(row.range, row.at, key);
      float& p = cell(shared.warp.p, r);
      const float own = sees ? logit(row, p, key) : -INFINITY;
      const float old = shuffle(maximum, r);
      const float grown =
          fmaxf(old, warp_reduce(own, [](float x, float y) { return fmaxf(x, y); }));
      const float shift = finite_shift(grown);
      const float old_weight = expf(old - shift);  // 0 at the first key seen
      const float weight = sees ? expf(own - shift) : 0.0f;
      float& sum = cell(shared.warp.sum, r);
      sum = sum * old_weight + weight;
      p = sees ? weight * v_scale : kHidden;
      if (lane != r) continue;
      maximum = grown;
      rescale = old_weight;
    }
  }

  /// Adds P V. `all_seen`: no row hides a key.
  template <bool all_seen>
  __device__ void add_values() {
    for_each_row([&](int r) {
      const float old_weight = shuffle(rescale, r);
#pragma unroll
      for (int n = 0; n < kPairs; ++n)
        for (int c = 0; c < 2; ++c) output[r][n][c] *= old_weight;
    });
#pragma unroll 1
    for (int j = 0; j < kKeys; j += kAtOnce) {
      float v[kPairs][kAtOnce][2];
#pragma unroll
      for (int n = 0; n < kPairs; ++n)
        if (column(n) < D)
          cache.with_element(problem, [&]<class T>() {
            const T* const first = reinterpret_cast<const T*>(shared.warp.v) + column(n);
            for (int i = 0; i < kAtOnce; ++i) load_vector<T>(first + (j + i) * D, v[n][i]);
          });
      for_each_row([&](int r) {
        float weight[kAtOnce];
        load_vector<float>(shared.warp.p + r * kKeys + j, weight);
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
          if (!all_seen && weight[i] == kHidden) continue;
#pragma unroll
          for (int n = 0; n < kPairs; ++n)
            for (int c = 0; c < 2; ++c) output[r][n][c] += weight[i] * v[n][i][c];
        }
      });
    }
  }

  /// Leaves the outputs in shared memory, and what goes with them.
  __device__ void write(float* outputs) const {
    const int first = static_cast<int>(threadIdx.x / kWarpSize) * kRows;
    for_each_row([&](int r) {
      const float total = warp_sum(cell(shared.warp.sum, r));
      if (lane == r) shared.sum[first + r] = total;
#pragma unroll
      for (int n = 0; n < kPairs; ++n)
        for (int c = 0; c < 2; ++c)
          if (column(n) < D) outputs[r * D + column(n) + c] = output[r][n][c];
    });
    if (lane < rows) shared.maximum[first + lane] = maximum;
  }

  __device__ int column(int n) const { return 2 * (lane + n * static_cast<int>(kWarpSize)); }
};

/// Where a warp leaves its outputs when it is done with the keys: [kRows][D], in place of values.
template <int D, class Bias>
__device__ float* outputs_of(const Memory<D, Bias>& shared) {
  static_assert(kRows * sizeof(float) <= kKeys);
  return reinterpret_cast<float*>(shared.warp.v);
}

/// Merges the warps' softmaxes, a row by one of the warps, and leaves what the blocks' merge needs.
/// A range without a key that the row sees: -infinity and zeros, or the first one's sink.
template <int D, class Bias>
__device__ void merge_warps(const Memory<D, Bias>& shared, const Problem& problem,
                            const Partials& partials, int split, int rows) {
  const int lane = static_cast<int>(lane_index());
  const int warps = static_cast<int>(blockDim.x / kWarpSize);
  const int own = static_cast<int>(threadIdx.x / kWarpSize);
  for (int r = own; r < rows; r += warps) {
    float maximum = -INFINITY, sum = 0.0f, weight[kMostWarps];
    for (int w = 0; w < warps; ++w) maximum = fmaxf(maximum, shared.maximum[w * kRows + r]);
    const float shift = finite_shift(maximum);
#pragma unroll
    for (int w = 0; w < kMostWarps; ++w) {
      if (w >= warps) break;
      weight[w] = expf(shared.maximum[w * kRows + r] - shift);  // 0 where no key was seen
      sum += weight[w] * shared.sum[w * kRows + r];
    }
    const At at = shared.rows[r].at;
    const std::size_t place =
        problem.row_index(at.batch, at.head, at.row) * partials.splits + split;
    for (int d = lane; d < problem.value_dim; d += static_cast<int>(kWarpSize)) {
      float output = 0.0f;
#pragma unroll
      for (int w = 0; w < kMostWarps; ++w) {
        if (w >= warps) break;
        const float* of_warp = outputs_of(shared) + (w - own) * kKeys * shared.warp.v_stride / 4;
        output += weight[w] * of_warp[r * D + d];
      }
      partials.o[place * problem.value_dim + d] = output;
    }
    if (lane != 0) continue;
    partials.maximum[place] = maximum;
    partials.sum[place] = sum;
  }
}

template <int D, class Bias>
__global__ void __launch_bounds__(kMostWarps* static_cast<int>(kWarpSize), kBlocks)
    split_kernel(Problem problem, Cache cache, Partials partials, typename Bias::Params params,
                 bool k_aligned, bool v_aligned) {
  SharedMemory memory;
  const int warps = static_cast<int>(blockDim.x / kWarpSize);
  const int bytes = cache.element_bytes(problem);
  const Memory<D, Bias> shared(memory, warps, bytes);
  const WarpMemory& own = shared.warp;
  const int split = static_cast<int>(blockIdx.x) % partials.splits;
  const int first_row = static_cast<int>(blockIdx.x) / partials.splits * kRows;
  const int rows = min(rows_of_key_head(problem) - first_row, kRows);
  const int warp = static_cast<int>(threadIdx.x / kWarpSize);
  const int lane = static_cast<int>(lane_index());
  const int b = static_cast<int>(blockIdx.z), first_position = problem.first_position(b);
  const KeyRange keys = part_of(
      part_of(key_range(problem.mask, b, first_position, first_position + problem.queries - 1),
              split, partials.splits),
      warp, warps);
  const KeyRange seen_by_all =
      common_key_range(problem.mask, b, first_position, first_position + problem.queries - 1);
  const bool plain_mask = !problem.mask.documents && !problem.mask_tensor.values;

  const auto copy_k = [&](int begin) {
    if (begin < keys.end)
      copy_keys<D>(own.k, own.k_stride, own.k_starts, {problem.k, problem.k_rows, D, k_aligned},
                   cache, bytes, begin, keys.end);
    cp_async_commit();
  };
  const auto copy_v = [&](int begin) {
    if (begin < keys.end)
      copy_keys<D>(own.v, own.v_stride, own.v_starts,
                   {problem.v, problem.v_rows, problem.value_dim, v_aligned}, cache, bytes, begin,
                   keys.end);
    cp_async_commit();
  };
  copy_k(keys.begin);
  copy_v(keys.begin);
  load_queries(shared, problem, params, first_row, rows);
  __syncthreads();  // queries and rows are there for all warps
  Softmax<D, Bias> softmax(problem, cache, params, shared, rows);
  if (split == 0 && warp == 0) softmax.add_sinks();

  for (int begin = keys.begin; begin < keys.end; begin += kKeys) {
    const int key = begin + lane;
    const bool there = key < keys.end;
    const auto scale = [&](const float* scales) {
      return there ? cache.scale(scales, problem, b, static_cast<int>(blockIdx.y), key) : 0.0f;
    };
    cp_async_wait<1>();  // for K
    __syncwarp();        // the lanes' copies of it
    softmax.multiply(min(key, keys.end - 1), scale(cache.k_scale));
    copy_k(begin + kKeys);
    softmax.weigh(key, there, scale(cache.v_scale));
    cp_async_wait<1>();  // for V
    __syncwarp();        // the lanes' copies of it, and the weights
    if (plain_mask && begin >= seen_by_all.begin && begin + kKeys <= min(seen_by_all.end, keys.end))
      softmax.template add_values<true>();
    else
      softmax.template add_values<false>();
    __syncwarp();  // all are done with V and the weights
    copy_v(begin + kKeys);
  }
  softmax.write(outputs_of(shared));
  __syncthreads();  // all warps have left theirs
  merge_warps(shared, problem, partials, split, rows);
}

struct Split {
  template <int D, class Bias>
  static void run(const Stream& stream, const Task& task, const Cache& cache,
                  const Partials& partials) {
    const Problem& problem = task.problem;
    const int tiles = (problem.heads / problem.kv_heads * problem.queries + kRows - 1) / kRows;
    const int element_bytes = cache.element_bytes(problem);
    const auto bytes = [&](int warps) { return Memory<D, Bias>::bytes(warps, element_bytes); };
    const int warps = bytes(kMostWarps) <= kSharedOfAnyGpu ? kMostWarps : kMostWarps / 2;
    launch(stream,
           {dim3{static_cast<unsigned>(tiles * partials.splits),
                 static_cast<unsigned>(problem.kv_heads), static_cast<unsigned>(problem.batch)},
            dim3{static_cast<unsigned>(warps) * kWarpSize}, bytes(warps)},
           split_kernel<D, Bias>, problem, cache, partials, Bias::params(task.bias),
           has_aligned_rows(problem.k, problem.k_rows, element_bytes),
           has_aligned_rows(problem.v, problem.v_rows, element_bytes));
  }
};

}  // namespace plumbline::gpu::decode

#endif
