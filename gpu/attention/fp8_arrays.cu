// SPDX-License-Identifier: Apache-2.0
#include "attention/fp8_arrays.cuh"

#include <cstdint>
#include <stdexcept>

#include "core/shared_memory.cuh"
#include "core/warp.cuh"

namespace plumbline::gpu {

namespace {

constexpr int kArrayThreads = 256;
constexpr int kLanesOfKey = kArrayThreads / kKeyGroup;  // of a key
constexpr int kGroupWords = kKeyGroup / 4;              // of a group of a transposed row

/// Bytes from key to key in shared memory.
template <int D>
constexpr int kStride = D + 4;

/// Whether some query sees a key, by `kLanesOfKey` lanes, of which this is `lane`. `range`: the
/// keys that the queries see but for documents.
__device__ bool is_seen(const Problem& problem, int b, const KeyRange& range, int key, int lane) {
  int seen = key >= range.begin && key < range.end;
  if (!problem.mask.documents) return seen;
  if (seen) {
    // Mostly the query that stands at the key sees it, and no other one has to be asked.
    const int first = problem.first_position(b);
    const auto sees = [&](int row) {
      const int at = first + row;
      return visible(problem.mask, key_range(problem.mask, b, at), b, at, key);
    };
    seen = sees(min(max(key - first, 0), problem.queries - 1));
#pragma unroll 1
    for (int row = lane; row < problem.queries && !seen; row += kLanesOfKey) seen = sees(row);
  }
#pragma unroll
  for (unsigned mask = 1; mask < unsigned{kLanesOfKey}; mask *= 2) seen |= shuffle_xor(seen, mask);
  return seen;
}

/// A block a group of keys.
template <int D>
__global__ void __launch_bounds__(kArrayThreads)
    transpose_kernel(Problem problem, const std::uint32_t* v, std::uint32_t* transposed) {
  constexpr int kWords = D / 4;  // of a key
  static_assert(kWords % kLanesOfKey == 0);
  SharedMemory memory;
  auto* const tile = memory.take<unsigned char>(kKeyGroup * kStride<D>);
  const int b = static_cast<int>(blockIdx.z);
  const std::size_t head = static_cast<std::size_t>(b) * problem.kv_heads + blockIdx.y;
  const int position = problem.first_position(b);
  const KeyRange range = key_range(problem.mask, b, position, position + problem.queries - 1);
  const int row = static_cast<int>(threadIdx.x) / kLanesOfKey,
            lane = static_cast<int>(threadIdx.x) % kLanesOfKey;
  const int key = static_cast<int>(blockIdx.x) * kKeyGroup + row;
  const bool counts = is_seen(problem, b, range, key, lane);
#pragma unroll
  for (int word = lane; word < kWords; word += kLanesOfKey)
    *reinterpret_cast<std::uint32_t*>(tile + row * kStride<D> + word * 4) =
        counts ? v[(head * problem.keys + key) * kWords + word] : 0;
  __syncthreads();
  const std::size_t row_words = gridDim.x * kGroupWords;
  for (int n = static_cast<int>(threadIdx.x); n < D * kGroupWords; n += kArrayThreads) {
    const int d = n / kGroupWords, word = n % kGroupWords;
    std::uint32_t bits = 0;
    for (int i = 0; i < 4; ++i)
      bits |= std::uint32_t{tile[key_in_place(4 * word + i) * kStride<D> + d]} << (8 * i);
    transposed[(head * D + d) * row_words + blockIdx.x * kGroupWords + word] = bits;
  }
}

template <int D>
void transpose(const Stream& stream, const Problem& problem, const void* v, void* transposed) {
  const auto groups = static_cast<unsigned>(padded_keys(problem.keys) / kKeyGroup);
  launch(
      stream,
      {dim3{groups, static_cast<unsigned>(problem.kv_heads), static_cast<unsigned>(problem.batch)},
       dim3{kArrayThreads}, shared_bytes<unsigned char>(kKeyGroup * kStride<D>)},
      transpose_kernel<D>, problem, static_cast<const std::uint32_t*>(v),
      static_cast<std::uint32_t*>(transposed));
}

}  // namespace

void transpose_fp8_values(const Stream& stream, const Problem& problem, const void* v,
                          void* transposed) {
  switch (problem.value_dim) {
    case 64:
      return transpose<64>(stream, problem, v, transposed);
    case 128:
      return transpose<128>(stream, problem, v, transposed);
    default:
      throw std::invalid_argument("value_dim must be 64 or 128 to be transposed");
  }
}

}  // namespace plumbline::gpu
