// SPDX-License-Identifier: Apache-2.0
// A position method in an attention layer, in every reading, and its adjoint.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "reference/attention/attention_layer.hpp"
#include "tests/reference/weighted.hpp"

namespace plumbline::reference {

/// From which interval a parameter's numbers are.
using RangeOf = std::function<std::pair<double, double>(const std::string& name)>;

inline std::pair<double, double> around_zero(const std::string&) { return {-0.7, 0.7}; }

/// Three tokens, two heads of two numbers that share keys and values, causal, no biases in the
/// linear layers. The inputs are the tokens, then the parameters.
template <class Position>
struct LayerProblem {
  static constexpr int tokens = 3;
  Position position;
  bool ssmax = false;
  HeadLayout layout{4, 2, 1};
  Mask mask{.causal = true};

  template <Real R>
  using Parameters = AttentionLayerParameters<R, SeparateProjections<R>, Position>;

  template <Real R>
  Parameters<R> zero() const {
    return Parameters<R>::zero(layout, position, false, ssmax);
  }

  template <class P, class Visit>
  static void each(P& p, const Visit& visit) {
    visit_weight_and_bias(p.projection.query, "query", visit);
    visit_weight_and_bias(p.projection.key, "key", visit);
    visit_weight_and_bias(p.projection.value, "value", visit);
    visit_weight_and_bias(p.output, "output", visit);
    p.each_of_position(p, "layer", visit);
  }

  std::vector<double> inputs(Numbers& numbers, const RangeOf& range) const {
    std::vector<double> x = numbers.between(-1, 1, tokens * layout.width);
    const auto p = zero<double>();
    each(p, [&](const std::string& name, const auto& tensor) {
      const auto [low, high] = range(name);
      for (double number : numbers.between(low, high, static_cast<int>(tensor.size()))) {
        x.push_back(number);
      }
    });
    return x;
  }

  template <Real R>
  std::pair<Matrix<R>, Parameters<R>> read(const Vector<R>& x) const {
    Reader<R> reader(x);
    std::pair<Matrix<R>, Parameters<R>> from{reader.matrix(tokens, layout.width), zero<R>()};
    each(from.second, [&](const std::string&, auto& tensor) {
      for (Eigen::Index n = 0; n < tensor.size(); ++n) tensor.data()[n] = reader.number();
    });
    return from;
  }
};

template <class Position>
void expect_layer_is_right(const LayerProblem<Position>& problem, const std::vector<double>& inputs,
                           std::uint64_t seed) {
  const auto equation = [&](const auto& x) {
    using R = ScalarOf<decltype(x)>;
    const auto [X, p] = problem.template read<R>(x);
    Writer<R> results;
    results.matrix(
        attention_layer<Equations<R>>(p, problem.layout, problem.position, X, problem.mask).result);
    return results.result();
  };
  const auto adjoint = [&](const auto& x, const auto& upstream) {
    using R = ScalarOf<decltype(x)>;
    const auto [X, p] = problem.template read<R>(x);
    Reader<R> grad_results(upstream);
    auto grad = problem.template zero<R>();
    const auto state =
        attention_layer<Equations<R>>(p, problem.layout, problem.position, X, problem.mask);
    Writer<R> results;
    results.matrix(attention_layer_grad<Equations<R>>(
        p, problem.layout, problem.position, X, state,
        grad_results.matrix(problem.tokens, problem.layout.width), grad));
    problem.each(grad, [&](const std::string&, const auto& tensor) {
      for (Eigen::Index n = 0; n < tensor.size(); ++n) results.number(tensor.data()[n]);
    });
    return results.result();
  };
  expect_readings_and_adjoint(equation, adjoint, inputs, seed);
}

}  // namespace plumbline::reference
