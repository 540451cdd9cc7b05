// SPDX-License-Identifier: Apache-2.0
#include "attention/rotated_rows.cuh"

#include <algorithm>
#include <stdexcept>

namespace plumbline::gpu {

namespace {

constexpr int kRotationThreads = 128;
constexpr int kAtOnce = 8;       // components of a row that a thread has
constexpr int kHeadsAtOnce = 8;  // of a thread: they share the angles, which stay in the L1 cache

int rotation_blocks(int count, int of_block) { return (count + of_block - 1) / of_block; }

/// Rows of a head that a block has.
__host__ __device__ constexpr int rows_of_block(int head_dim) {
  return kRotationThreads / (head_dim / kAtOnce);
}

/// The blocks of a sequence: along y first those of the heads of q, `query_blocks`, then those of
/// k.
template <class T>
__global__ void __launch_bounds__(kRotationThreads)
    rotate_kernel(Problem problem, int head_dim, int query_blocks, T* q, T* k) {
  const int vectors = head_dim / kAtOnce;  // of a row
  const auto thread = static_cast<int>(threadIdx.x), b = static_cast<int>(blockIdx.z);
  auto heads_block = static_cast<int>(blockIdx.y);
  const bool of_queries = heads_block < query_blocks;
  if (!of_queries) heads_block -= query_blocks;
  const int rows = of_queries ? problem.queries : problem.keys;
  const int heads = of_queries ? problem.heads : problem.kv_heads;
  const int row_of_block = thread / vectors, d = thread % vectors * kAtOnce;
  const int row = static_cast<int>(blockIdx.x) * rows_of_block(head_dim) + row_of_block;
  if (row_of_block >= rows_of_block(head_dim) || row >= rows) return;
  const int position = of_queries ? max(row + problem.first_position(b), 0) : row;

  const T* const from = static_cast<const T*>(of_queries ? problem.q : problem.k);
  T* const to = of_queries ? q : k;
  const int first_head = heads_block * kHeadsAtOnce;
  for (int head = first_head; head < min(first_head + kHeadsAtOnce, heads); ++head) {
    const std::size_t start =
        ((static_cast<std::size_t>(b) * heads + head) * rows + row) * head_dim;
    float components[kAtOnce];
    load_rotated_components(problem.rotation, from + start, d, position, components);
    store_vector(to + start + d, components);
  }
}

template <class T>
void rotate(const Stream& stream, const Task& task, unsigned char* q, unsigned char* k) {
  const Problem& p = task.problem;
  const int query_blocks = rotation_blocks(p.heads, kHeadsAtOnce);
  const int head_blocks = query_blocks + rotation_blocks(p.kv_heads, kHeadsAtOnce);
  const int row_blocks = rotation_blocks(std::max(p.queries, p.keys), rows_of_block(task.head_dim));
  launch(stream,
         {dim3{static_cast<unsigned>(row_blocks), static_cast<unsigned>(head_blocks),
               static_cast<unsigned>(p.batch)},
          dim3{kRotationThreads}, 0},
         rotate_kernel<T>, p, task.head_dim, query_blocks, reinterpret_cast<T*>(q),
         reinterpret_cast<T*>(k));
}

std::size_t bytes_of_rows(const Task& task, int heads, int rows) {
  return static_cast<std::size_t>(task.problem.batch) * heads * rows * task.head_dim *
         element_bytes(task.problem.format);
}

}  // namespace

RotatedRows::RotatedRows(const Stream& stream, const Task& largest)
    : q_(stream, bytes_of_rows(largest, largest.problem.heads, largest.problem.queries)),
      k_(stream, bytes_of_rows(largest, largest.problem.kv_heads, largest.problem.keys)) {}

Task RotatedRows::of(const Stream& stream, const Task& task) const {
  switch (task.problem.format) {
    case Format::bf16:
      rotate<bfloat16>(stream, task, q_.data(), k_.data());
      break;
    case Format::fp16:
      rotate<float16>(stream, task, q_.data(), k_.data());
      break;
    case Format::tf32:
    case Format::fp32:
      rotate<float>(stream, task, q_.data(), k_.data());
      break;
  }
  Task rotated = task;
  rotated.problem.q = q_.data();
  rotated.problem.k = k_.data();
  rotated.problem.rotation = {};
  return rotated;
}

}  // namespace plumbline::gpu
