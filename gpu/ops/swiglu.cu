// SPDX-License-Identifier: Apache-2.0
#include "ops/swiglu.cuh"

#include "core/bfloat16.cuh"
#include "core/float16.cuh"
#include "ops/elementwise.cuh"
#include "ops/logistic.cuh"

namespace plumbline::gpu {

namespace {

template <class Element>
__global__ void swiglu_kernel(const Element* a, const Element* b, Element* y, std::size_t count) {
  for_own_elements(count, [&](std::size_t n) {
    const float gate = to_float(a[n]);
    y[n] = from_float<Element>(gate * Gate(gate).open * to_float(b[n]));
  });
}

template <class Element>
__global__ void swiglu_backward_kernel(const Element* a, const Element* b, const Element* grad_y,
                                       Element* grad_a, Element* grad_b, std::size_t count) {
  for_own_elements(count, [&](std::size_t n) {
    const float x = to_float(a[n]), factor = to_float(b[n]), grad = to_float(grad_y[n]);
    const Gate gate(x);
    // In this order nothing overflows unless the result does.
    const float slope = gate.open * (1.0f + x * gate.closed);
    grad_a[n] = from_float<Element>(grad * (factor * slope));
    grad_b[n] = from_float<Element>(grad * (x * gate.open));
  });
}

}  // namespace

template <class Element>
void swiglu(const Stream& stream, const Element* a, const Element* b, Element* y,
            std::size_t count) {
  require_array(a, count, "a");
  require_array(b, count, "b");
  require_array(y, count, "y");
  if (count == 0) return;
  launch(stream, elementwise_shape(count), swiglu_kernel<Element>, a, b, y, count);
}

template <class Element>
void swiglu_backward(const Stream& stream, const Element* a, const Element* b,
                     const Element* grad_y, Element* grad_a, Element* grad_b, std::size_t count) {
  require_array(a, count, "a");
  require_array(b, count, "b");
  require_array(grad_y, count, "grad_y");
  require_array(grad_a, count, "grad_a");
  require_array(grad_b, count, "grad_b");
  if (count == 0) return;
  launch(stream, elementwise_shape(count), swiglu_backward_kernel<Element>, a, b, grad_y, grad_a,
         grad_b, count);
}

#define PLUMBLINE_INSTANTIATE(Element)                                                         \
  template void swiglu(const Stream&, const Element*, const Element*, Element*, std::size_t);  \
  template void swiglu_backward(const Stream&, const Element*, const Element*, const Element*, \
                                Element*, Element*, std::size_t);
PLUMBLINE_INSTANTIATE(float)
PLUMBLINE_INSTANTIATE(bfloat16)
PLUMBLINE_INSTANTIATE(float16)
#undef PLUMBLINE_INSTANTIATE

}  // namespace plumbline::gpu
