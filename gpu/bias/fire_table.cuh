// SPDX-License-Identifier: Apache-2.0
// FIRE's hidden layer as a function of y = N / M (fire.cuh): v_0 + sum_w v_w max(0, w_w y + b_w) is
// piecewise linear, with a kink at t_w = -b_w / w_w of each unit. Where y stays between two kinks
// it is one line.
#ifndef PLUMBLINE_GPU_BIAS_FIRE_TABLE_CUH
#define PLUMBLINE_GPU_BIAS_FIRE_TABLE_CUH

#include "core/launch.cuh"
#include "core/warp.cuh"

namespace plumbline::gpu {

struct BiasInputs;

/// w_w, b_w and v_w of a head.
struct alignas(16) FireUnit {
  float weight, bias, output, unused;
};

struct alignas(16) FireLine {
  double slope, intercept;
};

/// Of a row with a 1 / M up to kMostInverse and of a factor up to 2^43 a FireRowLine is within
/// fp32's range. Where 1 / M is larger, verdict/bounds/fire_error.hpp knows no bound.
inline constexpr double kMostOfLine = 0x1p60;
inline constexpr float kMostInverse = 0x1p24f;

/// A factor times the line of a row, as one of N in place of y.
struct FireRowLine {
  float slope, intercept;
};

/// At place p of a head's units: the sum of those before p that are not 0 beyond their kink, with
/// v_0, and of those from p on that are not 0 in front of it.
struct FirePlace {
  FireLine before, after;
};

/// The table of all heads, in device memory. A head's units stand in the order of their kinks, a
/// constant one (w_w = 0) in front of all others. Rows of kinks are padded by NaN, which is neither
/// in front of a number nor beyond it. All kinks of a head are NaN where a weight is not finite, or
/// a sum of them might be beyond kMostOfLine: no unit of it is ever part of a line.
struct FireTable {
  float* kinks;       // [heads, stride(hidden)]
  FireUnit* units;    // [heads, hidden]
  FirePlace* places;  // [heads, hidden + 1]

  __host__ __device__ static int stride(int hidden) {
    return (hidden + static_cast<int>(kWarpSize) - 1) / static_cast<int>(kWarpSize) *
           static_cast<int>(kWarpSize);
  }
};

/// Fills inputs.fire_table from the layer of inputs. Sums are in double.
void fill_fire_table(const Stream& stream, const BiasInputs& inputs);

/// How a warp evaluates the layer in its part of a tile: by a line, and unit by unit for the
/// `kinked` ones from `units` on, whose kink may lie between two y of the part.
struct FirePart {
  FireLine line;
  const FireUnit* units;
  int kinked;

  /// Of y from `least` to `most`, each within kFireSpread of what another order of roundings gives.
  /// All lanes call it.
  __device__ FirePart(const FireTable& table, int hidden, int head, float least, float most);

  /// Of a row with 1 / M = `inverse`. Nothing but the result is rounded to fp32.
  __device__ FireRowLine line_of_row(float inverse, float factor) const {
    return {static_cast<float>(static_cast<double>(factor) * inverse * line.slope),
            static_cast<float>(factor * line.intercept)};
  }
};

/// y is N (1/M) of two rounded logarithms. Each is within 1 ulp, so that of two offsets or rows the
/// larger one may have a logarithm smaller by 4u of it; the table's kink (u) and the product with
/// this number (u) are rounded, too: 10u of y. A y below fp32's normal range may be off by the
/// smallest normal number.
inline constexpr float kFireSpread = 0x1p-20f;

__device__ inline FirePart::FirePart(const FireTable& table, int hidden, int head, float least,
                                     float most) {
  const float begin = fmaxf(0.0f, least * (1.0f - kFireSpread) - 0x1p-126f);
  const float end = most * (1.0f + kFireSpread) + 0x1p-126f;
  const int stride = FireTable::stride(hidden);
  const float* kinks =
      table.kinks + static_cast<std::size_t>(head) * stride + threadIdx.x % kWarpSize;
  int before = 0, beyond = 0;
#pragma unroll 1
  for (int n = 0; n < stride; n += static_cast<int>(kWarpSize)) {
    before += lanes_count(kinks[n] <= begin);
    beyond += lanes_count(kinks[n] > end);
  }
  const FirePlace* places = table.places + static_cast<std::size_t>(head) * (hidden + 1);
  const FireLine first = places[before].before, second = places[hidden - beyond].after;
  line = {first.slope + second.slope, first.intercept + second.intercept};
  units = table.units + static_cast<std::size_t>(head) * hidden + before;
  kinked = hidden - beyond - before;
}

}  // namespace plumbline::gpu

#endif
