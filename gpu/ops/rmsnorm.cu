// SPDX-License-Identifier: Apache-2.0
#include "ops/rmsnorm.cuh"

#include "ops/norm_kernels.cuh"

namespace plumbline::gpu {

template <class Element>
void rmsnorm_forward(const Stream& stream, const RowShape& shape, const Element* x,
                     const float* gamma, float epsilon, Element* y, float* rstd) {
  norm_forward<false>(stream, shape, x, gamma, nullptr, epsilon, y, nullptr, rstd);
}

template <class Element>
void rmsnorm_backward(const Stream& stream, const RowShape& shape, const Element* x,
                      const float* gamma, const float* rstd, const Element* grad_y, Element* grad_x,
                      float* grad_gamma, Gradient mode, float* workspace) {
  norm_backward<false>(stream, shape, x, gamma, nullptr, rstd, grad_y, grad_x, grad_gamma, nullptr,
                       mode, workspace);
}

#define PLUMBLINE_INSTANTIATE(E)                                                                   \
  template void rmsnorm_forward(const Stream&, const RowShape&, const E*, const float*, float, E*, \
                                float*);                                                           \
  template void rmsnorm_backward(const Stream&, const RowShape&, const E*, const float*,           \
                                 const float*, const E*, E*, float*, Gradient, float*);
PLUMBLINE_INSTANTIATE(float)
PLUMBLINE_INSTANTIATE(bfloat16)
PLUMBLINE_INSTANTIATE(float16)
#undef PLUMBLINE_INSTANTIATE

}  // namespace plumbline::gpu
