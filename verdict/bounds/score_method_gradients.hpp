// SPDX-License-Identifier: Apache-2.0
// The adjoints of CoPE and DAPE: from the gradients of the logits to those of the scores and of the
// methods' parameters, with the bounds of a kernel's.
#pragma once

#include <span>

#include "verdict/bounds/bias_gradient.hpp"
#include "verdict/bounds/head_products.hpp"
#include "verdict/bounds/parameter_sums.hpp"
#include "verdict/bounds/score_method_errors.hpp"

namespace plumbline::verdict {

class ScoreMethodGradients {
 public:
  using Reading = CaseReading<reference::RunningError>;

  /// The arguments must outlive this.
  ScoreMethodGradients(const cases::Case& the_case, const Contract& contract,
                       const Reading& reading, const ScoreMethodErrors& errors,
                       const BiasGradient& bias_gradient)
      : case_(the_case),
        contract_(contract),
        reading_(reading),
        errors_(errors),
        bias_gradient_(bias_gradient) {}

  /// Rotates `heads`, the query heads of a sequence from `first_head` on (of DAPE all of them),
  /// from pairs of the logits into pairs of the scores: z holds dL/dlogits with the bound of a
  /// kernel's error in z_error, and then dL/d(scale q.k), z_error and z_magnitude as an operand's.
  /// Adds what the methods' parameters get to `sums`, by head.
  void pass(int batch, int first_head, std::span<HeadPairs> heads, std::span<ParameterSums> sums,
            int threads) const;

 private:
  void pass_cope(int batch, int head, HeadPairs& pairs, ParameterSums& sums, int threads) const;
  void pass_dape_row(int batch, int query, std::span<HeadPairs> heads,
                     std::span<ParameterSums> sums) const;
  /// dA of a pair, as an operand of dQ and dK.
  void set_pair(HeadPairs& pairs, int query, int key, const reference::RunningError& grad,
                double error) const;

  const cases::Case& case_;
  const Contract& contract_;
  const Reading& reading_;
  const ScoreMethodErrors& errors_;
  const BiasGradient& bias_gradient_;
};

}  // namespace plumbline::verdict
