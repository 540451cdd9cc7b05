// SPDX-License-Identifier: Apache-2.0
// Problems whose q, k and v are in 8 bits, e4m3 or e5m2, times a scale for each sequence and key
// head, for kernels that multiply in bf16.
#ifndef PLUMBLINE_GPU_ATTENTION_FP8_INPUTS_CUH
#define PLUMBLINE_GPU_ATTENTION_FP8_INPUTS_CUH

#include "core/bfloat16.cuh"
#include "core/device_buffer.cuh"
#include "plumbline_kernel.h"

namespace plumbline::gpu {

inline bool is_fp8(const plumbline_problem& p) {
  return p.format == PLUMBLINE_E4M3 || p.format == PLUMBLINE_E5M2;
}

/// The same problem in bf16, without scales; others as they are. Its pointers to q, k and v still
/// lead to 8 bits.
plumbline_problem as_bf16(plumbline_problem problem);

/// q, k and v in bf16: q times q_scale k_scale of its key head, in fp32 and then rounded; k as it
/// is, exactly; v times v_scale, rounded.
class Fp8Inputs {
 public:
  /// `problem` is an fp8 one with its arrays, contiguous, in device memory. In the order of the
  /// stream, which must outlive it. @throws InvalidProblem for a missing array
  Fp8Inputs(const Stream& stream, const plumbline_problem& problem);

  /// as_bf16(problem), with pointers to these arrays.
  const plumbline_problem& problem() const { return problem_; }

 private:
  DeviceBuffer<bfloat16> q_, k_, v_;
  plumbline_problem problem_;
};

}  // namespace plumbline::gpu

#endif
