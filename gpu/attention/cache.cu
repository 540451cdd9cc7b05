// SPDX-License-Identifier: Apache-2.0
#include "attention/cache.cuh"

#include "ops/elementwise.cuh"
#include "ops/require.cuh"

namespace plumbline::gpu {

namespace {

/// A row of a head among those of q, k and v, which come one after the other, all tokens of a head
/// first.
struct NewRow {
  int head, token;

  __device__ NewRow(const Appended& shape, std::size_t row)
      : head(static_cast<int>(row / static_cast<unsigned>(shape.count))),
        token(static_cast<int>(row % static_cast<unsigned>(shape.count))) {}

  /// Its first number.
  __device__ std::size_t start(const Appended& shape, const HeadRows& rows) const {
    return static_cast<std::size_t>(token) * rows.stride +
           static_cast<std::size_t>(head) * shape.head_dim;
  }
  /// Where a cache has number d of it.
  __device__ std::size_t cached(const Appended& shape, int before, int d) const {
    return (static_cast<std::size_t>(head) * shape.capacity + before + token) * shape.head_dim + d;
  }
};

/// A thread a number of q, k or v; the first threads take a head's sums each.
__global__ void append_tokens_kernel(Appended shape, AppendedArrays arrays, std::size_t count) {
  const int before = *shape.before;
  const std::size_t queries = static_cast<std::size_t>(shape.heads) * shape.count;
  const std::size_t keys = static_cast<std::size_t>(shape.kv_heads) * shape.count;
  for_own_elements(count, [&](std::size_t n) {
    if (arrays.increments && n < static_cast<std::size_t>(shape.heads)) {
      double* const own = arrays.sums + n * shape.capacity;
      double sum = before > 0 ? own[before - 1] : 0.0;
      for (int t = 0; t < shape.count; ++t) {
        sum += arrays.increments[n * shape.count + t];
        own[before + t] = sum;
      }
    }
    const auto d = static_cast<int>(n % static_cast<unsigned>(shape.head_dim));
    const std::size_t place = n / static_cast<unsigned>(shape.head_dim);
    const auto rotated_of = [&](const HeadRows& rows, const NewRow& row) {
      return load_rotated(arrays.rotation, rows.first, arrays.format, row.start(shape, rows), d,
                          before + row.token);
    };
    if (place < queries) {
      store_element(arrays.queries, arrays.format, n, rotated_of(arrays.q, NewRow(shape, place)));
    } else if (place < queries + keys) {
      const NewRow row(shape, place - queries);
      store_element(arrays.k_cache, arrays.format, row.cached(shape, before, d),
                    rotated_of(arrays.k, row));
    } else {
      const NewRow row(shape, place - queries - keys);
      const float value = load_element(arrays.v.first, arrays.format,
                                       row.start(shape, arrays.v) + static_cast<std::size_t>(d));
      store_element(arrays.v_cache, arrays.format, row.cached(shape, before, d), value);
    }
  });
}

}  // namespace

void append_tokens(const Stream& stream, const Appended& shape, const AppendedArrays& arrays) {
  require(shape.heads >= 1, "heads", shape.heads, "at least 1");
  require(shape.kv_heads >= 1, "kv_heads", shape.kv_heads, "at least 1");
  require(shape.head_dim >= 1, "head_dim", shape.head_dim, "at least 1");
  require(shape.count >= 1, "count", shape.count, "at least 1");
  require(shape.capacity >= shape.count, "capacity", shape.capacity, "at least count");
  const std::size_t rows = static_cast<std::size_t>(shape.heads + 2 * shape.kv_heads) * shape.count;
  const std::size_t count = rows * shape.head_dim;
  require_array(shape.before, 1, "before");
  require_array(arrays.q.first, count, "q");
  require_array(arrays.k.first, count, "k");
  require_array(arrays.v.first, count, "v");
  require_array(arrays.queries, count, "queries");
  require_array(arrays.k_cache, count, "k_cache");
  require_array(arrays.v_cache, count, "v_cache");
  if (arrays.increments)
    require_array(arrays.sums, static_cast<std::size_t>(shape.heads) * shape.capacity, "sums");
  launch(stream, elementwise_shape(count), append_tokens_kernel, shape, arrays, count);
}

}  // namespace plumbline::gpu
