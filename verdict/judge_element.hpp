// SPDX-License-Identifier: Apache-2.0
// One element against the oracle, and elements added up to outputs.
#pragma once

#include "verdict/judge.hpp"
#include "verdict/oracle.hpp"

namespace plumbline::verdict {

/// Whether the element passes, fails or cannot be decided; counted in `output`.
void judge_element(OutputJudgement& output, const OracleNumber& oracle, double got,
                   const std::array<int, 4>& index);

/// An element that has one right value, a zero of either sign included; counted in `output`.
void judge_exactly(OutputJudgement& output, double expected, double got,
                   const std::array<int, 4>& index);

/// The output fails where its errors drift with its values.
void judge_drift(OutputJudgement& output);

/// Adds the elements of a part of the output. Where `head` >= 0 it is the head they belong to.
void add(OutputJudgement& total, const OutputJudgement& part, int head);

}  // namespace plumbline::verdict
