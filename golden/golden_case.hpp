// SPDX-License-Identifier: Apache-2.0
// A golden case: inputs that every binary format holds exactly, and what the equations give for
// them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cases/case.hpp"

namespace plumbline::golden {

/// Numbers with their shape, row-major.
template <class Number>
struct Tensor {
  std::vector<int> shape;
  std::vector<Number> data;
};

template <class Number>
using Tensors = std::map<std::string, Tensor<Number>>;

/// The problem, and the gradient that arrives from the rest of the model: dL/do like q, dL/dlse
/// like [batch, heads, queries].
struct Problem {
  std::string name;
  cases::Case inputs;  ///< family `file`, format fp32
  std::vector<float> grad_o, grad_lse;
};

/// A problem with its results, each rounded once from at least 40 correct digits to double.
struct GoldenCase {
  Problem problem;
  Tensors<double> outputs;  ///< names and shapes: evaluate.hpp
};

/// The problems of a method, in their order: causal, bidirectional, window, documents with ragged
/// lengths, grouped heads at an offset (decoding), SSMax; for ALiBi twelve heads as well. Always
/// the same numbers: multiples of 1/8, but for ALiBi's slopes of twelve heads.
std::vector<Problem> problems(cases::BiasMethod);

}  // namespace plumbline::golden
