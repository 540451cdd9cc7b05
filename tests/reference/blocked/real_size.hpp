// SPDX-License-Identifier: Apache-2.0
// One problem of GGD with what blocked attention needs of it, for tests of its own interface.
#pragma once

#include <memory>
#include <vector>

#include "tests/reference/blocked/comparison.hpp"

namespace plumbline::reference {

struct GgdProblem {
  GgdProblem(const Problem& sizes, std::uint64_t seed)
      : numbers(seed),
        inputs(lifted<double>(inputs_of<GgdMethod>(sizes, numbers))),
        read(sizes, inputs),
        upstream(any_upstream(sizes.shape, numbers)) {
    problem = blocked::problem_of(read.inputs);
    for (const Ggd<double>& bias : read.biases) {
      biases.push_back(blocked::tile_bias_of(bias, sizes.shape, sizes.mask));
      problem.bias.push_back(biases.back().get());
    }
    for (const Matrix<double>& x : upstream.output) from.output.push_back(blocked::stored(x));
    from.lse = upstream.lse;
  }
  BlockedBounds bounds() const {
    return BoundsOf<Ggd<double>>(read.inputs, read.bias_of(), upstream).bounds;
  }

  Numbers numbers;
  Vector<double> inputs;
  ReadProblem<double, GgdMethod> read;
  AttentionUpstream<double> upstream;
  std::vector<std::unique_ptr<blocked::DifferentiableTileBias<GgdGrad<double>>>> biases;
  blocked::Problem problem;
  blocked::Upstream from;
};

}  // namespace plumbline::reference
