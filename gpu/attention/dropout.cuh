// SPDX-License-Identifier: Apache-2.0
// Dropout of P.
#ifndef PLUMBLINE_GPU_ATTENTION_DROPOUT_CUH
#define PLUMBLINE_GPU_ATTENTION_DROPOUT_CUH

#include <cstddef>
#include <cstdint>

#include "ops/philox.cuh"

namespace plumbline::gpu {

/// Which P meets v and dO, times `factor`; the others count as 0 there. A pair is its place in
/// [batch, heads, queries, keys]. Kernels on tensor cores take none.
struct PairDropout {
  const unsigned char* keep = nullptr;  // 0: dropped; null: no dropout
  float factor = 1.0f;                  // 1 / (1 - probability)
  bool generated = false;               // keep is what `generates` says
  float probability = 0.0f;
  std::uint64_t seed = 0, offset = 0;

  __device__ bool keeps(std::size_t pair) const { return !keep || keep[pair] != 0; }

  /// As kernel_abi/plumbline_kernel.h has it; keep is not read.
  __device__ bool generates(std::size_t pair) const {
    const std::uint64_t n = offset + pair;
    const PhiloxWords random =
        philox4x32_10({{low_word(n), high_word(n), 0, 0}}, low_word(seed), high_word(seed));
    const std::uint32_t x = random.word[0];
    return 4.6566127342e-10f * static_cast<float>(x < 0x80000000u ? x : ~x) > probability;
  }
};

}  // namespace plumbline::gpu

#endif
