// SPDX-License-Identifier: Apache-2.0
// The backward pass over queries on tensor cores for large head dimensions: what
// mma_backward_queries.cuh computes, for 128 queries and 64 keys at a time. There, sums of that
// size leave a warp 16 rows, and it reads all of a tile of keys for them. Here eight warps split
// the work: two of them have the same 32 rows; of S, dP, P and dZ each has half of the tile's keys,
// of dQ half of the columns. So all of a tile's dZ, and for atomic additions its P, go through
// shared memory, rounded to the element format.
//
// Keys have two stages. Of values, which no product needs after dP, the next tile is copied into
// the place of the one before.
//
// Of biases of the distance a kernel of its own has the gradients of heads' parameters and SSMax,
// too. It writes a tile's dZ in fp32 where its keys and its rounded dZ were, once no product needs
// these any more: each half of the threads gathers the sums of 64 rows.
#ifndef PLUMBLINE_GPU_ATTENTION_MMA_BACKWARD_SPLIT_CUH
#define PLUMBLINE_GPU_ATTENTION_MMA_BACKWARD_SPLIT_CUH

#include "attention/backward_kernels.cuh"
#include "attention/mma_add_to_keys.cuh"
#include "attention/mma_query_grads.cuh"
#include "attention/mma_rows.cuh"
#include "attention/mma_tile.cuh"
#include "bias/distance_grad.cuh"

namespace plumbline::gpu {

namespace mma_kernels {

inline constexpr int kSplitThreads = 2 * kMmaThreads;

/// Whether a head dimension and a format are worth it: with 64 and less a warp of the other kernel
/// has 32 rows, too.
template <int D, class Element>
inline constexpr bool kSplits = D > 64 && D % 32 == 0 && kMmaDepth<Element> == 16;

/// Sums of a row over the keys of one half, in shared memory: the gradients of what belongs to a
/// query.
struct SplitSums {
  double *difference, *gain;  // [2, queries], each added to by one lane

  __device__ SplitSums(SharedMemory& shared, int queries)
      : difference(shared.take<double>(2 * queries)), gain(shared.take<double>(2 * queries)) {}

  static constexpr std::size_t bytes(int queries) { return 2 * shared_bytes<double>(2 * queries); }

  template <class Rows>
  __device__ __forceinline__ void add(const Rows& rows, int r, float by_difference,
                                      float by_gain) const {
    const auto plus = [](float a, float b) { return a + b; };
    by_difference = butterfly<1, 2>(by_difference, plus);
    by_gain = butterfly<1, 2>(by_gain, plus);
    if (rows.place != 0) return;
    const int half = static_cast<int>(threadIdx.x) / kMmaThreads;
    const int n = half * Rows::kQueries + rows.row_in_tile(r);
    difference[n] += by_difference;
    gain[n] += by_gain;
  }
};

/// The tile whose dZ a half of the threads gathers: its barriers are those of the block, so that
/// both halves go through them, even one whose rows do not exist.
struct SplitHalf : BlockTile {
  static constexpr int kQueries = 64, kKeys = 64;
  static constexpr bool kMayLackRows = true;

  __device__ static int thread() { return BlockTile::thread() % kMmaThreads; }
};

/// What gradients of heads' parameters and SSMax need, each where it is asked for: together with
/// atomic additions an A100 has no room for both.
template <class Bias>
struct SplitHeads {
  using Grad = HeadGrad<Bias, SplitHalf>;
  static constexpr int kHalves = 2;
  static constexpr int kStride = SplitHalf::kKeys + 4;
  static constexpr std::size_t kGradBytes =
      sizeof(float) * static_cast<std::size_t>(SplitHalf::kQueries) * kStride;

  double* row_sums;    // [kHalves, queries], SSMax's of either half of the keys
  SharedMemory grads;  // [kHalves] of Grad

  __device__ SplitHeads(SharedMemory& shared, const Problem& problem, int queries)
      : row_sums(shared.take<double>(sums(problem, queries))), grads(shared) {}

  static std::size_t bytes(const Problem& problem, const BackwardArrays& arrays,
                           const typename Bias::Params& params, int queries) {
    return shared_bytes<double>(sums(problem, queries)) +
           (arrays.head_rows > 0 ? kHalves * Grad::bytes(params) : 0);
  }

  __host__ __device__ static std::size_t sums(const Problem& problem, int queries) {
    return problem.ssmax_scale ? static_cast<std::size_t>(kHalves) * queries : 0;
  }

  /// That of a half of the threads.
  __device__ Grad grad(const typename Bias::Params& params, int half, double* partial) const {
    SharedMemory own = grads;
    const Grad first(own, params, partial);
    return half == 0 ? first : Grad(own, params, partial);
  }

  /// A lane's dZ, of the keys from `first_key` on, to those of the 64 rows that the warp's are
  /// among, [64][kStride].
  template <int groups, int tiles>
  __device__ static void store(float* to, const float (&dz)[groups][tiles][4],
                               const MmaRows<groups>& rows, int first_key) {
    to += (rows.row_in_tile(0) % SplitHalf::kQueries) * kStride + first_key + 2 * rows.place;
#pragma unroll
    for (int r = 0; r < 2 * groups; ++r) {
#pragma unroll
      for (int n = 0; n < tiles; ++n) {
        const float* of_row = dz[r / 2][n] + r % 2 * 2;
        store_pair(to + r * (MmaRows<groups>::kRowStep * kStride) + 8 * n, of_row[0], of_row[1]);
      }
    }
  }
};

template <int D, class Bias, class Element>
struct SplitShared {
  using Tile = MmaTile<D, Element, kSplitThreads>;
  using Rows = MmaRows<2>;
  static constexpr int kQueries = Rows::kQueries;
  static constexpr int kKeys = 64;
  static constexpr int kSums = Bias::kPerPosition ? kQueries : 0;
  using Weights = WeightTile<Element, kKeys>;
  using BiasTile = MmaBiasTile<Bias, kQueries, kKeys, -kKeys, false, kSplitThreads>;

  Tile q, grad_o, k, v;  // of keys two stages
  Weights dz;
  BiasTile bias;
  SplitSums sums;
  Weights p;  // for atomic additions

  __device__ SplitShared(SharedMemory& shared, bool atomic)
      : q(Tile::take(shared, kQueries)),
        grad_o(Tile::take(shared, kQueries)),
        k(Tile::take(shared, 2 * kKeys)),
        v(Tile::take(shared, kKeys)),
        dz{Weights::Tile::take(shared, kQueries)},
        bias(shared),
        sums(shared, kSums),
        p{Weights::Tile::take(shared, atomic ? kQueries : 0)} {}

  static_assert(kSplitThreads == 2 * kQueries);

  static constexpr std::size_t bytes(bool atomic) {
    return 2 * Tile::bytes(kQueries) + 3 * Tile::bytes(kKeys) +
           (atomic ? 2 : 1) * Weights::bytes(kQueries) + BiasTile::bytes() +
           SplitSums::bytes(kSums);
  }
};

/// What the bias knows of a tile, for its keys from `first_key` on.
template <class BiasTile>
struct BiasOfKeys {
  const BiasTile& tile;
  int first_key;

  __device__ __forceinline__ auto row(int n) const { return tile.row(n); }
  __device__ __forceinline__ auto key(int n) const { return tile.key(first_key + n); }
  __device__ __forceinline__ float entry(int row, int key) const {
    return tile.entry(row, first_key + key);
  }
};

/// Whether a kernel has the bias's gradients of heads' parameters, and SSMax beside them.
template <int D, class Bias, class Element>
inline constexpr bool kSplitsHeads = (MmaTile<D, Element>::bytes(SplitHalf::kKeys) >=
                                      SplitHeads<Distance>::kGradBytes) &&
                                     std::is_same_v<Bias, Distance>;

/// `of_heads`: with what SplitHeads is for.
template <bool of_heads, int D, class Bias, class Element>
__device__ __forceinline__ void split_backward_queries(const Problem& problem,
                                                       const BackwardArrays& arrays,
                                                       const typename Bias::Params& params) {
  using Shared = SplitShared<D, Bias, Element>;
  using Tile = typename Shared::Tile;
  using Storage = typename Tile::Storage;
  using Rows = typename Shared::Rows;
  constexpr int kGroups = Rows::kRows / 2, kKeys = Shared::kKeys;
  constexpr int kWarpKeys = kKeys / 2, kWarpColumns = D / 2;

  SharedMemory memory;
  Shared shared(memory, arrays.atomic);
  [[maybe_unused]] const auto heads = [&] {
    if constexpr (of_heads)
      return SplitHeads<Bias>(memory, problem, Shared::kQueries);
    else
      return nullptr;
  }();
  const Rows rows(problem);
  const int half = static_cast<int>(threadIdx.x) / kMmaThreads;
  const int first_key = half * kWarpKeys, first_column = half * kWarpColumns;
  const NotedQueryRows<Tile> of(shared.q, problem, arrays, rows);
  if constexpr (Bias::kPerPosition)
    shared.sums.difference[threadIdx.x] = shared.sums.gain[threadIdx.x] = 0.0;
  const KeyRange keys = rows.block_range;
  const std::size_t key_start = problem.key_start(rows.b, rows.head, 0, D);
  const auto copy_keys = [&](const void* from, const Tile& to, int begin) {
    to.copy(static_cast<const Storage*>(from) + key_start + static_cast<std::size_t>(begin) * D,
            kKeys, keys.end - begin);
  };
  const auto load_bias = [&](int begin) {
    shared.bias.load_keys(params, rows.first(), begin, keys.end);
    shared.bias.load_entries(params, rows.head, rows.first_position - begin, begin == keys.begin);
  };

  const std::size_t query_start = problem.query_start(rows.b, rows.head, rows.first_row, D);
  const int exist = rows.count_within_length(problem);
  shared.q.copy(static_cast<const Storage*>(problem.q) + query_start, Shared::kQueries, exist);
  shared.grad_o.copy(static_cast<const Storage*>(arrays.grad_o) + query_start, Shared::kQueries,
                     exist);
  shared.bias.load_rows(params, rows.first(), rows.count);
  if (keys.begin < keys.end) {
    copy_keys(problem.k, shared.k, keys.begin);
    copy_keys(problem.v, shared.v, keys.begin);
    load_bias(keys.begin);
  }
  cp_async_commit();

  // Of the half's own 64 rows, of which it may have none.
  [[maybe_unused]] const auto grad_of_half = [&](const auto& heads) {
    const PartialPlaces places(problem, rows, half * SplitHalf::kQueries, SplitHalf::kQueries);
    return heads.grad(
        params, half,
        places.count > 0 ? arrays.head_partial + places.first * arrays.head_rows : nullptr);
  };
  [[maybe_unused]] const auto row_sums = [&] {
    if constexpr (of_heads)
      return heads.row_sums + half * Shared::kQueries;
    else
      return nullptr;
  }();
  if constexpr (of_heads) {
    if (problem.ssmax_scale) heads.row_sums[threadIdx.x] = 0.0;
    if (arrays.head_rows > 0) {
      const PartialPlaces places(problem, rows);
      double* const partial = arrays.head_partial + places.first * arrays.head_rows;
      for (int n = static_cast<int>(threadIdx.x); n < places.count * arrays.head_rows;
           n += kSplitThreads)
        partial[n] = 0.0;
      grad_of_half(heads).begin(params, rows.head);
    }
  }

  const KeyRange all_see = rows.warp_range(problem).all;
  const bool plain_rows =
      rows.warp_row + Rows::kWarpRows <= rows.count && !(of_heads && problem.ssmax_scale);
  const BiasOfKeys<typename Shared::BiasTile> bias{shared.bias, first_key};
  float dq[kGroups][kWarpColumns / 8][4] = {};
  int stage = 0;
  for (int begin = keys.begin; begin < keys.end; begin += kKeys, stage ^= 1) {
    const int next = begin + kKeys;
    cp_async_wait<0>();
    __syncthreads();  // the tile is there, and all are done with the one before
    if (next < keys.end) copy_keys(problem.k, shared.k.from((stage ^ 1) * kKeys), next);
    const Tile k_tile = shared.k.from(stage * kKeys);
    if (begin == keys.begin && rows.first_position < 0) {
      rows.clear_before_sequence(shared.q);
      rows.clear_before_sequence(shared.grad_o);
      __syncthreads();
    }
    if (problem.mask.documents) {
      rows.template clear_unseen<kKeys, kSplitThreads>(k_tile, problem, begin);
      rows.template clear_unseen<kKeys, kSplitThreads>(shared.v, problem, begin);
      __syncthreads();
    }

    float p[kGroups][kWarpKeys / 8][4] = {}, dz[kGroups][kWarpKeys / 8][4] = {};
    const auto row_of = [&](int group) { return rows.warp_row + kMmaWarpRows * group; };
    multiply_add<Element, Tile::kSteps>(
        p,
        [&](int step, int group, std::uint32_t(&a)[4]) {
          shared.q.load_a(a, rows.lane, row_of(group), step);
        },
        [&](int step, int tile, std::uint32_t(&b)[4]) {
          k_tile.load_b_rows(b, rows.lane, first_key + 8 * tile, step);
        });
    multiply_add<Element, Tile::kSteps>(
        dz,
        [&](int step, int group, std::uint32_t(&a)[4]) {
          shared.grad_o.load_a(a, rows.lane, row_of(group), step);
        },
        [&](int step, int tile, std::uint32_t(&b)[4]) {
          shared.v.load_b_rows(b, rows.lane, first_key + 8 * tile, step);
        });
    const int own_begin = begin + first_key;
    if (plain_rows && own_begin >= all_see.begin && own_begin + kWarpKeys <= all_see.end)
      query_score_grads<true, Bias>(p, dz, shared.sums, row_sums, problem, arrays, params, bias,
                                    rows, of, own_begin);
    else
      query_score_grads<false, Bias>(p, dz, shared.sums, row_sums, problem, arrays, params, bias,
                                     rows, of, own_begin);
    if (arrays.atomic) shared.p.store(p, rows, first_key);
    shared.dz.store(dz, rows, first_key);
    if constexpr (Bias::kPerPosition)
      if (arrays.atomic && arrays.prefix_sum)
        add_to_sums<Bias>(dz, bias, problem, arrays, params, rows, own_begin);
    __syncthreads();  // all rows' P and dZ are there, and all are done with the values and the bias
    if (next < keys.end) {
      copy_keys(problem.v, shared.v, next);
      load_bias(next);
    }
    cp_async_commit();
    multiply_add<Element, kKeys / Tile::kDepth>(
        dq,
        [&](int step, int group, std::uint32_t(&a)[4]) {
          shared.dz.tile.load_a(a, rows.lane, row_of(group), step);
        },
        [&](int step, int tile, std::uint32_t(&b)[4]) {
          k_tile.load_b_columns(b, rows.lane, step * Tile::kDepth, first_column + 8 * tile);
        });
    if (arrays.atomic)
      add_to_keys<D, Element, kSplitThreads / 32, of_heads ? 32 : 64>(shared, problem, arrays, rows,
                                                                      begin);
    if constexpr (of_heads) {
      if (arrays.head_rows == 0) continue;
      const auto dz_of_half = [&](bool second) {
        return second ? reinterpret_cast<float*>(shared.dz.tile.data)
                      : reinterpret_cast<float*>(k_tile.data);
      };
      __syncthreads();  // all are done with the tile's keys and rounded dZ
      SplitHeads<Bias>::store(dz_of_half(rows.warp_row >= SplitHalf::kQueries), dz, rows,
                              first_key);
      __syncthreads();  // all rows' dZ is there
      grad_of_half(heads).add(params, rows.head, dz_of_half(half > 0), SplitHeads<Bias>::kStride,
                              nullptr, rows.first_position - begin + half * SplitHalf::kQueries,
                              nullptr);
    }
  }
  cp_async_wait<0>();

  write_query_grads<D>(dq, problem, arrays, rows, first_column);
  if constexpr (Bias::kPerPosition) {
    __syncthreads();
    const int row = static_cast<int>(threadIdx.x), other = row + Shared::kQueries;
    if (arrays.prefix_sum && row < rows.count)
      write_position_grad(row, shared.sums.difference[row] + shared.sums.difference[other],
                          shared.sums.gain[row] + shared.sums.gain[other], problem, arrays, rows);
  }
  if constexpr (of_heads) {
    if (problem.ssmax_scale) {
      __syncthreads();
      if (static_cast<int>(threadIdx.x) < Shared::kQueries)
        heads.row_sums[threadIdx.x] += heads.row_sums[threadIdx.x + Shared::kQueries];
    }
    write_ssmax_grad<BlockTile>(heads.row_sums, problem, arrays, rows, 0, Shared::kQueries);
    if (arrays.head_rows > 0) grad_of_half(heads).finish(params, rows.head);
  }
}

template <int D, class Bias, class Element>
__global__ void __launch_bounds__(kSplitThreads, 1)
    split_backward_queries_kernel(Problem problem, BackwardArrays arrays,
                                  typename Bias::Params params) {
  split_backward_queries<false, D, Bias, Element>(problem, arrays, params);
}

/// And gradients of heads' parameters, and SSMax.
template <int D, class Bias, class Element>
__global__ void __launch_bounds__(kSplitThreads, 1)
    split_backward_heads_kernel(Problem problem, BackwardArrays arrays,
                                typename Bias::Params params) {
  split_backward_queries<true, D, Bias, Element>(problem, arrays, params);
}

template <class Element>
struct SplitBackwardQueries {
  /// Whether a kernel computes what is asked for, and the device has the shared memory for it.
  template <int D, class Bias>
  static bool takes(const Task& task, const BackwardArrays& arrays) {
    return (kSplitsHeads<D, Bias, Element> || !of_heads(task, arrays)) &&
           bytes<D, Bias>(task, arrays) <= shared_memory_of_block();
  }

  /// For `dispatch`.
  template <int D, class Bias>
  static void run(const Stream& stream, const Task& task, const BackwardArrays& arrays) {
    if constexpr (kSplitsHeads<D, Bias, Element>)
      if (of_heads(task, arrays))
        return launch_of<D, Bias>(stream, split_backward_heads_kernel<D, Bias, Element>, task,
                                  arrays);
    launch_of<D, Bias>(stream, split_backward_queries_kernel<D, Bias, Element>, task, arrays);
  }

 private:
  static bool of_heads(const Task& task, const BackwardArrays& arrays) {
    return arrays.head_rows > 0 || task.problem.ssmax_scale;
  }

  template <int D, class Bias>
  static std::size_t bytes(const Task& task, const BackwardArrays& arrays) {
    using Shared = SplitShared<D, Bias, Element>;
    std::size_t bytes = Shared::bytes(arrays.atomic);
    if constexpr (kSplitsHeads<D, Bias, Element>)
      if (of_heads(task, arrays))
        bytes += SplitHeads<Bias>::bytes(task.problem, arrays, Bias::params(task.bias),
                                         Shared::kQueries);
    return bytes;
  }

  template <int D, class Bias, class Kernel>
  static void launch_of(const Stream& stream, Kernel kernel, const Task& task,
                        const BackwardArrays& arrays) {
    constexpr int kQueries = SplitShared<D, Bias, Element>::kQueries;
    const Problem& p = task.problem;
    const auto tiles = static_cast<unsigned>((p.queries + kQueries - 1) / kQueries);
    launch(stream,
           {dim3{tiles, static_cast<unsigned>(p.heads), static_cast<unsigned>(p.batch)},
            dim3{kSplitThreads}, bytes<D, Bias>(task, arrays)},
           kernel, p, arrays, Bias::params(task.bias));
  }
};

}  // namespace mma_kernels

}  // namespace plumbline::gpu

#endif
