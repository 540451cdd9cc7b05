// SPDX-License-Identifier: Apache-2.0
// Which tiles of keys no row of a block needs, told before they are copied. By Cauchy and Schwarz
//   s_ij <= c_i (|scale| |q_i| |k_j| + b_ij)   for c_i >= 0.
// The right side is bounded for a whole tile, by the longest of its keys and the largest of its
// biases. Where that is below m_i - ln n_i - 10, m_i the largest logit seen so far and n_i at least
// the number of keys that the row sees, each key of the tile has a probability below e^-10 / n_i,
// and all keys left out together below e^-10, as in skipping.cuh. The largest logit may be that of
// some tiles before: it only grows.
//
// What is known of tiles is computed once, by kernels of its own. Each lane decides for one row of
// its warp, and looks for the next tile that the row needs; the block goes on with the nearest of
// those, so that what is left out costs neither a copy nor a product.
#ifndef PLUMBLINE_GPU_ATTENTION_MMA_SKIPPING_CUH
#define PLUMBLINE_GPU_ATTENTION_MMA_SKIPPING_CUH

#include <type_traits>

#include "attention/dispatch.cuh"
#include "attention/mma_rows.cuh"
#include "attention/skipped_mass.cuh"
#include "core/device_buffer.cuh"

namespace plumbline::gpu {

/// What is known of keys before they are copied, of `width` at a time from key 0 of a sequence on.
/// What is not finite makes a tile needed.
struct TileBounds {
  const float* norms;  // [batch, heads, tiles]: the longest key
  /// [heads, offset_tiles]: the largest entry of `width` offsets i - j, from lowest_offset on.
  const float* entries;
  const double *lowest, *highest;  // [batch, heads, tiles]: of the prefix sums
  int tiles, offset_tiles, lowest_offset;
};

/// TileBounds of a task's keys, and what they point at.
class TileBoundArrays {
 public:
  /// Launches what computes them. @param width of a tile
  TileBoundArrays(const Stream& stream, const Task& task, int width);

  const TileBounds& bounds() const { return bounds_; }

 private:
  DeviceBuffer<float> norms_, entries_;
  DeviceBuffer<double> lowest_, highest_;
  TileBounds bounds_;
};

/// The length of a row of D elements, from above.
template <class Storage>
__device__ float length_from_above(const Storage* row, int head_dim) {
  constexpr int kChunk = 16 / static_cast<int>(sizeof(Storage));
  float sum = kLostSquares;
  for (int d = 0; d < head_dim; d += kChunk) {
    float x[kChunk];
    load_vector<Storage>(row + d, x);
#pragma unroll
    for (int n = 0; n < kChunk; ++n) sum += x[n] * x[n];
  }
  return kNormFactor * sqrtf(sum);
}

/// b_ij of a row at `at` and of all keys of a tile, from above. Infinite or NaN where nothing is
/// known.
template <class Bias>
struct BiasOverTile {
  static constexpr bool kIsKnown = false;
};

template <>
struct BiasOverTile<Nope> {
  static constexpr bool kIsKnown = true;
  __device__ static float most(const TileBounds&, const Nope::Params&, const At&, const Nope::Row&,
                               int, int) {
    return 0.0f;
  }
};

template <>
struct BiasOverTile<Distance> {
  static constexpr bool kIsKnown = true;
  /// The tile's `width` offsets may lie in two rows of those of `bounds`.
  __device__ static float most(const TileBounds& bounds, const Distance::Params&, const At& at,
                               const Distance::Row&, int begin, int width) {
    const float* const of_head =
        bounds.entries + static_cast<std::size_t>(at.head) * bounds.offset_tiles;
    const int last = at.position - begin - bounds.lowest_offset;
    return fmaxf(of_head[(last - (width - 1)) / width], of_head[last / width]);
  }
};

template <>
struct BiasOverTile<Prefix> {
  static constexpr bool kIsKnown = true;
  /// From the extremes of S_i - S_j. 0.01 % more covers the rounding of the differences and of the
  /// formula.
  __device__ static float most(const TileBounds& bounds, const Prefix::Params& params, const At& at,
                               const Prefix::Row& row, int begin, int width) {
    const std::size_t of_head =
        (static_cast<std::size_t>(at.batch) * params.heads + at.head) * bounds.tiles;
    const std::size_t first = of_head + begin / width, last = of_head + (begin + width - 1) / width;
    double lowest = bounds.lowest[first], highest = bounds.highest[first];
    if (bounds.lowest[last] < lowest) lowest = bounds.lowest[last];
    if (bounds.highest[last] > highest) highest = bounds.highest[last];
    if (!(row.gain >= 0.0f && lowest > -HUGE_VAL && highest < HUGE_VAL)) return INFINITY;
    const auto least = static_cast<float>(row.sum - highest);
    const auto most = static_cast<float>(row.sum - lowest);
    const float b = Prefix::with_form<ApproximateLogarithm>(params, [&]<class Form>(Form) {
      if constexpr (std::is_same_v<Form, Prefix::OfDifference>)
        return Form::value(row.gain, most);
      else  // falls with |S_i - S_j|; NaN stays NaN
        return Form::value(row.gain, least <= 0.0f && most >= 0.0f ? 0.0f
                                     : least > 0.0f                ? least
                                                                   : -most);
    });
    return b + 1e-4f * fabsf(b);
  }
};

/// What a lane knows of its row, in units of log2, beside the row's queries.
struct alignas(16) SkippingRow {
  float factor;  // c_i log2 e
  float length;  // |scale| |q_i|, from above
  float margin;  // log2(n_i) + 10 log2 e
  int next;      // the nearest tile that may be needed: all those between are not

  /// Of row `row` of the block, whose queries begin at `q`. Tiles of `width` keys.
  template <class Rows, class Storage>
  __device__ void begin(const Problem& problem, const Rows& rows, int row, const Storage* q,
                        int head_dim, int width) {
    const KeyRange keys = rows.block_range;
    const KeyRange range =
        row < rows.count ? key_range(problem.mask, rows.b, rows.first_position + row) : KeyRange{};
    const int seen = range.end - range.begin;
    next =
        seen > 0 ? keys.begin + (range.end - 1 - keys.begin) / width * width : keys.begin - width;
    if (seen <= 0) return;
    length = fabsf(problem.scale) * length_from_above(q, head_dim);
    margin = log2f(static_cast<float>(seen)) + kSkippedLogit * kLog2E;
  }

  /// Whether a tile is needed whose keys and biases are no larger. NaN is needed, too.
  __device__ bool needs(float norm, float bias, float maximum) const {
    return !(factor >= 0.0f && factor * (length * norm + bias) < maximum - margin);
  }
};

/// The next tile that one of the rows of each warp needs.
struct alignas(16) NextOfWarps {
  int of[kMmaWarps];

  __device__ int nearest() const {
    const NextOfWarps all = *this;  // in one access
    return max(max(all.of[0], all.of[1]), max(all.of[2], all.of[3]));
  }
};
static_assert(kMmaWarps == 4);

/// Of the tiles of kKeys keys before `begin` the nearest that some row of this warp needs; below
/// the block's first key where none is left. `shared` has each row's SkippingRow, which its lane
/// alone reads and writes. The tiles are full ones: only the block's last one is not.
template <class Bias, int kKeys, class Rows, class Shared>
__device__ __forceinline__ int next_needed(const Problem& problem,
                                           const typename Bias::Params& params, const Rows& rows,
                                           const Shared& shared,
                                           const float (&maximum)[Rows::kRows], int begin,
                                           const TileBounds& bounds) {
  static_assert(Rows::kWarpRows == static_cast<int>(kWarpSize));
  float of_row = 0.0f;
#pragma unroll
  for (int r = 0; r < Rows::kRows; ++r) {
    const float other = shuffle(maximum[r], 4 * (rows.lane % Rows::kRowStep));
    if (rows.lane / Rows::kRowStep == r) of_row = other;
  }
  const int n = rows.warp_row + rows.lane;
  SkippingRow& row = shared.row(n);
  const At at{rows.b, rows.head, rows.first_row + n, rows.first_position + n};
  const std::size_t of_head =
      (static_cast<std::size_t>(rows.b) * problem.heads + rows.head) * bounds.tiles;
  const auto needed = [&](int tile) {
    const float norm = fmaxf(bounds.norms[of_head + tile / kKeys],
                             bounds.norms[of_head + (tile + kKeys - 1) / kKeys]);
    const float bias =
        BiasOverTile<Bias>::most(bounds, params, at, shared.bias.kept_row(n), tile, kKeys);
    return row.needs(norm, bias, of_row);
  };
  int next = min(row.next, begin - kKeys);
  while (next >= rows.block_range.begin && !needed(next)) next -= kKeys;
  row.next = next;
  return butterfly<1, 2, 4, 8, 16>(next, [](int a, int b) { return max(a, b); });
}

}  // namespace plumbline::gpu

#endif
