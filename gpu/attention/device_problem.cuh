// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_ATTENTION_DEVICE_PROBLEM_CUH
#define PLUMBLINE_GPU_ATTENTION_DEVICE_PROBLEM_CUH

#include <array>
#include <memory>
#include <vector>

#include "attention/check_problem.cuh"
#include "attention/host_arrays.cuh"
#include "plumbline_kernel.h"

namespace plumbline::gpu {

/// A problem in host memory, also one in fp8, copied to the device.
class DeviceProblem {
 public:
  /// Throws InvalidProblem as check_problem does, and what copies throw.
  DeviceProblem(const Stream& stream, const plumbline_problem& problem,
                Widths widths = Widths::compiled);

  /// The same problem with its pointers into device memory, as Attention takes it. Parameters that
  /// the method does not read are null; packed sequences have lengths, too.
  const plumbline_problem& problem() const { return problem_; }

 private:
  using Bytes = Input<unsigned char>;

  Bytes q_, k_, v_, mask_, keep_;
  std::array<std::unique_ptr<Input<float>>, PLUMBLINE_PARAMETER_COUNT> parameters_;
  std::vector<int> packed_lengths_;
  Input<int> lengths_, documents_, pages_, cu_seqlens_q_, cu_seqlens_k_;
  Input<double> prefix_sums_;
  Input<float> q_scale_, k_scale_, v_scale_;
  plumbline_problem problem_;
};

/// Bytes of a tensor like q, o, k and v, with what lies between its rows; of the last two with a
/// page table, of its pages up to the last.
std::size_t query_bytes(const plumbline_problem& problem, bool in_float = false);
std::size_t output_bytes(const plumbline_problem& problem, bool in_float = false);
std::size_t key_bytes(const plumbline_problem& problem, bool in_float = false);
std::size_t value_bytes(const plumbline_problem& problem, bool in_float = false);
/// Numbers of lse.
std::size_t lse_count(const plumbline_problem& problem);

}  // namespace plumbline::gpu

#endif
