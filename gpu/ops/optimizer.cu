// SPDX-License-Identifier: Apache-2.0
#include "ops/optimizer.cuh"

#include <cmath>

#include "core/bfloat16.cuh"
#include "core/float16.cuh"
#include "ops/elementwise.cuh"
#include "ops/require.cuh"

namespace plumbline::gpu {

namespace {

template <class Element>
__global__ void step_kernel(const AdamNumbers* numbers, const float* grad_factor,
                            AdamTensor<Element> tensor) {
  const float factor = grad_factor ? *grad_factor : 1.0f;
  if (isnan(factor)) return;
  const AdamNumbers step = *numbers;
  for_own_elements(tensor.count, [&](std::size_t n) {
    const float g = factor * tensor.grad[n];
    const float m = step.beta1 * tensor.mean[n] + step.fresh1 * g;
    const float v = step.beta2 * tensor.mean_square[n] + step.fresh2 * (g * g);
    float move = m * step.first;
    if (step.adaptive) move = move * step.scale / (sqrtf(v * step.second) + step.epsilon);
    const float theta = tensor.master[n] * step.kept - step.rate * move;
    tensor.mean[n] = m;
    tensor.mean_square[n] = v;
    tensor.master[n] = theta;
    if (tensor.copy) tensor.copy[n] = from_float<Element>(theta);
  });
}

/// Checks the settings and computes what AdamW and RAdam share.
AdamNumbers common(const AdamSettings& s, int step) {
  require(s.learning_rate >= 0 && std::isfinite(s.learning_rate), "learning_rate", s.learning_rate,
          "finite and at least 0");
  require(0 < s.beta1 && s.beta1 < 1, "beta1", s.beta1, "between 0 and 1");
  require(0 < s.beta2 && s.beta2 < 1, "beta2", s.beta2, "between 0 and 1");
  require(static_cast<float>(s.epsilon) > 0 && std::isfinite(static_cast<float>(s.epsilon)),
          "epsilon", s.epsilon, "finite and above 0 in fp32");
  require(s.weight_decay >= 0 && std::isfinite(s.weight_decay), "weight_decay", s.weight_decay,
          "finite and at least 0");
  require(step >= 1, "step", step, "at least 1");
  AdamNumbers result{};
  result.beta1 = static_cast<float>(s.beta1);
  result.fresh1 = static_cast<float>(1 - s.beta1);
  result.beta2 = static_cast<float>(s.beta2);
  result.fresh2 = static_cast<float>(1 - s.beta2);
  result.first = static_cast<float>(1 / (1 - std::pow(s.beta1, step)));
  result.second = result.scale = 1.0f;
  result.rate = static_cast<float>(s.learning_rate);
  result.kept = static_cast<float>(1 - s.learning_rate * s.weight_decay);
  result.epsilon = static_cast<float>(s.epsilon);
  result.adaptive = true;
  return result;
}

}  // namespace

AdamNumbers adamw_numbers(const AdamSettings& settings, int step) {
  AdamNumbers adamw = common(settings, step);
  adamw.second = static_cast<float>(1 / (1 - std::pow(settings.beta2, step)));
  return adamw;
}

AdamNumbers radam_numbers(const AdamSettings& settings, RadamThreshold threshold, int step) {
  AdamNumbers radam = common(settings, step);
  const double decayed = std::pow(settings.beta2, step);
  const double last = 2 / (1 - settings.beta2) - 1;
  const double length = last - 2.0 * step * decayed / (1 - decayed);
  radam.adaptive = length > static_cast<int>(threshold);
  if (radam.adaptive)
    radam.scale = static_cast<float>(std::sqrt((length - 4) * (length - 2) * last /
                                               ((last - 4) * (last - 2) * length) * (1 - decayed)));
  return radam;
}

template <class Element>
void adam_step(const Stream& stream, const AdamNumbers* numbers, const float* grad_factor,
               const AdamTensor<Element>& tensor) {
  require_array(numbers, 1, "numbers");
  require_array(tensor.master, tensor.count, "master");
  require_array(tensor.mean, tensor.count, "mean");
  require_array(tensor.mean_square, tensor.count, "mean_square");
  require_array(tensor.grad, tensor.count, "grad");
  if (tensor.count == 0) return;
  launch(stream, elementwise_shape(tensor.count), step_kernel<Element>, numbers, grad_factor,
         tensor);
}

#define PLUMBLINE_INSTANTIATE(Element)                                     \
  template void adam_step(const Stream&, const AdamNumbers*, const float*, \
                          const AdamTensor<Element>&);
PLUMBLINE_INSTANTIATE(float)
PLUMBLINE_INSTANTIATE(bfloat16)
PLUMBLINE_INSTANTIATE(float16)
#undef PLUMBLINE_INSTANTIATE

}  // namespace plumbline::gpu
