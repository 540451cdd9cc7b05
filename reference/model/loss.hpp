// SPDX-License-Identifier: Apache-2.0
// Cross-entropy over the tokens that have a target: all of them for language models, the masked
// ones for BERT (Devlin et al., arXiv:1810.04805, section 3.1, task 1).
#pragma once

#include <optional>
#include <type_traits>
#include <vector>

#include "reference/attention/softmax.hpp"
#include "reference/core/linear_algebra.hpp"
#include "reference/core/preconditions.hpp"
#include "reference/core/sum.hpp"

namespace plumbline::reference {

/// The token's target, or none: then the token does not count.
using Targets = std::vector<std::optional<int>>;

/// How many tokens count. @throws std::invalid_argument if none does, the number of targets is not
/// that of tokens, or a target is not in the vocabulary.
inline int check_targets(const Targets& targets, Eigen::Index tokens, Eigen::Index vocabulary) {
  require(static_cast<Eigen::Index>(targets.size()) == tokens, "targets.size()", targets.size(),
          "the rows of the logits");
  int counted = 0;
  for (const std::optional<int>& target : targets) {
    if (!target) continue;
    require(0 <= *target && *target < vocabulary, "target", *target, "a column of the logits");
    ++counted;
  }
  require(counted >= 1, "the number of targets", counted, "at least 1");
  return counted;
}

/// L = 1/n sum_t (ln sum_v e^(z_tv) - z_t,target) over the n tokens t with a target: the mean of
/// -ln softmax(z_t)_target, in nats. Shapes: logits [T, vocabulary], targets [T].
/// @throws std::invalid_argument as check_targets does.
template <Real R>
R cross_entropy(const Matrix<R>& logits, const Targets& targets) {
  const int counted = check_targets(targets, logits.rows(), logits.cols());
  Vector<R> terms = zeros<R>(counted);
  int n = 0;
  for (Eigen::Index t = 0; t < logits.rows(); ++t) {
    if (!targets[t]) continue;
    terms[n++] = softmax<R>(logits.row(t)).lse - logits(t, *targets[t]);
  }
  return sum(terms) / R(counted);
}

/// The adjoint: dz_tv = dL/n (softmax(z_t)_v - [v = target]); 0 for tokens without a target.
/// @throws std::invalid_argument as check_targets does.
template <Real R>
Matrix<R> cross_entropy_grad(const Matrix<R>& logits, const Targets& targets,
                             const std::type_identity_t<R>& grad_loss) {
  const int counted = check_targets(targets, logits.rows(), logits.cols());
  const R share = grad_loss / R(counted);
  Matrix<R> grad = zeros<R>(static_cast<int>(logits.rows()), static_cast<int>(logits.cols()));
  for (Eigen::Index t = 0; t < logits.rows(); ++t) {
    if (!targets[t]) continue;
    Vector<R> by_logit = softmax<R>(logits.row(t)).probability;
    by_logit[*targets[t]] -= R(1.0);
    for (Eigen::Index v = 0; v < logits.cols(); ++v) grad(t, v) = share * by_logit[v];
  }
  return grad;
}

}  // namespace plumbline::reference
