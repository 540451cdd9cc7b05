// SPDX-License-Identifier: Apache-2.0
// What the two backward kernels share: rows of q, k, v and dO in shared memory, products of one row
// with eight of a tile, and a quarter of a row of sums. Four neighbouring lanes own a row, which is
// a query in one kernel and a key in the other; lane `lane_in_row` of them takes the rows 4n +
// lane_in_row of the other side.
#ifndef PLUMBLINE_GPU_ATTENTION_BACKWARD_TILE_CUH
#define PLUMBLINE_GPU_ATTENTION_BACKWARD_TILE_CUH

#include "attention/backward_arrays.cuh"
#include "attention/bias_tile.cuh"
#include "core/vector4.cuh"

namespace plumbline::gpu {

/// Blocks that a multiprocessor shall hold: leaves 168 registers to a thread, or more where shared
/// memory has no room for three of them anyway.
template <int D>
inline constexpr int kBackwardBlocks = D > 64 ? 2 : 3;

inline constexpr int kScoreStride = kTileKeys + 4;

static_assert(kTileQueries == kTileKeys);

/// 32 rows of a tensor in fp32, padded against bank conflicts.
template <int D>
struct RowsTile {
  static constexpr int kStride = D + 4;

  float* values;  // [32][kStride]

  __device__ explicit RowsTile(SharedMemory& shared)
      : values(shared.take<float>(kTileKeys * kStride)) {}

  static constexpr std::size_t bytes() { return shared_bytes<float>(kTileKeys * kStride); }

  __device__ const float* row(int n) const { return values + n * kStride; }

  /// Row n is what load(n, d) returns for n < count, and zero from there on.
  template <class Load>
  __device__ void fill(int count, Load load) const {
    for (int n = static_cast<int>(threadIdx.x); n < kTileKeys * D; n += kTileThreads)
      values[n / D * kStride + n % D] = n / D < count ? load(n / D, n % D) : 0.0f;
  }
};

/// Copies rows of q and dO, `rows` from first_row on; those that packed sequences do not have are
/// zero.
template <int D>
__device__ void load_rows(const Problem& problem, const BackwardArrays& arrays, int b, int head,
                          int first_row, int rows, const RowsTile<D>& q,
                          const RowsTile<D>& grad_o) {
  const int first_position = first_row + problem.first_position(b);
  const std::size_t of_q = problem.q_rows.start(b, head, first_row);
  const std::size_t of_o = problem.o_rows.start(b, head, first_row);
  const auto has = [&](int n) { return problem.q_rows.has(b, first_row + n); };
  q.fill(rows, [&](int n, int d) {
    return has(n) ? problem.query(of_q + n * problem.q_rows.token, d, first_position + n) : 0.0f;
  });
  grad_o.fill(rows, [&](int n, int d) {
    return has(n) ? problem.value(arrays.grad_o, of_o + n * problem.o_rows.token, d) : 0.0f;
  });
}

/// lse of a row; of one that packed sequences do not have, and that sees no key, any number.
__device__ inline float saved_lse(const Problem& problem, const BackwardArrays& arrays, int b,
                                  int head, int row) {
  return problem.lse_rows.has(b, row) ? problem.natural_lse(arrays.lse, b, head, row) : 0.0f;
}

/// product[n] = row . (row 4n + quarter of `tile`).
template <int D>
__device__ __forceinline__ void products(const float* row, const RowsTile<D>& tile, int lane_in_row,
                                         float (&product)[kKeysPerLane]) {
  float4 sum[kKeysPerLane];
#pragma unroll
  for (int n = 0; n < kKeysPerLane; ++n) sum[n] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll 2
  for (int d = 0; d < D; d += 4) {
    const float4 own = load4(row + d);
#pragma unroll
    for (int n = 0; n < kKeysPerLane; ++n) {
      const float4 other = load4(tile.row(kLanesPerRow * n + lane_in_row) + d);
      sum[n].x += own.x * other.x;
      sum[n].y += own.y * other.y;
      sum[n].z += own.z * other.z;
      sum[n].w += own.w * other.w;
    }
  }
#pragma unroll
  for (int n = 0; n < kKeysPerLane; ++n) product[n] = (sum[n].x + sum[n].y) + (sum[n].z + sum[n].w);
}

/// A lane's quarter of a row of sums: columns 16n + 4*lane_in_row .. + 3.
template <int D>
struct LaneSums {
  float4 value[D / 16];

  __device__ LaneSums() {
#pragma unroll
    for (int n = 0; n < D / 16; ++n) value[n] = {0.0f, 0.0f, 0.0f, 0.0f};
  }

  /// += weight * row.
  __device__ __forceinline__ void add(float weight, const float* row, int lane_in_row) {
#pragma unroll
    for (int n = 0; n < D / 16; ++n)
      multiply_add(value[n], weight, load4(row + 16 * n + 4 * lane_in_row));
  }

  /// To a row in global memory, times `factor`.
  __device__ void store(float* row, int lane_in_row, float factor) const {
#pragma unroll
    for (int n = 0; n < D / 16; ++n) {
      float4 scaled = value[n];
      scale(scaled, factor);
      store4(row + 16 * n + 4 * lane_in_row, scaled);
    }
  }
};

/// Over the four lanes of a row.
__device__ inline double row_sum(double x) {
  return butterfly<1, 2>(x, [](double a, double b) { return a + b; });
}

}  // namespace plumbline::gpu

#endif
