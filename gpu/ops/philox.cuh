// SPDX-License-Identifier: Apache-2.0
// Random numbers that are a function of a counter: no state, the same bits on every machine and in
// every order of threads. Source: Salmon, Moraes, Dror, Shaw, "Parallel Random Numbers: As Easy as
// 1, 2, 3", SC11, section 3.3 (Philox4x32-10; the Random123 library).
#ifndef PLUMBLINE_GPU_OPS_PHILOX_CUH
#define PLUMBLINE_GPU_OPS_PHILOX_CUH

#include <cstdint>

#include "core/cuda.cuh"

namespace plumbline::gpu {

/// Four words, a counter or its random numbers.
struct PhiloxWords {
  std::uint32_t word[4];
};

__host__ __device__ inline std::uint32_t low_word(std::uint64_t x) {
  return static_cast<std::uint32_t>(x);
}
__host__ __device__ inline std::uint32_t high_word(std::uint64_t x) {
  return static_cast<std::uint32_t>(x >> 32);
}

/// Philox4x32-10 of a counter under the key (low, high).
__host__ __device__ inline PhiloxWords philox4x32_10(PhiloxWords counter, std::uint32_t key_low,
                                                     std::uint32_t key_high) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{0xd2511f53u} * counter.word[0];
    const std::uint64_t second = std::uint64_t{0xcd9e8d57u} * counter.word[2];
    counter = {{static_cast<std::uint32_t>(second >> 32) ^ counter.word[1] ^ key_low,
                static_cast<std::uint32_t>(second),
                static_cast<std::uint32_t>(first >> 32) ^ counter.word[3] ^ key_high,
                static_cast<std::uint32_t>(first)}};
    key_low += 0x9e3779b9u;   // the golden ratio
    key_high += 0xbb67ae85u;  // sqrt(3) - 1
  }
  return counter;
}

}  // namespace plumbline::gpu

#endif
