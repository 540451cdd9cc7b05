// SPDX-License-Identifier: Apache-2.0
// DAPE (Zheng et al., arXiv:2405.14722, and version 2, arXiv:2410.04798): a positional bias that is
// corrected by the logits of all heads. Unfused: the logits lie in memory.
#ifndef PLUMBLINE_GPU_ATTENTION_DAPE_CUH
#define PLUMBLINE_GPU_ATTENTION_DAPE_CUH

#include <cstddef>

#include "core/launch.cuh"
#include "ops/column_sums.cuh"

namespace plumbline::gpu {

/// Version 1: width 1, nothing hidden. Version 2: width 3, and the keys after a query are hidden
/// from the correction of its logits.
struct DapeShape {
  int batch, heads, hidden, queries, keys;
  int query_offset;       // position of query row 0
  int width;              // of both convolutions along the keys; odd
  bool hides_later_keys;  // those beyond the query's position
};

/// f = second(LeakyReLU(first(.))), convolutions along the keys with zeros beyond both ends.
struct DapeLayers {
  const float* first_weight;   // [hidden, 2 heads, width]
  const float* first_bias;     // [hidden]
  const float* second_weight;  // [heads, hidden, width]
  const float* second_bias;    // [heads]
};

/// logits = A + B + f([A; B]): A the scaled products, B the biases of any additive method, of a
/// query's keys at once; f reads 0 for keys that are hidden from it. LeakyReLU(x) = max(x, x /
/// 100). Masks come afterwards, but for that. Shapes, fp32 in device memory: A, B, logits [batch,
/// heads, queries, keys]; before [batch, hidden, queries, keys], what enters LeakyReLU, for the
/// backward pass.
/// @throws std::invalid_argument unless every size is at least 1, heads and hidden at most 4096,
/// width odd and at most 15, query_offset + queries within keys and batch x queries x keys below
/// 2^31.
void dape_forward(const Stream& stream, const DapeShape& shape, const DapeLayers& layers,
                  const float* A, const float* B, float* before, float* logits);

/// Where the gradients go, shaped as what they are the gradient of; null: not asked for, but of A
/// and B.
struct DapeGradients {
  float *A, *B, *first_weight, *first_bias, *second_weight, *second_bias;
};

/// Rows of longer sequences may come a few at a time, in calls one after the other. Sums over
/// scores then go on from call to call, in the same order and with the same bits as in one.
struct DapePart {
  int first_row = 0;       ///< rows of each sequence that came before
  bool last = true;        ///< no more come
  double* sums = nullptr;  ///< dape_sums() numbers between the calls; null: there is but one
};

/// Numbers that weights' and biases' gradients need for it.
std::size_t dape_sums(const DapeShape& shape);

/// The adjoint: dl passes to A and B and back through f; LeakyReLU's derivative is 1/100 at 0. Sums
/// over scores are taken in double and in a fixed order, and rounded once, with `mode` together
/// with what the weights' and biases' gradients were, in the last call of `part`: the same bits
/// every run. workspace is shaped like before.
/// @throws std::invalid_argument as forward.
void dape_backward(const Stream& stream, const DapeShape& shape, const DapeLayers& layers,
                   const float* A, const float* B, const float* before, const float* grad_logits,
                   const DapeGradients& gradients, float* workspace,
                   Gradient mode = Gradient::overwrite, const DapePart& part = {});

}  // namespace plumbline::gpu

#endif
