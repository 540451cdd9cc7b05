// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_ATTENTION_DEVICE_PROBLEM_CUH
#define PLUMBLINE_GPU_ATTENTION_DEVICE_PROBLEM_CUH

#include <array>
#include <memory>

#include "attention/host_arrays.cuh"
#include "attention/problem.cuh"
#include "plumbline_kernel.h"

namespace plumbline::gpu {

/// A problem's inputs on the device, with what every pass prepares from them: prefix sums, numbers
/// of visible keys, rows of T5's table, RoPE's angles.
class DeviceProblem {
 public:
  /// Throws InvalidProblem as check_problem does, and what copies and launches throw.
  DeviceProblem(const Stream& stream, const plumbline_problem& problem);

  const Task& task() const { return task_; }

 private:
  using Bytes = Input<unsigned char>;

  Bytes q_, k_, v_;
  std::array<std::unique_ptr<Input<float>>, PLUMBLINE_PARAMETER_COUNT> parameters_;
  Input<int> lengths_, documents_;
  std::unique_ptr<Input<double>> given_sums_;
  std::unique_ptr<DeviceBuffer<double>> sums_;
  std::unique_ptr<DeviceBuffer<int>> counts_;
  std::unique_ptr<Input<int>> table_row_;
  std::unique_ptr<Input<float>> cosine_, sine_;
  Task task_{};
};

/// Bytes of a tensor like q, and of one like k; with a page table, of its pages up to the last.
std::size_t query_bytes(const plumbline_problem& problem);
std::size_t key_bytes(const plumbline_problem& problem);

}  // namespace plumbline::gpu

#endif
