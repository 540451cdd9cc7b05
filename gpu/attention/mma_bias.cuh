// SPDX-License-Identifier: Apache-2.0
// The bias in tensor-core kernels, which are compiled for each bias family.
#ifndef PLUMBLINE_GPU_ATTENTION_MMA_BIAS_CUH
#define PLUMBLINE_GPU_ATTENTION_MMA_BIAS_CUH

#include <type_traits>

#include "attention/dispatch.cuh"
#include "attention/mma_tile.cuh"
#include "core/shared_memory.cuh"

namespace plumbline::gpu {

/// What the bias knows of a tile, in shared memory: its queries, its keys, and the entries of the
/// offsets between them. From one tile to the next the offsets move by kStep: by -kKeys where tiles
/// of keys follow one another, by kKeys where they go from the last to the first, by kQueries where
/// tiles of queries follow one another. All other entries are there already: they form a ring,
/// which stands there twice, so that the tile's are kEntries in a row.
template <class Bias, int kQueries, int kKeys, int kStep>
struct MmaBiasTile {
  static constexpr int kEntries = Bias::kHasEntry ? kQueries + kKeys : 0;
  static constexpr int kBiasRows = std::is_empty_v<typename Bias::Row> ? 0 : kQueries;
  static constexpr int kBiasKeys = std::is_empty_v<typename Bias::Key> ? 0 : kKeys;
  static constexpr int kNew = kStep < 0 ? -kStep : kStep;
  static_assert(kQueries <= kMmaThreads && kKeys <= kMmaThreads);
  static_assert((kQueries + kKeys) % kNew == 0);

  float* ring;  // [2 kEntries]
  typename Bias::Row* rows;
  typename Bias::Key* keys;
  int first = 0;  // the tile's first entry in the ring

  __device__ explicit MmaBiasTile(SharedMemory& shared)
      : ring(shared.take<float>(2 * kEntries)),
        rows(shared.take<typename Bias::Row>(kBiasRows)),
        keys(shared.take<typename Bias::Key>(kBiasKeys)) {}

  static constexpr std::size_t bytes() {
    return shared_bytes<float>(2 * kEntries) + shared_bytes<typename Bias::Row>(kBiasRows) +
           shared_bytes<typename Bias::Key>(kBiasKeys);
  }

  /// The queries from `at` on, of which `count` exist; the last one stands for the others.
  __device__ void load_rows(const typename Bias::Params& params, const At& at, int count) const {
    const int thread = static_cast<int>(threadIdx.x);
    if (thread >= kBiasRows) return;
    const int n = min(thread, count - 1);
    rows[thread] = Bias::load_row(params, {at.batch, at.head, at.row + n, at.position + n});
  }

  /// The keys begin ..., the last one in place of those from `end` on.
  __device__ void load_keys(const typename Bias::Params& params, const At& at, int begin,
                            int end) const {
    const int thread = static_cast<int>(threadIdx.x);
    if (thread < kBiasKeys) keys[thread] = Bias::load_key(params, at, min(begin + thread, end - 1));
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

  __device__ __forceinline__ typename Bias::Row row(int n) const {
    if constexpr (kBiasRows > 0)
      return rows[n];
    else
      return {};
  }

  __device__ __forceinline__ typename Bias::Key key(int n) const {
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
  __device__ __forceinline__ float value(const Prefix::Row& row, const Prefix::Key& key,
                                         float) const {
    return Form::value(row.gain, Prefix::difference_of(row, key));
  }
  __device__ __forceinline__ Prefix::Derivatives derivatives(const Prefix::Row& row,
                                                             const Prefix::Key& key) const {
    return Form::derivatives(row.gain, Prefix::difference_of(row, key));
  }
};

/// use(the method): which of the family it is, is asked here and not for each score.
template <class Bias, class Use>
__device__ __forceinline__ void with_method(const typename Bias::Params& params, int head,
                                            Use use) {
  if constexpr (std::is_same_v<Bias, Prefix>)
    Prefix::with_form(params, [&]<class Form>(Form) { use(PrefixMethod<Form>{}); });
  else
    use(MethodOf<Bias>{params, head});
}

}  // namespace plumbline::gpu

#endif
