// SPDX-License-Identifier: Apache-2.0
// The classifier and its loss without the logits of all tokens: 64 x 1024 tokens of GPT-2 have 6.6
// GB of them in bf16, a chunk of 1024 tokens 0.1 GB. Their gradients follow at once, in their
// place.
#ifndef PLUMBLINE_GPU_OPS_CHUNKED_CROSS_ENTROPY_CUH
#define PLUMBLINE_GPU_OPS_CHUNKED_CROSS_ENTROPY_CUH

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/device_buffer.cuh"
#include "ops/cross_entropy.cuh"
#include "ops/require.cuh"

namespace plumbline::gpu {

/// The linear layer from hidden states to logits, for the rows first .. first + rows - 1.
template <class Element>
struct Classifier {
  /// logits [rows, stride] = hidden W^T (+ b)
  std::function<void(int first, int rows, Element* logits)> forward;
  /// Takes the gradient of those rows' logits, and adds to that of W what comes from it. Empty: no
  /// gradients are wanted.
  std::function<void(int first, int rows, const Element* grad_logits)> backward;
};

struct ChunkedLoss {
  double sum;   ///< of the tokens' losses
  double mean;  ///< sum / denominator
  int counted;  ///< tokens with a target
};

/// n, by which the mean divides: `denominator`, or where that is 0 the tokens with a target.
/// @throws std::invalid_argument unless it is at least 1.
inline double mean_divisor(int counted, std::int64_t denominator) {
  require(denominator >= 0, "denominator", denominator, "at least 0");
  require(denominator > 0 || counted > 0, "the number of targets", counted,
          "at least 1, or the denominator given");
  return static_cast<double>(denominator > 0 ? denominator : counted);
}

/// The launches of chunked_cross_entropy, for which the host does not wait: to sum [1], in device
/// memory, goes the sum of the losses. share: what the gradient of each loss is.
template <class Element>
void launch_chunked_cross_entropy(const Stream& stream, const LogitShape& shape,
                                  const Targets& targets, const Classifier<Element>& classifier,
                                  int chunk_rows, Element* logits, float* losses, float share,
                                  double* sum) {
  require(chunk_rows >= 1, "chunk_rows", chunk_rows, "at least 1");
  for (int first = 0; first < shape.rows; first += chunk_rows) {
    const int rows = std::min(chunk_rows, shape.rows - first);
    classifier.forward(first, rows, logits);
    const Targets own{targets.ids + first, targets.ignored,
                      targets.selected ? targets.selected + first : nullptr};
    cross_entropy_rows(stream, {rows, shape.vocabulary, shape.stride}, own, share, logits,
                       losses + first);
    if (classifier.backward) classifier.backward(first, rows, logits);
  }
  sum_of_losses(stream, losses, shape.rows, sum);
}

/// L = 1/n sum of the losses over the tokens with a target, chunk by chunk: logits, loss and the
/// logits' gradients, grad_loss times those of L. n is the number of tokens with a target, or
/// `denominator` where that is not 0: a batch that is cut into several, of which one may have no
/// target at all, has one n for all. Shapes, in device memory: targets [shape.rows], logits
/// [chunk_rows, shape.stride] (room to work in), losses [shape.rows].
/// @throws std::invalid_argument for a target that is not in the vocabulary, if no token has one
/// and `denominator` is 0, as cross_entropy_rows does, and unless chunk_rows >= 1.
template <class Element>
ChunkedLoss chunked_cross_entropy(const Stream& stream, const LogitShape& shape,
                                  const Targets& targets, const Classifier<Element>& classifier,
                                  int chunk_rows, Element* logits, float* losses,
                                  double grad_loss = 1.0, std::int64_t denominator = 0) {
  const int counted = targets.counted >= 0
                          ? targets.counted
                          : count_targets(stream, targets, shape.rows, shape.vocabulary);
  const double n = mean_divisor(counted, denominator);
  const DeviceBuffer<double> device_sum(stream, 1);
  launch_chunked_cross_entropy(stream, shape, targets, classifier, chunk_rows, logits, losses,
                               static_cast<float>(grad_loss / n), device_sum.data());
  double sum = 0.0;
  device_sum.copy_to_host(stream, &sum);
  stream.wait();
  return {sum, sum / n, counted};
}

}  // namespace plumbline::gpu

#endif
