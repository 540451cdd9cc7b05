// SPDX-License-Identifier: Apache-2.0
// A golden case: inputs that every binary format holds exactly, and what the equations give for
// them.
#pragma once

#include <string>
#include <vector>

#include "reference/methods/methods.hpp"

namespace plumbline::golden {

namespace methods = reference::methods;
using methods::Tensor, methods::Tensors;

/// A problem of a method, with its numbers: those that reference/methods/method.hpp lists, the
/// gradients that arrive from the rest of the model among them.
struct Problem {
  std::string name, method;
  methods::Problem setting;  ///< shape, mask, scale, options
  Tensors<float> inputs;
};

/// A problem with its results, each rounded once from at least 40 correct digits to double.
struct GoldenCase {
  Problem problem;
  Tensors<double> outputs;  ///< names and shapes: reference/methods/evaluate.hpp
};

/// The problems of a method, in their order; docs/golden.md lists them. Always the same numbers:
/// multiples of 1/16, but for ALiBi's slopes, GGD's theta_alpha made of them, and hidden_bias.
/// @throws std::invalid_argument for a method that is not registered.
std::vector<Problem> problems(const std::string& method);

/// Sizes from 1 to 4096, lengths and document ids as many as the shape has, every tensor there in
/// its shape and no other, all numbers finite. The equations' own domains are theirs to check.
/// @throws BadInput naming the first thing that is not as it should be.
void validate(const Problem&);

/// The problem in scalar R.
template <reference::Real R>
methods::Results<R> evaluate(const Problem& problem,
                             methods::Pass pass = methods::Pass::forward_and_backward) {
  return methods::evaluate<R>(problem.method, problem.setting, methods::lifted<R>(problem.inputs),
                              pass);
}

}  // namespace plumbline::golden
