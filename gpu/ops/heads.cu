// SPDX-License-Identifier: Apache-2.0
#include "ops/heads.cuh"

#include <cstdint>

#include "ops/elementwise.cuh"
#include "ops/require.cuh"

namespace plumbline::gpu {

namespace {

/// What a thread copies at once, of any format.
using Chunk = float4;

/// In chunks.
struct ChunkColumns {
  int length, heads, head_dim, row_stride;

  /// Where chunk n of the split array stands among the columns.
  __device__ std::size_t column(std::size_t n) const {
    const std::size_t d = n % head_dim, row = n / head_dim;
    const std::size_t t = row % length, head = row / length;
    const std::size_t h = head % heads, b = head / heads;
    return (b * length + t) * row_stride + h * head_dim + d;
  }
};

__global__ void split_heads_kernel(ChunkColumns shape, std::size_t count, const Chunk* columns,
                                   Chunk* split) {
  for_own_elements(count, [&](std::size_t n) { split[n] = columns[shape.column(n)]; });
}

__global__ void merge_heads_kernel(ChunkColumns shape, std::size_t count, const Chunk* split,
                                   Chunk* columns) {
  for_own_elements(count, [&](std::size_t n) { columns[shape.column(n)] = split[n]; });
}

void copy(const Stream& stream, void (*kernel)(ChunkColumns, std::size_t, const Chunk*, Chunk*),
          Format format, const HeadColumns& s, const void* from, void* to) {
  require(s.batch >= 1, "batch", s.batch, "at least 1");
  require(s.length >= 1, "length", s.length, "at least 1");
  require(s.heads >= 1, "heads", s.heads, "at least 1");
  require(s.head_dim >= 1 && s.head_dim % 8 == 0, "head_dim", s.head_dim, "a multiple of 8");
  require(s.row_stride % 8 == 0 && s.row_stride / s.head_dim >= s.heads, "row_stride", s.row_stride,
          "a multiple of 8, and room for all heads");
  const auto aligned = [](const void* array) {
    return array && reinterpret_cast<std::uintptr_t>(array) % sizeof(Chunk) == 0;
  };
  require(aligned(from), "from", from, "an array aligned to 16 bytes");
  require(aligned(to), "to", to, "an array aligned to 16 bytes");
  const int elements = static_cast<int>(sizeof(Chunk) / element_bytes(format));
  const ChunkColumns shape{s.length, s.heads, s.head_dim / elements, s.row_stride / elements};
  const std::size_t count = static_cast<std::size_t>(s.batch) * s.heads * s.length * shape.head_dim;
  launch(stream, elementwise_shape(count), kernel, shape, count, static_cast<const Chunk*>(from),
         static_cast<Chunk*>(to));
}

}  // namespace

void split_heads(const Stream& stream, Format format, const HeadColumns& shape, const void* columns,
                 void* split) {
  copy(stream, split_heads_kernel, format, shape, columns, split);
}

void merge_heads(const Stream& stream, Format format, const HeadColumns& shape, const void* split,
                 void* columns) {
  copy(stream, merge_heads_kernel, format, shape, split, columns);
}

}  // namespace plumbline::gpu
