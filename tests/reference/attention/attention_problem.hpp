// SPDX-License-Identifier: Apache-2.0
// Small attention problems made from a flat vector, for harnesses that run over every method.
#pragma once

#include <string>

#include "reference/attention/attention_grad.hpp"
#include "tests/reference/bias/bias_readings.hpp"

namespace plumbline::reference {

/// The sizes and the mask; the numbers come from a seed.
struct Problem {
  std::string name;
  AttentionShape shape;
  Mask mask;
  bool ssmax = false;
  bool softcap = false;
  bool sinks = false;
  bool dropout = false;

  Positions positions() const { return {shape.queries, shape.keys, shape.query_offset}; }
};

/// Two query heads to a key head, every mask, decoding at an offset, and rows that see no key.
inline std::vector<Problem> small_problems() {
  const AttentionShape square{1, 2, 1, 4, 4, 2, 0}, decoding{1, 2, 2, 2, 4, 3, 2};
  const AttentionShape batch{2, 2, 1, 3, 4, 2, 1};
  return {{"bidirectional", square, {}, false},
          {"causal", square, {.causal = true}, false},
          {"causal with SSMax", square, {.causal = true}, true},
          {"causal with softcap", square, {.causal = true}, false, true},
          {"SSMax and softcap", decoding, {}, true, true},
          {"window", square, {.window = 1}, true},
          {"window of different sides", square, {.window = {2, 0}}, true},
          {"more queries than keys", {1, 2, 1, 5, 3, 2, -2}, {.causal = true}, true},
          {"causal decoding", decoding, {.causal = true, .window = 2}, false},
          {"ragged batch", batch, {.lengths = {4, 2}}, true},
          {"documents", batch, {.causal = true, .documents = {1, 1, 2, 2, 3, 4, 4, 3}}, true},
          {"sinks", decoding, {.causal = true, .window = 2}, false, false, true},
          {"sinks and all else", batch, {.lengths = {4, 2}}, true, true, true},
          {"dropout", square, {.causal = true}, true, true, true, true}};
}

/// q, k, v, then the SSMax scales, the sinks, and the bias of each head of each sequence.
template <class Method>
std::vector<double> inputs_of(const Problem& problem, Numbers& numbers) {
  const AttentionShape& s = problem.shape;
  std::vector<double> x = numbers.between(
      -1, 1, s.batch * (s.heads * s.queries + 2 * s.kv_heads * s.keys) * s.head_dim);
  if (problem.ssmax) {
    for (double scale : numbers.between(0.5, 1.5, s.heads)) x.push_back(scale);
  }
  if (problem.sinks) {
    for (double sink : numbers.between(-1, 1, s.heads)) x.push_back(sink);
  }
  for (int n = 0; n < s.batch * s.heads; ++n) {
    for (double p : Method::parameters(numbers, problem.positions())) x.push_back(p);
  }
  return x;
}

template <Real R, class Method>
struct ReadProblem {
  ReadProblem(const Problem& problem, const Vector<R>& x) {
    const AttentionShape& s = problem.shape;
    Reader<R> reader(x);
    inputs.shape = s;
    inputs.q = reader.matrices(s.batch * s.heads, s.queries, s.head_dim);
    inputs.k = reader.matrices(s.batch * s.kv_heads, s.keys, s.head_dim);
    inputs.v = reader.matrices(s.batch * s.kv_heads, s.keys, s.head_dim);
    inputs.scale = R(0.75);
    inputs.mask = problem.mask;
    if (problem.softcap) inputs.softcap = R(0.5);
    for (int h = 0; problem.ssmax && h < s.heads; ++h) {
      inputs.ssmax_scale.push_back(reader.number());
    }
    for (int h = 0; problem.sinks && h < s.heads; ++h) inputs.sinks.push_back(reader.number());
    for (int n = 0; n < s.batch * s.heads; ++n) {
      if (problem.dropout) inputs.dropout.push_back(some_dropped(n));
      biases.push_back(Method::read(reader, problem.positions()));
    }
  }
  Matrix<R> some_dropped(int head) const {
    Matrix<R> factors = zeros<R>(inputs.shape.queries, inputs.shape.keys);
    for (int n = 0; n < factors.size(); ++n) {
      factors.data()[n] = R((n * n + head) % 3 == 0 ? 0.0 : 1.5);
    }
    return factors;
  }
  auto bias_of() const {
    return [this](int b, int h) { return biases[b * inputs.shape.heads + h]; };
  }

  AttentionInputs<R> inputs;
  std::vector<decltype(Method::template read<R>(std::declval<Reader<R>&>(), Positions{}))> biases;
};

}  // namespace plumbline::reference
