// SPDX-License-Identifier: Apache-2.0
// One element against the oracle, and elements added up to outputs.
#pragma once

#include "verdict/judge/judge.hpp"
#include "verdict/oracle/oracle.hpp"

namespace plumbline::verdict {

/// Whether the element passes, fails or cannot be decided; counted in `output`.
void judge_element(OutputJudgement& output, const OracleNumber& oracle, double got,
                   const std::array<int, 4>& index);

/// An element that the contract leaves out: counted, and never wrong.
void leave_out(OutputJudgement& output);

/// An element that the oracle does not compute. That it is a number is all that is asked of it,
/// where the family leaves it no way to overflow.
void judge_outside_sample(OutputJudgement& output, double got, const std::array<int, 4>& index,
                          cases::Family family);

/// An element that has one right value, a zero of either sign included; counted in `output`.
void judge_exactly(OutputJudgement& output, double expected, double got,
                   const std::array<int, 4>& index);

/// Adds a row's LSE to the trends. @param along its derivatives.
void judge_trends(OutputJudgement& output, const OracleNumber& oracle, double got,
                  const std::array<double, trend_count>& along);

/// The output fails where its errors together are not what correct roundings give: they drift with
/// its values, follow a trend, or are too large.
void judge_drift(OutputJudgement& output);

/// What is wrong with the errors of an output together, a sentence each; empty where nothing is.
std::vector<std::string> statistics_that_fail(const OutputJudgement& output);

/// Adds the elements of a part of the output. Where `head` >= 0 it is the head they belong to.
void add(OutputJudgement& total, const OutputJudgement& part, int head);

}  // namespace plumbline::verdict
