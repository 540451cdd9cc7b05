// SPDX-License-Identifier: Apache-2.0
#include "ops/gelu.cuh"

#include "core/bfloat16.cuh"
#include "core/float16.cuh"
#include "ops/elementwise.cuh"
#include "ops/gelu_value.cuh"

namespace plumbline::gpu {

namespace {

template <class Element>
__global__ void gelu_kernel(GeluForm form, const Element* x, Element* y, std::size_t count) {
  for_own_elements(
      count, [&](std::size_t n) { y[n] = from_float<Element>(gelu_value(form, to_float(x[n]))); });
}

template <class Element>
__global__ void gelu_backward_kernel(GeluForm form, const Element* x, const Element* grad_y,
                                     Element* grad_x, std::size_t count) {
  for_own_elements(count, [&](std::size_t n) {
    grad_x[n] = from_float<Element>(to_float(grad_y[n]) * gelu_derivative(form, to_float(x[n])));
  });
}

}  // namespace

template <class Element>
void gelu(const Stream& stream, GeluForm form, const Element* x, Element* y, std::size_t count) {
  require_array(x, count, "x");
  require_array(y, count, "y");
  if (count == 0) return;
  launch(stream, elementwise_shape(count), gelu_kernel<Element>, form, x, y, count);
}

template <class Element>
void gelu_backward(const Stream& stream, GeluForm form, const Element* x, const Element* grad_y,
                   Element* grad_x, std::size_t count) {
  require_array(x, count, "x");
  require_array(grad_y, count, "grad_y");
  require_array(grad_x, count, "grad_x");
  if (count == 0) return;
  launch(stream, elementwise_shape(count), gelu_backward_kernel<Element>, form, x, grad_y, grad_x,
         count);
}

#define PLUMBLINE_INSTANTIATE(Element)                                                           \
  template void gelu(const Stream&, GeluForm, const Element*, Element*, std::size_t);            \
  template void gelu_backward(const Stream&, GeluForm, const Element*, const Element*, Element*, \
                              std::size_t);
PLUMBLINE_INSTANTIATE(float)
PLUMBLINE_INSTANTIATE(bfloat16)
PLUMBLINE_INSTANTIATE(float16)
#undef PLUMBLINE_INSTANTIATE

}  // namespace plumbline::gpu
