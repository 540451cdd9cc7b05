// SPDX-License-Identifier: Apache-2.0
// q and k rotated by RoPE once, before kernels that then know nothing of it. On tensor cores a
// block reads its tiles as they are: rotated by each block, a key would be rotated again for every
// tile of queries.
#ifndef PLUMBLINE_GPU_ATTENTION_ROTATED_ROWS_CUH
#define PLUMBLINE_GPU_ATTENTION_ROTATED_ROWS_CUH

#include "attention/problem.cuh"
#include "core/device_buffer.cuh"

namespace plumbline::gpu {

/// Rotated copies of q and k: every component as `rotated` has it, rounded to the element format.
/// The rows are contiguous, [batch, heads, queries, head_dim] and [batch, kv_heads, keys,
/// head_dim], in q and k as in the copies, on boundaries of 16 bytes.
class RotatedRows {
 public:
  /// Room for tasks of no more rows and of this format. The pointers of `largest` are not read.
  RotatedRows(const Stream& stream, const Task& largest);

  /// The task with its queries and keys rotated, and no rotation left to do. In the order of the
  /// stream; good until the next call.
  Task of(const Stream& stream, const Task& task) const;

 private:
  DeviceBuffer<unsigned char> q_, k_;
};

}  // namespace plumbline::gpu

#endif
