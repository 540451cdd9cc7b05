// SPDX-License-Identifier: Apache-2.0
// The bias in tensor-core kernels. They are templates on the head dimension and the element format;
// the bias family, which only a pass over a tile's scores looks at, is known at run time.
#ifndef PLUMBLINE_GPU_ATTENTION_MMA_BIAS_CUH
#define PLUMBLINE_GPU_ATTENTION_MMA_BIAS_CUH

#include <algorithm>
#include <type_traits>

#include "attention/dispatch.cuh"
#include "core/shared_memory.cuh"

namespace plumbline::gpu {

enum class BiasFamilyId { nope, distance, prefix, fire };

/// The parameters of one of the families.
struct AnyBias {
  BiasFamilyId family;
  Nope::Params nope;
  Distance::Params distance;
  Prefix::Params prefix;
  Fire::Params fire;

  /// Calls f(Family{}, the family's parameters).
  template <class F>
  __device__ __forceinline__ void visit(F f) const {
    switch (family) {
      case BiasFamilyId::nope:
        return f(Nope{}, nope);
      case BiasFamilyId::distance:
        return f(Distance{}, distance);
      case BiasFamilyId::prefix:
        return f(Prefix{}, prefix);
      case BiasFamilyId::fire:
        return f(Fire{}, fire);
    }
  }
};

/// That of a task, on the host.
AnyBias any_bias(const Stream& stream, const Task& task);

/// What the bias knows of a tile, in shared memory: its queries, its keys, and the entries of the
/// offsets between them.
template <int kQueries, int kKeys>
struct AnyBiasTile {
  static constexpr int kEntries = kQueries + kKeys;
  static constexpr std::size_t kRowBytes =
      std::max({sizeof(Prefix::Row), sizeof(Fire::Row), sizeof(Distance::Row)});
  static constexpr std::size_t kKeyBytes = sizeof(Prefix::Key);
  static_assert(std::is_empty_v<Fire::Key> && std::is_empty_v<Distance::Key>);

  float* entries;
  unsigned char* rows;
  unsigned char* keys;

  __device__ explicit AnyBiasTile(SharedMemory& shared)
      : entries(shared.take<float>(kEntries)),
        rows(shared.take<unsigned char>(kQueries * kRowBytes)),
        keys(shared.take<unsigned char>(kKeys * kKeyBytes)) {}

  static constexpr std::size_t bytes() {
    return shared_bytes<float>(kEntries) + shared_bytes<unsigned char>(kQueries * kRowBytes) +
           shared_bytes<unsigned char>(kKeys * kKeyBytes);
  }

  template <class Bias>
  __device__ typename Bias::Row& row(int n) const {
    return reinterpret_cast<typename Bias::Row*>(rows)[n];
  }

  /// The queries from row `at.row` on that exist, `count` of them; the last one stands for the
  /// others.
  __device__ void load_rows(const AnyBias& bias, At at, int count) const {
    bias.visit([&](auto family, const auto& params) {
      using Bias = decltype(family);
      if constexpr (!std::is_empty_v<typename Bias::Row>) {
#pragma unroll 1
        for (int n = static_cast<int>(threadIdx.x); n < kQueries;
             n += static_cast<int>(blockDim.x)) {
          const int from = min(n, count - 1);
          row<Bias>(n) =
              Bias::load_row(params, {at.batch, at.head, at.row + from, at.position + from});
        }
      }
    });
  }

  /// Keys begin .. begin + kKeys - 1, the last one in place of those from `end` on, and the entries
  /// of their offsets from the queries at first_position ...
  __device__ void load_keys(const AnyBias& bias, At at, int first_position, int begin,
                            int end) const {
    bias.visit([&](auto family, const auto& params) {
      using Bias = decltype(family);
      const int thread = static_cast<int>(threadIdx.x);
      const int threads = static_cast<int>(blockDim.x);
      if constexpr (Bias::kHasEntry) {
#pragma unroll 1
        for (int n = thread; n < kEntries; n += threads)
          entries[n] = Bias::entry(params, at.head, first_position - begin + n - (kKeys - 1));
      }
      if constexpr (!std::is_empty_v<typename Bias::Key>) {
#pragma unroll 1
        for (int n = thread; n < kKeys; n += threads)
          reinterpret_cast<typename Bias::Key*>(keys)[n] =
              Bias::load_key(params, at, min(begin + n, end - 1));
      }
    });
  }

  /// What Bias::value takes of a pair of the tile.
  template <class Bias>
  __device__ __forceinline__ typename Bias::Key key(int n) const {
    if constexpr (std::is_empty_v<typename Bias::Key>)
      return {};
    else
      return reinterpret_cast<const typename Bias::Key*>(keys)[n];
  }

  template <class Bias>
  __device__ __forceinline__ float entry(int row_in_tile, int key_in_tile) const {
    if constexpr (Bias::kHasEntry)
      return entries[row_in_tile - key_in_tile + kKeys - 1];
    else
      return 0.0f;
  }
};

}  // namespace plumbline::gpu

#endif
