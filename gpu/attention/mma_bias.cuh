// SPDX-License-Identifier: Apache-2.0
// The bias in tensor-core kernels, which are compiled for each bias family.
#ifndef PLUMBLINE_GPU_ATTENTION_MMA_BIAS_CUH
#define PLUMBLINE_GPU_ATTENTION_MMA_BIAS_CUH

#include <type_traits>

#include "attention/dispatch.cuh"
#include "attention/mma_tile.cuh"
#include "core/shared_memory.cuh"

namespace plumbline::gpu {

/// A family's rows and keys in a tile of keys. Of prefix sums they are the distances from the sum
/// of a key near by, the base, in fp32: so is the difference of the two, of which the contract says
/// so (prefix_tile). The difference in double of policy.cuh would take a conversion for each score.
template <class Bias>
struct InTile {
  struct Base {};
  using Row = typename Bias::Row;
  using Key = typename Bias::Key;

  __device__ static Base base(const typename Bias::Params&, const At&, int) { return {}; }
  __device__ static Row row(const typename Bias::Row& row, Base) { return row; }
  __device__ static Key load_key(const typename Bias::Params& params, const At& at, int key, Base) {
    return Bias::load_key(params, at, key);
  }
};

template <>
struct InTile<Prefix> {
  using Base = double;
  struct Row {
    float sum, gain;
  };
  struct Key {
    float sum;
  };

  /// Of the tile whose first key is `key`.
  __device__ static Base base(const Prefix::Params& params, const At& at, int key) {
    return Prefix::load_key(params, at, key).sum;
  }
  __device__ static Row row(const Prefix::Row& row, Base base) {
    return {static_cast<float>(row.sum - base), row.gain};
  }
  __device__ static Key load_key(const Prefix::Params& params, const At& at, int key, Base base) {
    return {static_cast<float>(Prefix::load_key(params, at, key).sum - base)};
  }
};

/// What the bias knows of a tile, in shared memory: its queries, its keys, and the entries of the
/// offsets between them. From one tile to the next the offsets move by kStep: by -kKeys where tiles
/// of keys follow one another, by kKeys where they go from the last to the first, by kQueries where
/// tiles of queries follow one another. All other entries are there already: they form a ring,
/// which stands there twice, so that the tile's are kEntries in a row.
template <class Bias, int kQueries, int kKeys, int kStep, bool keys_stay = false>
struct MmaBiasTile {
  using Of = InTile<Bias>;
  static constexpr int kEntries = Bias::kHasEntry ? kQueries + kKeys : 0;
  static constexpr int kBiasRows = std::is_empty_v<typename Bias::Row> ? 0 : kQueries;
  static constexpr int kBiasKeys = std::is_empty_v<typename Bias::Key> ? 0 : kKeys;
  /// Rows that are kept as they are, for one tile of keys after the other.
  static constexpr int kKeptRows = std::is_empty_v<typename Of::Base> || keys_stay ? 0 : kBiasRows;
  static constexpr int kNew = kStep < 0 ? -kStep : kStep;
  static_assert(kQueries <= kMmaThreads && kKeys <= kMmaThreads);
  static_assert((kQueries + kKeys) % kNew == 0);

  float* ring;             // [2 kEntries]
  typename Of::Row* rows;  // in the tile
  typename Of::Key* keys;
  typename Bias::Row* kept;
  int first = 0;  // the tile's first entry in the ring

  __device__ explicit MmaBiasTile(SharedMemory& shared)
      : ring(shared.take<float>(2 * kEntries)),
        rows(shared.take<typename Of::Row>(kBiasRows)),
        keys(shared.take<typename Of::Key>(kBiasKeys)),
        kept(shared.take<typename Bias::Row>(kKeptRows)) {}

  static constexpr std::size_t bytes() {
    return shared_bytes<float>(2 * kEntries) + shared_bytes<typename Of::Row>(kBiasRows) +
           shared_bytes<typename Of::Key>(kBiasKeys) + shared_bytes<typename Bias::Row>(kKeptRows);
  }

  /// The queries from `at` on, of which `count` exist; the last one stands for the others. With
  /// `keys_stay`: for the keys from `first_key` on.
  __device__ void load_rows(const typename Bias::Params& params, const At& at, int count,
                            int first_key = 0) const {
    const int thread = static_cast<int>(threadIdx.x);
    if (thread >= kBiasRows) return;
    const int n = min(thread, count - 1);
    const auto row = Bias::load_row(params, {at.batch, at.head, at.row + n, at.position + n});
    if constexpr (kKeptRows > 0)
      kept[thread] = row;
    else
      rows[thread] = Of::row(row, Of::base(params, at, first_key));
  }

  /// The keys begin ..., the last one in place of those from `end` on; and the rows in their tile,
  /// by the threads that have loaded them.
  __device__ void load_keys(const typename Bias::Params& params, const At& at, int begin,
                            int end) const {
    const int thread = static_cast<int>(threadIdx.x);
    if constexpr (kBiasKeys > 0) {
      const auto base = Of::base(params, at, begin);
      if (thread < kBiasKeys)
        keys[thread] = Of::load_key(params, at, min(begin + thread, end - 1), base);
      if constexpr (kKeptRows > 0)
        if (thread < kKeptRows) rows[thread] = Of::row(kept[thread], base);
    }
  }

  /// `offset` is that of the tile's first query and its first key; `is_first`: the entries before
  /// are not those of the tile before.
  __device__ void load_entries(const typename Bias::Params& params, int head, int offset,
                               bool is_first) {
    if constexpr (kEntries > 0) {
      if (!is_first) first = wrapped(first + (kStep < 0 ? kEntries : 0) + kStep);
      const int missing = is_first ? kEntries : kNew;
      const int from = is_first || kStep < 0 ? 0 : kEntries - kNew;
#pragma unroll 1
      for (int n = static_cast<int>(threadIdx.x); n < missing; n += kMmaThreads) {
        const int slot = wrapped(first + from + n);
        ring[slot] = ring[slot + kEntries] =
            Bias::entry(params, head, offset + from + n - (kKeys - 1));
      }
    }
  }

  /// The entries of the queries from row `n` of the tile on.
  __device__ const float* entries(int n) const { return ring + first + n; }

  /// The entry of row `row` and key `key` of the tile.
  __device__ __forceinline__ float entry(int row, int key) const {
    if constexpr (kEntries > 0)
      return ring[first + row - key + kKeys - 1];
    else
      return 0.0f;
  }

  __device__ __forceinline__ typename Of::Row row(int n) const {
    if constexpr (kBiasRows > 0)
      return rows[n];
    else
      return {};
  }

  /// As the family has it.
  __device__ __forceinline__ typename Bias::Row kept_row(int n) const {
    if constexpr (kKeptRows > 0)
      return kept[n];
    else
      return row(n);
  }

  __device__ __forceinline__ typename Of::Key key(int n) const {
    if constexpr (kBiasKeys > 0)
      return keys[n];
    else
      return {};
  }

 private:
  __device__ static int wrapped(int slot) { return slot < kEntries ? slot : slot - kEntries; }
};

/// A method of the family Bias: b_ij of a row, a key and an entry, and where kPerPosition its
/// derivatives.
template <class Bias>
struct MethodOf {
  const typename Bias::Params& params;
  int head;

  __device__ __forceinline__ float value(const typename Bias::Row& row,
                                         const typename Bias::Key& key, float entry) const {
    return Bias::value(params, head, row, key, entry);
  }
};

template <class Form>
struct PrefixMethod {
  using Row = InTile<Prefix>::Row;
  using Key = InTile<Prefix>::Key;

  __device__ __forceinline__ float value(const Row& row, const Key& key, float) const {
    return Form::value(row.gain, row.sum - key.sum);
  }
  __device__ __forceinline__ Prefix::Derivatives derivatives(const Row& row, const Key& key) const {
    return Form::derivatives(row.gain, row.sum - key.sum);
  }
};

/// use(the method): which of the family it is, is asked here and not for each score.
template <class Bias, class Use>
__device__ __forceinline__ void with_method(const typename Bias::Params& params, int head,
                                            Use use) {
  if constexpr (std::is_same_v<Bias, Prefix>)
    Prefix::with_form<ApproximateLogarithm>(params,
                                            [&]<class Form>(Form) { use(PrefixMethod<Form>{}); });
  else
    use(MethodOf<Bias>{params, head});
}

}  // namespace plumbline::gpu

#endif
