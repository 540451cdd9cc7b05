// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_OPS_LINEAR_CROSS_ENTROPY_CUH
#define PLUMBLINE_GPU_OPS_LINEAR_CROSS_ENTROPY_CUH

#include "ops/chunked_cross_entropy.cuh"
#include "ops/linear.cuh"

namespace plumbline::gpu {

/// The classifier: logits = hidden W^T + b. All in device memory.
template <class Element>
struct LinearClassifier {
  int width;                ///< C
  const Element* hidden;    ///< [rows, C]
  const Element* W;         ///< [stride, C]: the padding has rows, too
  const Element* b;         ///< [stride], as BERT's decoder has it; or null
  Element* grad_hidden;     ///< [rows, C], overwritten
  float *grad_W, *grad_b;   ///< shaped as W and b
  Gradient parameter_mode;  ///< of grad_W and grad_b, over all chunks together
};

/// chunked_cross_entropy of a linear layer, in Element (float, bfloat16, float16), with its
/// gradients: at no time are there more logits than those of chunk_rows tokens. Shapes, n and what
/// is thrown as for chunked_cross_entropy. Error: docs/bounds-ops.md.
template <class Element>
ChunkedLoss linear_cross_entropy(const Stream& stream, Linear& linear, const LogitShape& shape,
                                 const Targets& targets, const LinearClassifier<Element>& layer,
                                 int chunk_rows, Element* logits, float* losses,
                                 double grad_loss = 1.0, std::int64_t denominator = 0);

}  // namespace plumbline::gpu

#endif
