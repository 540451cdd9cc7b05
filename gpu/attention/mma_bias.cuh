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
template <class Bias, int kQueries, int kKeys, int kStep, bool keys_stay = false,
          int threads = kMmaThreads>
struct MmaBiasTile {
  using Of = InTile<Bias>;
  static constexpr int kEntries = Bias::kHasEntry ? kQueries + kKeys : 0;
  static constexpr int kBiasRows = std::is_empty_v<typename Bias::Row> ? 0 : kQueries;
  static constexpr int kBiasKeys = std::is_empty_v<typename Bias::Key> ? 0 : kKeys;
  /// Rows that are kept as they are, for one tile of keys after the other.
  static constexpr int kKeptRows = std::is_empty_v<typename Of::Base> || keys_stay ? 0 : kBiasRows;
  static constexpr int kNew = kStep < 0 ? -kStep : kStep;
  static_assert(kQueries <= threads && kKeys <= threads);
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
      for (int n = static_cast<int>(threadIdx.x); n < missing; n += threads) {
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

/// A warp's part of a tile: `rows` rows from `row` on, `keys` keys from `key` on. `offset` is that
/// of the tile's first row and its first key.
struct PartOfTile {
  int row, rows, key, keys, offset;
};

/// A method of the family Bias: b_ij of a row, a key and an entry, and where kPerPosition its
/// derivatives. kTogether: value() is what finish() makes several b_ij of. kIsLine: what a line of
/// the row, line(), makes of the entry is b_ij, too.
template <class Bias>
struct MethodOf {
  static constexpr bool kTogether = false, kIsLine = false;

  const typename Bias::Params& params;
  int head;

  __device__ __forceinline__ float value(const typename Bias::Row& row,
                                         const typename Bias::Key& key, float entry) const {
    return Bias::value(params, head, row, key, entry);
  }
};

template <class Form>
struct PrefixMethod {
  static constexpr bool kTogether = false, kIsLine = false;

  using Row = InTile<Prefix>::Row;
  using Key = InTile<Prefix>::Key;

  __device__ __forceinline__ float value(const Row& row, const Key& key, float) const {
    return Form::value(row.gain, row.sum - key.sum);
  }
  __device__ __forceinline__ Prefix::Derivatives derivatives(const Row& row, const Key& key) const {
    return Form::derivatives(row.gain, row.sum - key.sum);
  }
};

/// FIRE, `kinked` where the warp's part has units with a kink, or a row beyond kMostInverse;
/// without, each b_ij is one of the line.
template <bool kinked>
struct FireMethod {
  static constexpr bool kTogether = true, kIsLine = !kinked;
  FirePart part;

  /// That of b_ij times `factor`.
  __device__ __forceinline__ FireRowLine line(const Fire::Row& row, float factor) const {
    return part.line_of_row(row.inverse, factor);
  }

  /// y_ij.
  __device__ __forceinline__ float value(const Fire::Row& row, const Fire::Key&,
                                         float entry) const {
    return entry * row.inverse;
  }

  /// Each y becomes b: a unit is loaded once for all of them.
  template <int count>
  __device__ __forceinline__ void finish(float (&y)[count]) const {
    const auto slope = static_cast<float>(part.line.slope);
    const auto intercept = static_cast<float>(part.line.intercept);
    float b[count];
#pragma unroll
    for (int n = 0; n < count; ++n) b[n] = fmaf(slope, y[n], intercept);
    if constexpr (kinked) {
#pragma unroll 1
      for (int unit = 0; unit < part.kinked; ++unit) {
        const FireUnit of = part.units[unit];
#pragma unroll
        for (int n = 0; n < count; ++n) b[n] += of.output * fmaxf(0.0f, of.weight * y[n] + of.bias);
      }
    }
#pragma unroll
    for (int n = 0; n < count; ++n) y[n] = b[n];
  }
};

/// The part's y lie between that of the smallest distance in its last row and that of the largest
/// one in its first row, whose 1 / M is `first_inverse`: logarithms grow with distances and
/// positions.
template <class BiasTile>
__device__ __forceinline__ FirePart fire_part(const Fire::Params& params, int head,
                                              const BiasTile& tile, const PartOfTile& part,
                                              float first_inverse) {
  const int last_row = part.row + part.rows - 1, last_key = part.key + part.keys - 1;
  const int least = part.offset + part.row - last_key, most = part.offset + last_row - part.key;
  const float of_least = tile.entry(part.row, last_key), of_most = tile.entry(last_row, part.key);
  const float nearest = least <= 0 && most >= 0 ? 0.0f : fminf(of_least, of_most);
  return {params.table, params.hidden, head, nearest * tile.row(last_row).inverse,
          fmaxf(of_least, of_most) * first_inverse};
}

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

/// The same for the scores of a warp's part of a tile.
template <class Bias, class BiasTile, class Use>
__device__ __forceinline__ void with_method_of_part(const typename Bias::Params& params, int head,
                                                    const BiasTile& tile, const PartOfTile& part,
                                                    Use use) {
  if constexpr (std::is_same_v<Bias, Fire>) {
    const float first_inverse = tile.row(part.row).inverse;  // the largest
    const FirePart of_part = fire_part(params, head, tile, part, first_inverse);
    if (of_part.kinked == 0 && first_inverse <= kMostInverse)
      use(FireMethod<false>{of_part});
    else
      use(FireMethod<true>{of_part});
  } else {
    with_method<Bias>(params, head, use);
  }
}

}  // namespace plumbline::gpu

#endif
