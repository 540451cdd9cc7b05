// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_BIAS_DISTANCE_GRAD_CUH
#define PLUMBLINE_GPU_BIAS_DISTANCE_GRAD_CUH

#include "attention/bias_tile.cuh"
#include "bias/distance.cuh"

namespace plumbline::gpu {

/// All scores of an offset share the derivatives, so the diagonals of dz are summed first: thread n
/// has the n-th of a tile's offsets, and up to three sums of its own. Of a T5 table each row is a
/// run of neighbouring offsets, whose first thread adds to the sums of the threads together.
template <class Tile>
struct HeadGrad<Distance, Tile> {
  static constexpr bool kUsed = true;
  static constexpr int kEdge = Tile::kKeys;
  static_assert(kEdge == Tile::kQueries && 2 * kEdge <= kTileThreads);
  static constexpr int kOffsets = 2 * kEdge - 1;
  static constexpr int kMost = 3;
  static constexpr bool kMayLackRows = requires { Tile::kMayLackRows; };

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
  __host__ __device__ static constexpr std::size_t bytes(const Distance::Params&) {
    return shared_bytes<double>(kOffsets * kMost) + shared_bytes<float>(kMostOfHead);
  }

  double* shared;   // [kOffsets][kMost], a thread's own sums; of a table [kOffsets] diagonals
  float* of_head;   // [kMostOfHead]
  double* partial;  // the sums that are left

  /// `left` has `rows` zeros, or nothing of use where the family's method has no table; null where
  /// the tile has no rows, as Tile::kMayLackRows says of its type.
  __device__ HeadGrad(SharedMemory& memory, const Distance::Params&, double* left)
      : shared(memory.take<double>(kOffsets * kMost)),
        of_head(memory.take<float>(kMostOfHead)),
        partial(left) {}

  /// Before the first tile.
  __device__ void begin(const Distance::Params& p, int head) const {
    const int thread = Tile::thread();
    if (thread < kOffsets)
      for (int n = 0; n < kMost; ++n) shared[thread * kMost + n] = 0.0;
    if (thread == 0) make_of_head(p, head);
  }

  __device__ static bool has_table(const Distance::Params& p) { return p.table_rows > 0; }

  /// dz is [kEdge][stride]; `first_offset` is that of the first query and the first key. All
  /// threads call it, after a barrier.
  __device__ void add(const Distance::Params& p, int head, const float* dz, int stride,
                      const float*, int first_offset, const Distance::Row*) const {
    if (p.method == PLUMBLINE_ALIBI) return;
    const int thread = Tile::thread();
    const int offset = first_offset + thread - (kEdge - 1);
    const double diagonal = thread < kOffsets ? sum_of_diagonal(dz, stride) : 0.0;
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
    const int thread = Tile::thread();
    Tile::meet();
    if (thread >= rows(p) || lacks_rows()) return;
    double sum = 0.0;
    for (int n = 0; n < kOffsets; ++n) sum += shared[n * kMost + thread];
    partial[thread] = sum;
  }

 private:
  __device__ bool lacks_rows() const { return kMayLackRows && !partial; }

  /// Of the thread's offset. Of a small tile all rows are asked for, since the compiler knows their
  /// addresses. Of a larger one a thread walks along its diagonal, either from the first row on or
  /// from the last one back, so that the threads of a warp read neighbouring keys.
  __device__ double sum_of_diagonal(const float* dz, int stride) const {
    const int thread = Tile::thread();
    double sum = 0.0;
    if constexpr (kEdge <= 32) {
      for (int row = 0; row < kEdge; ++row) {
        const int key = row + kEdge - 1 - thread;
        if (key >= 0 && key < kEdge) sum += dz[row * stride + key];
      }
    } else {
      const bool forwards = thread < kEdge;
      const float* at = forwards ? dz + (kEdge - 1 - thread)
                                 : dz + (kEdge - 1) * stride + (kOffsets - 1 - thread);
      const int step = forwards ? stride + 1 : -(stride + 1);
      const int count = forwards ? thread + 1 : kOffsets - thread;
      for (int n = 0; n < count; ++n) sum += at[n * step];
    }
    return sum;
  }

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
    const int thread = Tile::thread();
    if (thread < kOffsets) shared[thread] = diagonal;
    Tile::meet();
    if (thread >= kOffsets || lacks_rows()) return;
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
