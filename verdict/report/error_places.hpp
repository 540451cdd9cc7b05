// SPDX-License-Identifier: Apache-2.0
// Where in an output the errors are, in words.
#pragma once

#include <string>

#include "verdict/judge/judge.hpp"

namespace plumbline::verdict {

/// Along every axis that not all indices of fail: "head 1; queries from 64 on (64 = 1 x 64)",
/// "every 16th query from 15 on", "the last query". Runs that begin or end at a multiple of 16
/// within a tensor, where a tile may, are said to. Empty where every index of every axis has a
/// failing element, where none has, and for an output without axes.
std::string where_it_fails(const OutputJudgement& output);

}  // namespace plumbline::verdict
