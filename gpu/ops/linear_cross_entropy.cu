// SPDX-License-Identifier: Apache-2.0
#include "ops/linear_cross_entropy.cuh"

#include <type_traits>

namespace plumbline::gpu {

namespace {

template <class Element>
constexpr Format format_of() {
  if constexpr (std::is_same_v<Element, bfloat16>) return Format::bf16;
  if constexpr (std::is_same_v<Element, float16>) return Format::fp16;
  return Format::fp32;
}

}  // namespace

template <class Element>
ChunkedLoss linear_cross_entropy(const Stream& stream, Linear& linear, const LogitShape& shape,
                                 const Targets& targets, const LinearClassifier<Element>& layer,
                                 int chunk_rows, Element* logits, float* losses, double grad_loss,
                                 std::int64_t denominator) {
  constexpr Format format = format_of<Element>();
  const auto hidden_place = [&](int first) {
    return static_cast<std::size_t>(first) * layer.width;
  };
  Classifier<Element> classifier;
  classifier.forward = [&](int first, int rows, Element* chunk) {
    const LinearShape linear_shape{rows, layer.width, shape.stride};
    linear.forward(linear_shape, format, layer.hidden + hidden_place(first), layer.W, layer.b,
                   chunk);
  };
  classifier.backward = [&](int first, int rows, const Element* grad_logits) {
    const LinearShape linear_shape{rows, layer.width, shape.stride};
    const Gradient mode = first == 0 ? layer.parameter_mode : Gradient::accumulate;
    linear.backward_input(linear_shape, format, grad_logits, layer.W,
                          layer.grad_hidden + hidden_place(first));
    linear.backward_weight(linear_shape, format, layer.hidden + hidden_place(first), grad_logits,
                           layer.grad_W, layer.grad_b, mode);
  };
  return chunked_cross_entropy(stream, shape, targets, classifier, chunk_rows, logits, losses,
                               grad_loss, denominator);
}

#define PLUMBLINE_INSTANTIATE(E)                                                                 \
  template ChunkedLoss linear_cross_entropy(const Stream&, Linear&, const LogitShape&,           \
                                            const Targets&, const LinearClassifier<E>&, int, E*, \
                                            float*, double, std::int64_t);
PLUMBLINE_INSTANTIATE(float)
PLUMBLINE_INSTANTIATE(bfloat16)
PLUMBLINE_INSTANTIATE(float16)
#undef PLUMBLINE_INSTANTIATE

}  // namespace plumbline::gpu
