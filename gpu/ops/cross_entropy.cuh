// SPDX-License-Identifier: Apache-2.0
// Cross-entropy over the tokens that have a target: all of them for language models, the masked
// ones for BERT (Devlin et al., arXiv:1810.04805, section 3.1, task 1).
#ifndef PLUMBLINE_GPU_OPS_CROSS_ENTROPY_CUH
#define PLUMBLINE_GPU_OPS_CROSS_ENTROPY_CUH

#include <cstdint>

#include "core/launch.cuh"

namespace plumbline::gpu {

/// The tokens' targets, one an entry, in device memory.
struct Targets {
  const int* ids;
  int ignored = -100;                       ///< stands for "no target"; PyTorch's default
  const unsigned char* selected = nullptr;  ///< others than 0 have a target (a masked language
                                            ///< model's positions); null: all
  int counted = -1;  ///< how many there are, all in the vocabulary, where the host has seen them
};

/// Rows of logits, each `stride` elements after the last; those from `vocabulary` on are padding.
struct LogitShape {
  int rows, vocabulary, stride;
};

/// How many of the targets count. @throws std::invalid_argument for one that counts and is not in
/// [0, vocabulary), naming its place.
int count_targets(const Stream& stream, const Targets& targets, int rows, int vocabulary);

/// Every row's loss -ln softmax(z)_target = ln(sum_v e^(z_v - m)) - (z_target - m), m = max z, in
/// nats and fp32, and the logits turned into gradients where they stand: dz_v = share (softmax(z)_v
/// - [v = target]), share being that of one token, the loss's gradient / number of targets. Tokens
/// without a target have loss 0 and gradient 0, and so has padding, which is not read. Shapes, in
/// device memory: logits [rows, stride] of Element (float, bfloat16, float16), losses [rows].
/// Domain: finite logits, targets that count_targets accepts. Error: docs/bounds-ops.md. The same
/// bits every run. @throws std::invalid_argument unless rows >= 1 and stride >= vocabulary >= 1.
template <class Element>
void cross_entropy_rows(const Stream& stream, const LogitShape& shape, const Targets& targets,
                        float share, Element* logits, float* losses);

/// *sum = losses[0] + losses[1] + ..., in double, in a fixed order. Shape: [count]; both in device
/// memory.
void sum_of_losses(const Stream& stream, const float* losses, int count, double* sum);

/// The longest chain of additions in a row's sum of exponentials.
int cross_entropy_chain(int vocabulary);

}  // namespace plumbline::gpu

#endif
