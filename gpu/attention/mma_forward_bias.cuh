// SPDX-License-Identifier: Apache-2.0
// The bias in the tensor-core forward pass, which is compiled for each bias family.
#ifndef PLUMBLINE_GPU_ATTENTION_MMA_FORWARD_BIAS_CUH
#define PLUMBLINE_GPU_ATTENTION_MMA_FORWARD_BIAS_CUH

#include <type_traits>

#include "attention/dispatch.cuh"
#include "attention/mma_rows.cuh"
#include "attention/mma_softmax.cuh"

namespace plumbline::gpu {

/// What the bias knows of a tile, in shared memory: its queries, its keys, and the entries of the
/// offsets between them. From one tile of keys to the next offsets fall by kKeys, so
/// that all but kKeys of the entries are there already: they form a ring, which stands there twice,
/// and the tile's are kEntries in a row.
template <class Bias, int kQueries, int kKeys>
struct ForwardBiasTile {
  static constexpr int kEntries = Bias::kHasEntry ? kQueries + kKeys : 0;
  static constexpr int kBiasRows = std::is_empty_v<typename Bias::Row> ? 0 : kQueries;
  static constexpr int kBiasKeys = std::is_empty_v<typename Bias::Key> ? 0 : kKeys;
  static_assert(kQueries % kKeys == 0);

  float* ring;  // [2 kEntries]
  typename Bias::Row* rows;
  typename Bias::Key* keys;
  int first = 0;  // the tile's first entry in the ring

  __device__ explicit ForwardBiasTile(SharedMemory& shared)
      : ring(shared.take<float>(2 * kEntries)),
        rows(shared.take<typename Bias::Row>(kBiasRows)),
        keys(shared.take<typename Bias::Key>(kBiasKeys)) {}

  static constexpr std::size_t bytes() {
    return shared_bytes<float>(2 * kEntries) + shared_bytes<typename Bias::Row>(kBiasRows) +
           shared_bytes<typename Bias::Key>(kBiasKeys);
  }

  /// Before the first tile: the queries from `at` on, of which `count` exist; the last one stands
  /// for the others.
  __device__ void load_rows(const typename Bias::Params& params, const At& at, int count) const {
    const int thread = static_cast<int>(threadIdx.x);
    static_assert(kQueries <= kMmaThreads);
    if (thread >= kBiasRows) return;
    const int n = min(thread, count - 1);
    rows[thread] = Bias::load_row(params, {at.batch, at.head, at.row + n, at.position + n});
  }

  /// The keys begin ..., the last one in place of those from `end` on. `is_first`: no tile was
  /// loaded before; else it was that of the kKeys keys before these.
  __device__ void load_keys(const typename Bias::Params& params, const At& at, int begin, int end,
                            bool is_first) {
    const int thread = static_cast<int>(threadIdx.x);
    if constexpr (kEntries > 0) {
      if (!is_first) first = first == 0 ? kQueries : first - kKeys;
      const int missing = is_first ? kEntries : kKeys;
#pragma unroll 1
      for (int n = thread; n < missing; n += kMmaThreads)
        ring[first + n] = ring[first + n + kEntries] =
            Bias::entry(params, at.head, at.position - begin + n - (kKeys - 1));
    }
    if (thread < kBiasKeys) keys[thread] = Bias::load_key(params, at, min(begin + thread, end - 1));
  }

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
};

/// Makes logits of products q.k, in units of log2, for a lane's rows:
///   c_i (scale q.k + b_ij) log2 e = (c_i scale log2 e) q.k + (c_i log2 e) b_ij.
template <class Bias, int groups>
struct ForwardLogits {
  using Rows = MmaRowsOf<groups>;
  static constexpr int kRows = Rows::kRows;

  float product_factor[kRows], bias_factor[kRows];

  __device__ ForwardLogits(const Problem& problem, const Rows& rows) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      // The last row stands for those beyond it.
      const int row = rows.first_row + min(rows.row_in_tile(r), rows.count - 1);
      bias_factor[r] = problem.log2_logit_factor(rows.b, rows.head, row);
      product_factor[r] = bias_factor[r] * problem.scale;
    }
  }

  template <int tiles, class Tile>
  __device__ __forceinline__ void operator()(float (&score)[groups][tiles][4], const Rows& rows,
                                             const typename Bias::Params& params,
                                             const Tile& tile_bias) const {
    typename Bias::Row of_row[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) of_row[r] = tile_bias.row(rows.row_in_tile(r));
    with_value(params, rows.head, [&](auto value) {
#pragma unroll
      for (int tile = 0; tile < tiles; ++tile) {
#pragma unroll
        for (int n = 0; n < 2; ++n) {
          const int key = 8 * tile + 2 * rows.place + n;
          const typename Bias::Key of_key = tile_bias.key(key);
#pragma unroll
          for (int r = 0; r < kRows; ++r) {
            float& logit = score[r / 2][tile][r % 2 * 2 + n];
            if constexpr (std::is_same_v<Bias, Nope>) {
              // Rounded before RunningSoftmax subtracts from it.
              logit = rounded_product(product_factor[r], logit);
            } else {
              const float b = value(of_row[r], of_key, tile_bias.entry(rows.row_in_tile(r), key));
              logit = product_factor[r] * logit + bias_factor[r] * b;
            }
          }
        }
      }
    });
  }

 private:
  /// use(value) with value(row, key, entry) = b_ij. Which method of the family it is, is asked here
  /// and not for each score.
  template <class Use>
  __device__ __forceinline__ static void with_value(const typename Bias::Params& params, int head,
                                                    Use use) {
    if constexpr (std::is_same_v<Bias, Prefix>)
      Prefix::with_form(params, [&](auto form) {
        use([form](const auto& row, const auto& key, float) {
          return form.value(row.gain, Prefix::difference_of(row, key));
        });
      });
    else
      use([&](const auto& row, const auto& key, float entry) {
        return Bias::value(params, head, row, key, entry);
      });
  }
};

}  // namespace plumbline::gpu

#endif
