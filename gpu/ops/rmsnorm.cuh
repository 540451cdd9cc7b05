// SPDX-License-Identifier: Apache-2.0
// RMSNorm. Source: Zhang, Sennrich, "Root Mean Square Layer Normalization", arXiv:1910.07467,
// equation 4, with epsilon inside of the root as in LLaMA and BAM's backbone (1e-5).
//
// The activations are in Element (float, bfloat16, float16), the arithmetic and gamma in fp32:
// gamma is the master copy, read directly. It is C numbers beside rows x C, so a copy in Element
// would save nothing, would have to be kept in step, and would add its own rounding to every y.
#ifndef PLUMBLINE_GPU_OPS_RMSNORM_CUH
#define PLUMBLINE_GPU_OPS_RMSNORM_CUH

#include "core/launch.cuh"
#include "ops/column_sums.cuh"
#include "ops/norm_shape.cuh"

namespace plumbline::gpu {

/// y_tc = gamma_c x_tc rstd_t, rstd_t = 1 / sqrt(1/C sum_c x_tc^2 + epsilon). Shapes, all in device
/// memory: x, y [rows, C]; gamma [C]; rstd [rows], kept for the backward pass. y may be x where no
/// backward pass follows. Domain: sum x^2 within fp32; epsilon at least 2^-100 or so, below which
/// squares underflow beside it. Error: docs/bounds-ops.md.
/// @throws std::invalid_argument unless rows >= 1, 1 <= C <= 2^24 and epsilon is finite, above 0.
template <class Element>
void rmsnorm_forward(const Stream& stream, const RowShape& shape, const Element* x,
                     const float* gamma, float epsilon, Element* y, float* rstd);

/// With n = x rstd and g = dy gamma: dx_c = rstd (g_c - n_c 1/C sum g n), dgamma_c = sum_t dy_tc
/// n_tc. Shapes as forward, grad_* like what they are the gradient of; grad_x must not overlap
/// grad_y, which is read again for dgamma. workspace: norm_workspace(shape) floats. `mode` is about
/// grad_gamma; grad_x is overwritten. The same bits every run.
/// @throws std::invalid_argument as forward.
template <class Element>
void rmsnorm_backward(const Stream& stream, const RowShape& shape, const Element* x,
                      const float* gamma, const float* rstd, const Element* grad_y, Element* grad_x,
                      float* grad_gamma, Gradient mode, float* workspace);

}  // namespace plumbline::gpu

#endif
