// SPDX-License-Identifier: Apache-2.0
// Gradient accumulation: a batch in several parts, whose gradients are added up before a step.
#pragma once

#include "reference/core/preconditions.hpp"
#include "reference/optimizer/moments.hpp"

namespace plumbline::reference {

/// How many micro-batches of sequences x length tokens make a step of `token_budget` tokens.
/// CABLE: 524,288 = 2^19 tokens, T = 1024. BAM's code rounds up instead, to a larger budget.
/// @throws std::invalid_argument unless all are at least 1 and the budget is a multiple of
/// sequences x length.
inline int micro_batches(int token_budget, int sequences, int length) {
  require(token_budget >= 1, "token_budget", token_budget, "at least 1");
  require(sequences >= 1, "sequences", sequences, "at least 1");
  require(length >= 1, "length", length, "at least 1");
  const long long tokens = static_cast<long long>(sequences) * length;
  require(token_budget % tokens == 0, "token_budget", token_budget,
          "a multiple of the tokens of a micro-batch");
  return static_cast<int>(token_budget / tokens);
}

/// n_m / N: what the mean over the n_m counted tokens of a micro-batch contributes to the mean over
/// all N of the batch, L = sum_m n_m/N L_m. Only with these weights do the losses and gradients of
/// micro-batches add up to those of the whole batch (equal in exact arithmetic). The plain 1/M of
/// M micro-batches, which training code commonly takes (CABLE's too), is the same where all n_m are
/// equal, as for language models without padding; under a mask (BERT) it weighs the tokens of a
/// micro-batch with few of them more.
/// @throws std::invalid_argument unless 0 <= n_m <= N and N >= 1.
template <Real R>
R micro_batch_share(int counted_tokens, int all_counted_tokens) {
  require(all_counted_tokens >= 1, "all_counted_tokens", all_counted_tokens, "at least 1");
  require(0 <= counted_tokens && counted_tokens <= all_counted_tokens, "counted_tokens",
          counted_tokens, "at least 0 and at most all_counted_tokens");
  return R(counted_tokens) / R(all_counted_tokens);
}

/// total <- total + share grad, in every element of a tensor.
/// @throws std::invalid_argument if the shapes differ; then nothing has changed.
template <Tensor T>
void accumulate(T& total, const T& grad, const typename T::Scalar& share) {
  require(grad.rows() == total.rows(), "grad.rows()", grad.rows(), "the rows of the total");
  require(grad.cols() == total.cols(), "grad.cols()", grad.cols(), "the columns of the total");
  for (Eigen::Index n = 0; n < grad.size(); ++n) total.data()[n] += share * grad.data()[n];
}

}  // namespace plumbline::reference
