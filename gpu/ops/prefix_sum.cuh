// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_OPS_PREFIX_SUM_CUH
#define PLUMBLINE_GPU_OPS_PREFIX_SUM_CUH

#include "core/launch.cuh"

namespace plumbline::gpu {

/// CABLE's prefix sums: sums[r, i] = increments[r, 0] + ... + increments[r, i], in double.
/// Both are [rows, length] in device memory; rows >= 1, any length >= 1. Where all increments are
/// integers below 2^53 / length, the result is exact. @throws std::invalid_argument unless rows and
/// length are at least 1.
void prefix_sum(const Stream& stream, const float* increments, double* sums, int rows, int length);

/// The adjoint: grad_increments[r, k] = sum of grad_sums[r, i] over i >= k, in double, rounded once
/// to fp32. Both [rows, length] in device memory; Number is float or double.
/// @throws std::invalid_argument unless rows and length are at least 1.
template <class Number>
void prefix_sum_grad(const Stream& stream, const Number* grad_sums, float* grad_increments,
                     int rows, int length);

}  // namespace plumbline::gpu

#endif
