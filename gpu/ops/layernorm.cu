// SPDX-License-Identifier: Apache-2.0
#include "ops/layernorm.cuh"

#include "ops/norm_kernels.cuh"

namespace plumbline::gpu {

template <class Element>
void layernorm_forward(const Stream& stream, const RowShape& shape, const Element* x,
                       const float* gamma, const float* beta, float epsilon, Element* y,
                       float* mean, float* rstd) {
  norm_forward<true>(stream, shape, x, gamma, beta, epsilon, y, mean, rstd);
}

template <class Element>
void layernorm_backward(const Stream& stream, const RowShape& shape, const Element* x,
                        const float* gamma, const float* mean, const float* rstd,
                        const Element* grad_y, Element* grad_x, float* grad_gamma, float* grad_beta,
                        Gradient mode, float* workspace) {
  norm_backward<true>(stream, shape, x, gamma, mean, rstd, grad_y, grad_x, grad_gamma, grad_beta,
                      mode, workspace);
}

#define PLUMBLINE_INSTANTIATE(E)                                                             \
  template void layernorm_forward(const Stream&, const RowShape&, const E*, const float*,    \
                                  const float*, float, E*, float*, float*);                  \
  template void layernorm_backward(const Stream&, const RowShape&, const E*, const float*,   \
                                   const float*, const float*, const E*, E*, float*, float*, \
                                   Gradient, float*);
PLUMBLINE_INSTANTIATE(float)
PLUMBLINE_INSTANTIATE(bfloat16)
PLUMBLINE_INSTANTIATE(float16)
#undef PLUMBLINE_INSTANTIATE

}  // namespace plumbline::gpu
