// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_ATTENTION_UNFUSED_BIAS_GRAD_CUH
#define PLUMBLINE_GPU_ATTENTION_UNFUSED_BIAS_GRAD_CUH

#include "attention/unfused.cuh"

namespace plumbline::gpu {

/// Gradients of the parameters of the bias that DAPE corrects, from dB = arrays.bias, which keys
/// that a query does not see may have too: what the chunk's rows add, and with the last chunk the
/// gradients themselves. `parameters` by plumbline_parameter; null: not asked for. Sums in double
/// and in a fixed order; `mode` is for p and a.
void unfused_bias_grad(const Stream& stream, const Task& task, const RowChunk& chunk,
                       const ScoreGradArrays& arrays, float* const* parameters, Gradient mode);

}  // namespace plumbline::gpu

#endif
