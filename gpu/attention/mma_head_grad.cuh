// SPDX-License-Identifier: Apache-2.0
// The gradients of heads' parameters in tensor-core kernels, where the bias family is known at run
// time.
#ifndef PLUMBLINE_GPU_ATTENTION_MMA_HEAD_GRAD_CUH
#define PLUMBLINE_GPU_ATTENTION_MMA_HEAD_GRAD_CUH

#include "attention/mma_bias.cuh"
#include "bias/distance_grad.cuh"
#include "bias/fire_grad.cuh"

namespace plumbline::gpu {

/// HeadGrad of a task's family. All of its state is in shared memory, so that it is made anew for
/// each call.
struct AnyHeadGrad {
  const AnyBias& bias;
  SharedMemory memory;  // what follows is HeadGrad's
  double* partial;      // the block's sums

  /// Bytes of shared memory, on the host.
  static std::size_t bytes(const AnyBias& bias) {
    switch (bias.family) {
      case BiasFamilyId::distance:
        return HeadGrad<Distance>::bytes(bias.distance);
      case BiasFamilyId::fire:
        return HeadGrad<Fire>::bytes(bias.fire);
      default:
        return 0;
    }
  }

  /// Before the first tile.
  __device__ void clear() const {
    visit([](auto, const auto& grad, const auto& params) { grad.clear(params); });
  }

  /// Adds a tile of dz, [kQueries][stride], of which `count` queries exist; the others are zero.
  /// `first_offset` is that of the first query and the first key. All threads call it, after a
  /// barrier.
  template <int kQueries>
  __device__ void add(const AnyBiasTile<kQueries, kTileKeys>& tile, int head, const float* dz,
                      int stride, int first_offset, int count) const {
    static_assert(kQueries % kTileQueries == 0);
    visit([&](auto family, const auto& grad, const auto& params) {
#pragma unroll 1
      for (int first = 0; first < count; first += kTileQueries) {
        if (first > 0) __syncthreads();  // all are done with the queries before
        grad.add(params, head, dz + first * stride, stride, tile.entries + first,
                 first_offset + first, &tile.template row<decltype(family)>(first));
      }
    });
  }

  /// After the last tile.
  __device__ void finish(int head) const {
    visit([&](auto, const auto& grad, const auto& params) { grad.finish(params, head); });
  }

 private:
  /// use(Family{}, its HeadGrad, its parameters), where the family has one.
  template <class Use>
  __device__ __forceinline__ void visit(Use use) const {
    bias.visit([&](auto family, const auto& params) {
      using Grad = HeadGrad<decltype(family)>;
      if constexpr (Grad::kUsed) {
        SharedMemory own = memory;
        use(family, Grad(own, params, partial), params);
      }
    });
  }
};

}  // namespace plumbline::gpu

#endif
