// SPDX-License-Identifier: Apache-2.0
// LayerNorm. Source: Ba, Kiros, Hinton, "Layer Normalization", arXiv:1607.06450, equations 3 and
// 4, with the epsilon of GPT-2 (1e-5) and BERT (1e-12).
//
// The activations are in Element (float, bfloat16, float16), the arithmetic, gamma and beta in
// fp32: master copies, read directly, for the reason in ops/rmsnorm.cuh.
#ifndef PLUMBLINE_GPU_OPS_LAYERNORM_CUH
#define PLUMBLINE_GPU_OPS_LAYERNORM_CUH

#include "core/launch.cuh"
#include "ops/column_sums.cuh"
#include "ops/norm_shape.cuh"

namespace plumbline::gpu {

/// y_tc = gamma_c n_tc + beta_c, n_tc = (x_tc - mu_t) rstd_t, rstd_t = 1 / sqrt(variance of row t
/// + epsilon), the variance being that of all C, not of C - 1. Shapes, all in device memory: x, y
/// [rows, C]; gamma, beta [C]; mean, rstd [rows], kept for the backward pass. mean_t is that of
/// x_tc - x_t0, not of x_tc: mu_t itself, rounded to fp32, would lose what a row far from 0 varies
/// by. A constant row gives exactly beta. Domain: the sum of squared deviations within fp32. Error:
/// docs/bounds-ops.md.
/// @throws std::invalid_argument unless rows >= 1, 1 <= C <= 2^24 and epsilon is finite, above 0.
template <class Element>
void layernorm_forward(const Stream& stream, const RowShape& shape, const Element* x,
                       const float* gamma, const float* beta, float epsilon, Element* y,
                       float* mean, float* rstd);

/// With g = dy gamma: dx_c = rstd (g_c - 1/C sum g - n_c 1/C sum g n), dgamma_c = sum_t dy_tc n_tc,
/// dbeta_c = sum_t dy_tc. Shapes as forward, grad_* like what they are the gradient of; mean and
/// rstd are forward's. grad_x must not overlap grad_y, which is read again for dgamma. workspace:
/// norm_workspace(shape) floats. `mode` is about grad_gamma and grad_beta; grad_x is overwritten.
/// The same bits every run. @throws std::invalid_argument as forward.
template <class Element>
void layernorm_backward(const Stream& stream, const RowShape& shape, const Element* x,
                        const float* gamma, const float* mean, const float* rstd,
                        const Element* grad_y, Element* grad_x, float* grad_gamma, float* grad_beta,
                        Gradient mode, float* workspace);

}  // namespace plumbline::gpu

#endif
