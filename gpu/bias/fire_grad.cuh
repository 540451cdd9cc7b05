// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_BIAS_FIRE_GRAD_CUH
#define PLUMBLINE_GPU_BIAS_FIRE_GRAD_CUH

#include "attention/bias_tile.cuh"
#include "bias/fire.cuh"

namespace plumbline::gpu {

/// With r_w = w_w y + b_w, d = |i - j| and [r_w > 0] where a unit is active:
///   dv_0 = dz,  dv_w = dz max(0, r_w),  dw_w = dz v_w [r_w > 0] y,  db_w = dz v_w [r_w > 0],
///   dc = dz e sign(c) (d / (1 + |c| d) - y m / (1 + |c| m)) / M,   e = sum_w v_w w_w [r_w > 0],
///   dL = -dz e y |c| / (1 + |c| m) / M [i <= |L L0|] sign(L L0) L0.
/// v_w and w_w come out of the sums over scores, which leaves five sums for each hidden unit. Each
/// warp takes eight query rows of a tile, each of its lanes every 32nd unit.
template <class Tile>
struct HeadGrad<Fire, Tile> {
  static constexpr bool kUsed = true;
  static_assert(Tile::kQueries == kTileQueries && Tile::kKeys == kTileKeys);
  static constexpr int kWarps = kTileThreads / static_cast<int>(kWarpSize);
  static constexpr int kRowsPerWarp = kTileQueries / kWarps;
  static constexpr int kStride = kTileKeys + 1;
  static constexpr int kSums = 5;  // relu, active, y, by_c, by_L

  static int rows(const Fire::Params& p) { return 3 * p.hidden + 3; }
  __host__ __device__ static constexpr std::size_t bytes(const Fire::Params& p) {
    return shared_bytes<float>(kTileQueries * kStride) + shared_bytes<float>(2 * kTileQueries) +
           shared_bytes<float>(kTileQueries + kTileKeys) +
           shared_bytes<double>(kWarps * kSums * p.hidden) + shared_bytes<double>(kTileThreads);
  }

  float* y;           // [kTileQueries][kStride]
  float* by_row;      // [2][kTileQueries]: m / (1 + |c| m) and the row's factor of dL
  float* by_offset;   // [kTileQueries + kTileKeys]: d / (1 + |c| d)
  double* sums;       // [kWarps][kSums][hidden], each read and written by one thread alone
  double* bias_sums;  // [kTileThreads], a thread's own
  double* partial;

  __device__ HeadGrad(SharedMemory& memory, const Fire::Params& p, double* left)
      : y(memory.take<float>(kTileQueries * kStride)),
        by_row(memory.take<float>(2 * kTileQueries)),
        by_offset(memory.take<float>(kTileQueries + kTileKeys)),
        sums(memory.take<double>(kWarps * kSums * p.hidden)),
        bias_sums(memory.take<double>(kTileThreads)),
        partial(left) {}

  /// Before the first tile.
  __device__ void begin(const Fire::Params& p, int) const {
    for_own_units(p, [&](double* of, int) {
      for (int n = 0; n < kSums; ++n) of[n * p.hidden] = 0.0;
    });
    bias_sums[Tile::thread()] = 0.0;
  }

  __device__ void add(const Fire::Params& p, int, const float* dz, int stride, const float* entries,
                      int first_offset, const Fire::Row* rows) const {
    const int thread = Tile::thread();
    const float c = fabsf(p.c[0]);
    double output_bias = 0.0;
    for (int n = thread; n < kTileQueries * kTileKeys; n += kTileThreads) {
      const int row = n / kTileKeys, key = n % kTileKeys;
      y[row * kStride + key] = entries[row - key + kTileKeys - 1] * rows[row].inverse;
      output_bias += dz[row * stride + key];
    }
    bias_sums[thread] += output_bias;
    if (thread < kTileQueries + kTileKeys) {
      const float d = fabsf(static_cast<float>(first_offset + thread - (kTileKeys - 1)));
      by_offset[thread] = d / (1.0f + c * d);
    }
    if (thread < kTileQueries) {
      const Fire::Row& row = rows[thread];
      by_row[thread] = row.reach / (1.0f + c * row.reach);
      const auto rate = static_cast<float>(p.L[0] * p.L0 < 0.0 ? -p.L0 : p.L0);
      by_row[kTileQueries + thread] = row.below_threshold ? -c / (1.0f + c * row.reach) * rate : 0;
    }
    Tile::meet();
    const int first_row = thread / static_cast<int>(kWarpSize) * kRowsPerWarp;
    for_own_units(p, [&](double* of, int w) {
      const float weight = p.hidden_weight[w], bias = p.hidden_bias[w];
      float relu = 0.0f, active = 0.0f, by_y = 0.0f, by_c = 0.0f, by_L = 0.0f;
      for (int row = first_row; row < first_row + kRowsPerWarp; ++row) {
        const float inverse = rows[row].inverse;
        for (int key = 0; key < kTileKeys; ++key) {
          const float at = y[row * kStride + key], r = weight * at + bias;
          if (!(r > 0.0f)) continue;
          const float grad = dz[row * stride + key];
          relu += grad * r;
          active += grad;
          by_y += grad * at;
          const float scaled = grad * inverse;
          by_c += scaled * (by_offset[row - key + kTileKeys - 1] - at * by_row[row]);
          by_L += scaled * (at * by_row[kTileQueries + row]);
        }
      }
      of[0] += relu;
      of[p.hidden] += active;
      of[2 * p.hidden] += by_y;
      of[3 * p.hidden] += by_c;
      of[4 * p.hidden] += by_L;
    });
  }

  __device__ void finish(const Fire::Params& p, int head) const {
    const int thread = Tile::thread();
    Tile::meet();
    const float* output_weight = p.output_weight + static_cast<std::size_t>(head) * p.hidden;
    const auto sum = [&](int n, int w) {
      double total = 0.0;
      for (int warp = 0; warp < kWarps; ++warp) total += sums[(warp * kSums + n) * p.hidden + w];
      return total;
    };
    for (int w = thread; w < p.hidden; w += kTileThreads) {
      partial[w] = output_weight[w] * sum(2, w);
      partial[p.hidden + w] = output_weight[w] * sum(1, w);
      partial[2 * p.hidden + w] = sum(0, w);
    }
    if (thread != 0) return;
    double bias = 0.0, by_c = 0.0, by_L = 0.0;
    for (int n = 0; n < kTileThreads; ++n) bias += bias_sums[n];
    for (int w = 0; w < p.hidden; ++w) {
      const double factor = static_cast<double>(output_weight[w]) * p.hidden_weight[w];
      by_c += factor * sum(3, w);
      by_L += factor * sum(4, w);
    }
    partial[3 * p.hidden] = bias;
    partial[3 * p.hidden + 1] = p.c[0] < 0.0f ? -by_c : by_c;
    partial[3 * p.hidden + 2] = by_L;
  }

 private:
  /// use(this warp's sums of unit w, w) for each unit w of this lane.
  template <class Use>
  __device__ void for_own_units(const Fire::Params& p, Use use) const {
    const int thread = Tile::thread(), warp = thread / static_cast<int>(kWarpSize);
    for (int w = thread % static_cast<int>(kWarpSize); w < p.hidden;
         w += static_cast<int>(kWarpSize))
      use(sums + warp * kSums * p.hidden + w, w);
  }
};

}  // namespace plumbline::gpu

#endif
