// SPDX-License-Identifier: Apache-2.0
// What the oracle says of a training step: the loss and every gradient, with bounds of what
// rounding may do to them, docs/bounds-model.md.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "reference/model/layer_parameters.hpp"
#include "reference/optimizer/moments.hpp"
#include "tests/gpu_vs_reference/model/rounding_bound.hpp"
#include "tests/gpu_vs_reference/model/traced.hpp"

namespace plumbline::gpu_tests {

/// A parameter before the update, its gradient and the gradient's bound.
struct StepElement {
  double value, gradient, bound;
};

struct StepTensor {
  std::string name;
  int rank;
  std::vector<StepElement> elements;
};

struct OracleStep {
  double loss, loss_bound;
  std::vector<StepTensor> tensors;
};

/// From what was computed on the tape.
template <class Parameters>
OracleStep oracle_step(const reference::Traced& loss, const Parameters& parameters,
                       const Parameters& gradients) {
  using reference::Tape, reference::Traced;
  const std::vector<Tape::Edge> of_loss{{loss.node(), 1.0}};
  OracleStep step{loss.value(), bound_of(Traced::tape.reach({&of_loss, 1})[0]), {}};
  const std::vector<double> squares = Traced::tape.sampled_squares();
  reference::for_each_parameter(parameters, [&](const std::string& name, const auto& tensor) {
    step.tensors.push_back({name, reference::rank<std::decay_t<decltype(tensor)>>, {}});
    for (Eigen::Index n = 0; n < tensor.size(); ++n)
      step.tensors.back().elements.push_back({tensor.data()[n].value(), 0, 0});
  });
  auto next = step.tensors.begin();
  reference::for_each_parameter(gradients, [&](const std::string&, const auto& tensor) {
    std::vector<StepElement>& elements = (next++)->elements;
    for (std::size_t n = 0; n < elements.size(); ++n) {
      const Traced& g = tensor.data()[n];
      elements[n].gradient = g.value();
      elements[n].bound = bound_from_samples(squares[g.node()]);
    }
  });
  return step;
}

}  // namespace plumbline::gpu_tests
