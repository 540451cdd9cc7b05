// SPDX-License-Identifier: Apache-2.0
#include "ops/clamp.cuh"

#include "ops/elementwise.cuh"
#include "ops/require.cuh"

namespace plumbline::gpu {

namespace {

__global__ void clamp_kernel(float* x, std::size_t count, float least, float most,
                             const float* grad_factor) {
  if (grad_factor && isnan(*grad_factor)) return;
  for_own_elements(count, [&](std::size_t n) {
    const float value = x[n];
    // Not fminf and fmaxf, which would hide a NaN.
    if (value < least) x[n] = least;
    if (value > most) x[n] = most;
  });
}

}  // namespace

void clamp(const Stream& stream, float* x, std::size_t count, float least, float most,
           const float* grad_factor) {
  require_array(x, count, "x");
  require(least <= most, "least", least, "at most `most`");
  if (count == 0) return;
  launch(stream, elementwise_shape(count), clamp_kernel, x, count, least, most, grad_factor);
}

}  // namespace plumbline::gpu
