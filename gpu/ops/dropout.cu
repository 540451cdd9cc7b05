// SPDX-License-Identifier: Apache-2.0
#include "ops/dropout.cuh"

#include <cmath>

#include "core/bfloat16.cuh"
#include "core/float16.cuh"
#include "ops/elementwise.cuh"
#include "ops/philox.cuh"
#include "ops/require.cuh"

namespace plumbline::gpu {

namespace {

/// Each thread takes the four elements of one counter.
template <class Element>
__global__ void dropout_kernel(std::uint64_t threshold, float scale, std::uint64_t seed,
                               std::uint64_t first_draw, const std::uint64_t* more,
                               const Element* x, Element* y, std::size_t count) {
  const std::uint64_t draw = first_draw + (more ? *more : 0);
  const std::uint64_t group = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const PhiloxWords random =
      philox4x32_10({{low_word(group), high_word(group), low_word(draw), high_word(draw)}},
                    low_word(seed), high_word(seed));
  for (unsigned k = 0; k < 4; ++k) {
    const std::uint64_t n = 4 * group + k;
    if (n >= count) return;
    const bool kept = random.word[k] >= threshold;
    y[n] = from_float<Element>(kept ? to_float(x[n]) * scale : 0.0f);
  }
}

}  // namespace

template <class Element>
void dropout(const Stream& stream, const Dropout& dropout, const Element* x, Element* y,
             std::size_t count) {
  const double p = dropout.probability;
  require(0.0 <= p && p < 1.0, "probability", p, "at least 0 and below 1");
  require_array(x, count, "x");
  require_array(y, count, "y");
  if (count == 0) return;
  static_assert(kElementwisePerThread == 4);
  launch(stream, elementwise_shape(count), dropout_kernel<Element>,
         static_cast<std::uint64_t>(std::llround(std::ldexp(p, 32))),
         static_cast<float>(1.0 / (1.0 - p)), dropout.seed, dropout.draw, dropout.more, x, y,
         count);
}

template void dropout(const Stream&, const Dropout&, const float*, float*, std::size_t);
template void dropout(const Stream&, const Dropout&, const bfloat16*, bfloat16*, std::size_t);
template void dropout(const Stream&, const Dropout&, const float16*, float16*, std::size_t);

}  // namespace plumbline::gpu
