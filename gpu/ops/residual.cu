// SPDX-License-Identifier: Apache-2.0
#include "ops/residual.cuh"

#include "core/bfloat16.cuh"
#include "core/float16.cuh"
#include "ops/elementwise.cuh"

namespace plumbline::gpu {

namespace {

template <class Element>
__global__ void add_kernel(const Element* x, const Element* update, Element* y, std::size_t count) {
  for_own_elements(count, [&](std::size_t n) {
    y[n] = from_float<Element>(to_float(x[n]) + to_float(update[n]));
  });
}

}  // namespace

template <class Element>
void add(const Stream& stream, const Element* x, const Element* update, Element* y,
         std::size_t count) {
  require_array(x, count, "x");
  require_array(update, count, "update");
  require_array(y, count, "y");
  if (count == 0) return;
  launch(stream, elementwise_shape(count), add_kernel<Element>, x, update, y, count);
}

template void add(const Stream&, const float*, const float*, float*, std::size_t);
template void add(const Stream&, const bfloat16*, const bfloat16*, bfloat16*, std::size_t);
template void add(const Stream&, const float16*, const float16*, float16*, std::size_t);

}  // namespace plumbline::gpu
