// SPDX-License-Identifier: Apache-2.0
// The masked language model's loss: the cross-entropy at the selected positions. Source: Devlin et
// al., "BERT", arXiv:1810.04805, section 3.1, task 1; CABLE, appendix A.1.
#pragma once

#include <type_traits>
#include <vector>

#include "reference/model/loss.hpp"

namespace plumbline::reference {

/// The targets of a masked language model: the original token at every selected position, none
/// elsewhere. Selected are the 15 % that the model must predict, whatever stands there in its
/// input: [MASK] (80 % of them), a random token (10 %) or the original one (10 %). `original` are
/// the tokens before that replacement, a batch row after row. Shapes: original [T], selected a set
/// of positions in any order, result [T].
/// @throws std::invalid_argument for a position outside of [0, T) or one given twice.
inline Targets mlm_targets(const std::vector<int>& original, const std::vector<int>& selected) {
  const int tokens = static_cast<int>(original.size());
  Targets targets(original.size());
  for (int position : selected) {
    require(0 <= position && position < tokens, "selected", position, "a position of a token");
    require(!targets[position], "selected", position, "a position not selected before");
    targets[position] = original[position];
  }
  return targets;
}

/// PyTorch's CrossEntropyLoss skips the tokens with this label.
inline constexpr int pytorch_ignore_index = -100;

/// The same from labels as data loaders give them: `ignored` stands for "no target".
inline Targets targets_from_labels(const std::vector<int>& labels,
                                   int ignored = pytorch_ignore_index) {
  Targets targets(labels.size());
  for (std::size_t t = 0; t < labels.size(); ++t) {
    if (labels[t] != ignored) targets[t] = labels[t];
  }
  return targets;
}

/// L = 1/|S| sum_(t in S) (ln sum_v e^(z_tv) - z_t,original(t)) over the selected positions S: the
/// mean over them, not over all tokens; in nats. Shapes: logits [T, vocabulary], original [T].
/// @throws std::invalid_argument as mlm_targets and check_targets do (S is empty, say).
template <Real R>
R mlm_loss(const Matrix<R>& logits, const std::vector<int>& original,
           const std::vector<int>& selected) {
  return cross_entropy(logits, mlm_targets(original, selected));
}

/// The adjoint: that of the cross-entropy, 0 at every position that is not selected.
/// @throws std::invalid_argument as mlm_loss does.
template <Real R>
Matrix<R> mlm_loss_grad(const Matrix<R>& logits, const std::vector<int>& original,
                        const std::vector<int>& selected,
                        const std::type_identity_t<R>& grad_loss) {
  return cross_entropy_grad(logits, mlm_targets(original, selected), grad_loss);
}

}  // namespace plumbline::reference
