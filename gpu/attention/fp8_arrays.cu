// SPDX-License-Identifier: Apache-2.0
#include "attention/fp8_arrays.cuh"

#include <cstdint>

#include "core/shared_memory.cuh"

namespace plumbline::gpu {

namespace {

constexpr int kThreads = 256;
constexpr int kWords = kFp8Dim / 4;         // of a key, and
constexpr int kGroupWords = kKeyGroup / 4;  // of a group of a transposed row
constexpr int kStride = kFp8Dim + 4;        // bytes from key to key in shared memory

/// A block a group of keys.
__global__ void __launch_bounds__(kThreads)
    transpose_kernel(Problem problem, const std::uint32_t* v, std::uint32_t* transposed) {
  SharedMemory memory;
  auto* const tile = memory.take<unsigned char>(kKeyGroup * kStride);
  const int first = static_cast<int>(blockIdx.x) * kKeyGroup;
  const int b = static_cast<int>(blockIdx.z);
  const std::size_t head = static_cast<std::size_t>(b) * problem.kv_heads + blockIdx.y;
  const int position = problem.first_position(b);
  const KeyRange seen = key_range(problem.mask, b, position, position + problem.queries - 1);
  for (int n = static_cast<int>(threadIdx.x); n < kKeyGroup * kWords; n += kThreads) {
    const int key = first + n / kWords;
    const bool counts = key >= seen.begin && key < seen.end;
    *reinterpret_cast<std::uint32_t*>(tile + n / kWords * kStride + n % kWords * 4) =
        counts ? v[(head * problem.keys + key) * kWords + n % kWords] : 0;
  }
  __syncthreads();
  const std::size_t row_words = gridDim.x * kGroupWords;
  for (int n = static_cast<int>(threadIdx.x); n < kFp8Dim * kGroupWords; n += kThreads) {
    const int d = n / kGroupWords, word = n % kGroupWords;
    std::uint32_t bits = 0;
    for (int i = 0; i < 4; ++i)
      bits |= std::uint32_t{tile[key_in_place(4 * word + i) * kStride + d]} << (8 * i);
    transposed[(head * kFp8Dim + d) * row_words + blockIdx.x * kGroupWords + word] = bits;
  }
}

}  // namespace

void transpose_fp8_values(const Stream& stream, const Problem& problem, const void* v,
                          void* transposed) {
  const auto groups = static_cast<unsigned>(padded_keys(problem.keys) / kKeyGroup);
  launch(
      stream,
      {dim3{groups, static_cast<unsigned>(problem.kv_heads), static_cast<unsigned>(problem.batch)},
       dim3{kThreads}, shared_bytes<unsigned char>(kKeyGroup * kStride)},
      transpose_kernel, problem, static_cast<const std::uint32_t*>(v),
      static_cast<std::uint32_t*>(transposed));
}

}  // namespace plumbline::gpu
