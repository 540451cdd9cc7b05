// SPDX-License-Identifier: Apache-2.0
// One embedding of length 1 for a text, from those of its tokens.
#ifndef PLUMBLINE_GPU_OPS_POOLING_CUH
#define PLUMBLINE_GPU_OPS_POOLING_CUH

#include "core/launch.cuh"
#include "ops/pooling.hpp"

namespace plumbline::gpu {

struct PoolingShape {
  Pooling pooling;
  int batch, length, width;
};

/// PyTorch's normalize never divides by less.
inline constexpr float kLeastLength = 1e-12f;

/// p_b = 1/n sum_(t < n) x_bt, n = lengths_b for the mean, 1 for cls; l_b = max(|p_b|, 1e-12);
/// e_b = p_b / l_b. Shapes, all in device memory: x [batch, length, width]; lengths [batch], from 1
/// to `length`, null where there is no padding; e [batch, width]; norms [batch], the l_b, kept for
/// the backward pass. Element is float, bfloat16 or float16, the arithmetic fp32, the sum over
/// tokens in their order. The same bits every run. Error: docs/bounds-model.md.
/// @throws std::invalid_argument unless batch, length and width are at least 1.
template <class Element>
void pooled_forward(const Stream& stream, const PoolingShape& shape, const Element* x,
                    const int* lengths, float* e, float* norms);

/// dp_b = (de_b - e_b (e_b . de_b)) / l_b, without the second term where l_b is 1e-12; dx_bt =
/// dp_b / n for t < n, 0 elsewhere. Shapes as forward, grad_* like what they are the gradient of;
/// grad_x is overwritten, padding included. @throws std::invalid_argument as forward.
template <class Element>
void pooled_backward(const Stream& stream, const PoolingShape& shape, const int* lengths,
                     const float* e, const float* norms, const float* grad_e, Element* grad_x);

}  // namespace plumbline::gpu

#endif
