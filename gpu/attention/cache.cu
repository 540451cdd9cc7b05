// SPDX-License-Identifier: Apache-2.0
#include "attention/cache.cuh"

#include <cstdint>

#include "ops/elementwise.cuh"
#include "ops/require.cuh"

namespace plumbline::gpu {

namespace {

/// What a thread copies at once, of any format.
using Chunk = float4;

/// `width` is that of a token, in chunks.
__global__ void append_rows_kernel(Appended shape, int width, std::size_t count, const Chunk* rows,
                                   Chunk* cache) {
  for_own_elements(count, [&](std::size_t n) {
    const std::size_t added = static_cast<std::size_t>(shape.added) * width;
    const std::size_t head = n / added, place = n % added;
    cache[(head * shape.capacity + shape.before) * width + place] = rows[n];
  });
}

/// One thread a head.
__global__ void append_prefix_sums_kernel(Appended shape, std::size_t count,
                                          const float* increments, double* sums) {
  for_own_elements(count, [&](std::size_t head) {
    double* const own = sums + head * shape.capacity;
    double sum = shape.before > 0 ? own[shape.before - 1] : 0.0;
    for (int t = 0; t < shape.added; ++t) {
      sum += increments[head * shape.added + t];
      own[shape.before + t] = sum;
    }
  });
}

std::size_t heads_of(const Appended& s) { return static_cast<std::size_t>(s.batch) * s.heads; }

void check(const Appended& s) {
  require(s.batch >= 1, "batch", s.batch, "at least 1");
  require(s.heads >= 1, "heads", s.heads, "at least 1");
  require(s.before >= 0, "before", s.before, "at least 0");
  require(s.added >= 1, "added", s.added, "at least 1");
  require(s.capacity >= s.added && s.capacity - s.added >= s.before, "capacity", s.capacity,
          "at least before + added");
}

}  // namespace

void append_rows(const Stream& stream, Format format, const Appended& shape, int head_dim,
                 const void* rows, void* cache) {
  check(shape);
  require(head_dim >= 1 && head_dim % 8 == 0, "head_dim", head_dim, "a multiple of 8");
  const auto aligned = [](const void* array) {
    return array && reinterpret_cast<std::uintptr_t>(array) % sizeof(Chunk) == 0;
  };
  require(aligned(rows), "rows", rows, "an array aligned to 16 bytes");
  require(aligned(cache), "cache", cache, "an array aligned to 16 bytes");
  const int width = static_cast<int>(head_dim * element_bytes(format) / sizeof(Chunk));
  const std::size_t count = heads_of(shape) * shape.added * width;
  launch(stream, elementwise_shape(count), append_rows_kernel, shape, width, count,
         static_cast<const Chunk*>(rows), static_cast<Chunk*>(cache));
}

void append_prefix_sums(const Stream& stream, const Appended& shape, const float* increments,
                        double* sums) {
  check(shape);
  require_array(increments, heads_of(shape) * shape.added, "increments");
  require_array(sums, heads_of(shape) * shape.capacity, "sums");
  launch(stream, elementwise_shape(heads_of(shape)), append_prefix_sums_kernel, shape,
         heads_of(shape), increments, sums);
}

}  // namespace plumbline::gpu
