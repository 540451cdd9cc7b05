// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_BIAS_DISTANCE_GRAD_CUH
#define PLUMBLINE_GPU_BIAS_DISTANCE_GRAD_CUH

#include "attention/bias_tile.cuh"
#include "bias/distance.cuh"

namespace plumbline::gpu {

/// All scores of an offset share the derivatives, so the diagonals of dz are summed first: thread n
/// has the n-th of a tile's 63 offsets, and up to three sums of its own. Of a T5 table each row is
/// a run of neighbouring offsets, whose first thread adds to the block's sums.
template <>
struct HeadGrad<Distance> {
  static constexpr bool kUsed = true;
  static constexpr int kOffsets = kTileQueries + kTileKeys - 1;
  static constexpr int kMost = 3;

  __host__ __device__ static int rows(const Distance::Params& p) {
    switch (p.method) {
      case PLUMBLINE_ALIBI:
        return 0;
      case PLUMBLINE_GGD:
        return Ggd::kParameters;
      case PLUMBLINE_KERPLE_LOG:
      case PLUMBLINE_KERPLE_POWER:
        return KerpleLog::kParameters;
      case PLUMBLINE_T5:
      case PLUMBLINE_T5_BIDIRECTIONAL:
      case PLUMBLINE_T5_CLIPPED:
      case PLUMBLINE_T5_CLIPPED_OFFSET:
        return p.table_rows;
      case PLUMBLINE_NOPE:
      case PLUMBLINE_CABLE:
      case PLUMBLINE_CABLE_NW:
      case PLUMBLINE_K_CABLE:
      case PLUMBLINE_K_CABLE_NW:
      case PLUMBLINE_FIRE:
      case PLUMBLINE_FOX:
      case PLUMBLINE_CABLE_PAPER:
      case PLUMBLINE_CABLE_NW_PAPER:
      case PLUMBLINE_K_CABLE_PAPER:
      case PLUMBLINE_COPE:
        break;  // not of the distance
    }
    return 0;
  }
  static std::size_t bytes(const Distance::Params&) {
    return shared_bytes<double>(kOffsets * kMost);
  }

  double* shared;   // [kOffsets][kMost], a thread's own sums; of a table [kOffsets] diagonals
  double* partial;  // the block's sums

  /// `block_partial` has `rows` zeros, or nothing of use where the family's method has no table.
  __device__ HeadGrad(SharedMemory& memory, const Distance::Params&, double* block_partial)
      : shared(memory.take<double>(kOffsets * kMost)), partial(block_partial) {}

  /// Before the first tile.
  __device__ void clear(const Distance::Params&) const {
    const int thread = static_cast<int>(threadIdx.x);
    if (thread < kOffsets)
      for (int n = 0; n < kMost; ++n) shared[thread * kMost + n] = 0.0;
  }

  __device__ static bool has_table(const Distance::Params& p) { return p.table_rows > 0; }

  /// dz is [kTileQueries][stride]; `first_offset` is that of the first query and the first key. All
  /// threads call it, after a barrier.
  __device__ void add(const Distance::Params& p, int head, const float* dz, int stride,
                      const float*, int first_offset, const Distance::Row*) const {
    if (p.method == PLUMBLINE_ALIBI) return;
    const int thread = static_cast<int>(threadIdx.x);
    const int offset = first_offset + thread - (kTileKeys - 1);
    double diagonal = 0.0;
    if (thread < kOffsets) {
      for (int row = 0; row < kTileQueries; ++row) {
        const int key = row + kTileKeys - 1 - thread;
        if (key >= 0 && key < kTileKeys) diagonal += dz[row * stride + key];
      }
    }
    if (has_table(p)) {
      add_to_table(p, diagonal, offset);
      return;
    }
    if (thread >= kOffsets || diagonal == 0.0) return;
    float of[kMost] = {};
    derivatives(p, head, static_cast<float>(offset), of);
#pragma unroll
    for (int n = 0; n < kMost; ++n) shared[thread * kMost + n] += diagonal * of[n];
  }

  __device__ void finish(const Distance::Params& p, int) const {
    if (p.method == PLUMBLINE_ALIBI || has_table(p)) return;
    const int thread = static_cast<int>(threadIdx.x);
    __syncthreads();
    if (thread >= rows(p)) return;
    double sum = 0.0;
    for (int n = 0; n < kOffsets; ++n) sum += shared[n * kMost + thread];
    partial[thread] = sum;
  }

 private:
  /// Of a method with numbers for each head, in the order of its parameters.
  __device__ static void derivatives(const Distance::Params& p, int head, float x,
                                     float (&of)[kMost]) {
    switch (p.method) {
      case PLUMBLINE_GGD:
        return Distance::ggd(p, head).derivatives(x, of);
      case PLUMBLINE_KERPLE_LOG:
        return KerpleLog{p.p[head], p.a[head]}.derivatives(x, of);
      case PLUMBLINE_KERPLE_POWER:
        return KerplePower{p.p[head], p.a[head]}.derivatives(x, of);
      case PLUMBLINE_NOPE:
      case PLUMBLINE_ALIBI:
      case PLUMBLINE_CABLE:
      case PLUMBLINE_CABLE_NW:
      case PLUMBLINE_K_CABLE:
      case PLUMBLINE_K_CABLE_NW:
      case PLUMBLINE_T5:
      case PLUMBLINE_T5_BIDIRECTIONAL:
      case PLUMBLINE_T5_CLIPPED:
      case PLUMBLINE_T5_CLIPPED_OFFSET:
      case PLUMBLINE_FIRE:
      case PLUMBLINE_FOX:
      case PLUMBLINE_CABLE_PAPER:
      case PLUMBLINE_CABLE_NW_PAPER:
      case PLUMBLINE_K_CABLE_PAPER:
      case PLUMBLINE_COPE:
        break;  // none
    }
  }

  __device__ void add_to_table(const Distance::Params& p, double diagonal, int offset) const {
    const int thread = static_cast<int>(threadIdx.x);
    if (thread < kOffsets) shared[thread] = diagonal;
    __syncthreads();
    if (thread >= kOffsets) return;
    const int row = Distance::table_row(p, offset);
    if (thread > 0 && Distance::table_row(p, offset - 1) == row) return;
    double sum = diagonal;
    for (int n = 1; thread + n < kOffsets && Distance::table_row(p, offset + n) == row; ++n)
      sum += shared[thread + n];
    partial[row] += sum;
  }
};

}  // namespace plumbline::gpu

#endif
