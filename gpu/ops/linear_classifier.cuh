// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_OPS_LINEAR_CLASSIFIER_CUH
#define PLUMBLINE_GPU_OPS_LINEAR_CLASSIFIER_CUH

#include <type_traits>

#include "ops/chunked_cross_entropy.cuh"
#include "ops/linear.cuh"

namespace plumbline::gpu {

/// A linear layer as the classifier of chunked_cross_entropy, all in device memory.
template <class Element>
struct LinearClassifier {
  int width, outputs;     ///< C; the logits' stride: W has rows for the padding, too
  const Element* hidden;  ///< [rows, C]
  const Element* W;       ///< [outputs, C]
  const Element* b;       ///< [outputs], BERT's decoder has it; or null
  Element* grad_hidden;   ///< [rows, C], overwritten
  float *grad_W, *grad_b;
  Gradient parameter_mode;  ///< of grad_W and grad_b, over all chunks together
};

template <class Element>
constexpr Format format_of() {
  if constexpr (std::is_same_v<Element, bfloat16>) return Format::bf16;
  if constexpr (std::is_same_v<Element, float16>) return Format::fp16;
  return Format::fp32;
}

/// What chunked_cross_entropy takes. `linear` must outlive it. Error: docs/bounds-ops.md.
template <class Element>
Classifier<Element> classifier_of(Linear& linear, const LinearClassifier<Element>& layer) {
  constexpr Format format = format_of<Element>();
  const auto hidden = [layer](int row) {
    return layer.hidden + static_cast<std::size_t>(row) * layer.width;
  };
  return {[&linear, layer, hidden](int first, int rows, Element* logits) {
            linear.forward({rows, layer.width, layer.outputs}, format, hidden(first), layer.W,
                           layer.b, logits);
          },
          [&linear, layer, hidden](int first, int rows, const Element* grad_logits) {
            const LinearShape shape{rows, layer.width, layer.outputs};
            const Gradient mode = first == 0 ? layer.parameter_mode : Gradient::accumulate;
            linear.backward_input(
                shape, format, grad_logits, layer.W,
                layer.grad_hidden + static_cast<std::size_t>(first) * layer.width);
            linear.backward_weight(shape, format, hidden(first), grad_logits, layer.grad_W,
                                   layer.grad_b, mode);
          }};
}

}  // namespace plumbline::gpu

#endif
