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
    switch (static_cast<int>(p.method)) {
      case PLUMBLINE_ALIBI:
        return 0;
#define PLUMBLINE_COUNT(number, Form) \
  case PLUMBLINE_##number:            \
    return Form::kParameters;
        PLUMBLINE_BIASES_OF_HEADS(PLUMBLINE_COUNT)
#undef PLUMBLINE_COUNT
    }
    return p.table_rows;
  }
  static constexpr std::size_t bytes(const Distance::Params&) {
    return shared_bytes<double>(kOffsets * kMost) + shared_bytes<float>(kMostOfHead);
  }

  double* shared;   // [kOffsets][kMost], a thread's own sums; of a table [kOffsets] diagonals
  float* of_head;   // [kMostOfHead]
  double* partial;  // the block's sums

  /// `block_partial` has `rows` zeros, or nothing of use where the family's method has no table.
  __device__ HeadGrad(SharedMemory& memory, const Distance::Params&, double* block_partial)
      : shared(memory.take<double>(kOffsets * kMost)),
        of_head(memory.take<float>(kMostOfHead)),
        partial(block_partial) {}

  /// Before the first tile.
  __device__ void begin(const Distance::Params& p, int head) const {
    const int thread = static_cast<int>(threadIdx.x);
    if (thread < kOffsets)
      for (int n = 0; n < kMost; ++n) shared[thread * kMost + n] = 0.0;
    if (thread == 0) make_of_head(p, head);
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
    derivatives(p, head, offset, of);
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
  __device__ void make_of_head(const Distance::Params& p, int head) const {
    switch (static_cast<int>(p.method)) {
#define PLUMBLINE_OF_HEAD(number, Form) \
  case PLUMBLINE_##number:              \
    return of_head_of(Distance::form<Form>(p, head, 0));
      PLUMBLINE_BIASES_OF_HEADS(PLUMBLINE_OF_HEAD)
#undef PLUMBLINE_OF_HEAD
    }
  }

  template <class Form>
  __device__ void of_head_of(const Form& form) const {
    if constexpr (requires { form.of_head(of_head); }) form.of_head(of_head);
  }

  /// Of a method with numbers for each head, in the order of its parameters.
  __device__ void derivatives(const Distance::Params& p, int head, int offset,
                              float (&of)[kMost]) const {
    switch (static_cast<int>(p.method)) {
#define PLUMBLINE_DERIVATIVES(number, Form) \
  case PLUMBLINE_##number:                  \
    return derivatives_of(Distance::form<Form>(p, head, offset), offset, of);
      PLUMBLINE_BIASES_OF_HEADS(PLUMBLINE_DERIVATIVES)
#undef PLUMBLINE_DERIVATIVES
    }
  }

  template <class Form>
  __device__ void derivatives_of(const Form& form, int offset, float (&of)[kMost]) const {
    const auto x = static_cast<float>(offset);
    if constexpr (requires { form.of_head(of_head); })
      form.derivatives(x, of_head, of);
    else
      form.derivatives(x, of);
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
