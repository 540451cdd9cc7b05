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

/// At place p of a head's units: the sum of those before p that are not 0 beyond their kink, with
/// v_0, and of those from p on that are not 0 in front of it.
struct FirePlace {
  FireLine before, after;
};

/// The table of all heads, in device memory. A head's units stand in the order of their kinks, a
/// constant one (w_w = 0) in front of all others. Rows of kinks are padded by NaN, which is neither
/// in front of a number nor beyond it. All kinks of a head are NaN where a weight is not finite, or
/// a sum of them might be beyond fp32's range: no unit of it is ever part of a line.
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
  float slope, intercept;
  const FireUnit* units;
  int kinked;

  /// Of y from `least` to `most`, each within kFireSpread of what another order of roundings gives.
  /// All lanes call it.
  __device__ FirePart(const FireTable& table, int hidden, int head, float least, float most);
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
  slope = static_cast<float>(first.slope + second.slope);
  intercept = static_cast<float>(first.intercept + second.intercept);
  units = table.units + static_cast<std::size_t>(head) * hidden + before;
  kinked = hidden - beyond - before;
}

}  // namespace plumbline::gpu

#endif
