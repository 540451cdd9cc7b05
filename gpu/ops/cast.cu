// SPDX-License-Identifier: Apache-2.0
#include "ops/cast.cuh"

#include "core/bfloat16.cuh"
#include "core/float16.cuh"
#include "ops/elementwise.cuh"

namespace plumbline::gpu {

namespace {

template <class From, class To>
__global__ void cast_kernel(const From* x, To* result, std::size_t count) {
  for_own_elements(count, [&](std::size_t n) { result[n] = from_float<To>(to_float(x[n])); });
}

}  // namespace

template <class From, class To>
void cast(const Stream& stream, const From* x, To* result, std::size_t count) {
  require_array(x, count, "x");
  require_array(result, count, "result");
  if (count == 0) return;
  launch(stream, elementwise_shape(count), cast_kernel<From, To>, x, result, count);
}

template void cast(const Stream&, const float*, bfloat16*, std::size_t);
template void cast(const Stream&, const float*, float16*, std::size_t);
template void cast(const Stream&, const bfloat16*, float*, std::size_t);
template void cast(const Stream&, const float16*, float*, std::size_t);

}  // namespace plumbline::gpu
