// SPDX-License-Identifier: Apache-2.0
// Gradients against the oracle, element by element.
#pragma once

#include <vector>

#include "verdict/judge/judge.hpp"
#include "verdict/oracle/gradient_oracle.hpp"

namespace plumbline::verdict {

/// Judges grad_q, grad_k, grad_v and the gradient of every parameter that gets one, in this order:
/// as functions of the o and lse in `outputs`; where they do not pass as such, as those of a kernel
/// that recomputes P and D (docs/bounds-backward.md). One of the two must hold for all of them.
/// Where the contract has no lse the first is: P recomputed, D of the o in `outputs`.
/// A tensor counts as stored in the case's format where all of its numbers are of it, else as fp32.
/// @throws BadInput when a tensor of `outputs` has the wrong size.
std::vector<OutputJudgement> judge_gradients(const cases::Case& the_case, const Contract& contract,
                                             const cases::Outputs& outputs, int threads);

/// The format that o is judged in: fp32 where the contract says float_o or some numbers are not of
/// the case's format, else that format. A file may widen bf16 to float; a float output of a bf16
/// case gets no bf16 rounding.
cases::Format o_format(const cases::Spec& spec, const Contract& contract, const cases::Outputs&);
/// The same of o and the gradients.
GradientFormats gradient_formats(const cases::Spec& spec, const Contract& contract,
                                 const cases::Outputs&);

}  // namespace plumbline::verdict
