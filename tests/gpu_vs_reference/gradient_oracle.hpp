// SPDX-License-Identifier: Apache-2.0
// The oracle's gradients of a small case, read with a running error.
#pragma once

#include <stdexcept>
#include <type_traits>
#include <vector>

#include "methods.hpp"
#include "plumbline_kernel.h"
#include "reference/attention/attention_grad.hpp"
#include "reference/bias/all.hpp"
#include "reference/position/rope.hpp"
#include "reference/scalars/running_error.hpp"
#include "tests/gpu/small_case.hpp"

namespace plumbline::gpu_tests {

namespace ref = plumbline::reference;
using R = ref::RunningError;

/// What the oracle says of one array, in the array's order.
using Expected = std::vector<R>;

struct Oracle {
  Expected q, k, v, parameters[PLUMBLINE_PARAMETER_COUNT];
};

inline ref::Matrix<R> matrix(const std::vector<float>& values, std::size_t index, int rows,
                             int columns) {
  ref::Matrix<R> m(rows, columns);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) m(r, c) = R(values[(index * rows + r) * columns + c]);
  return m;
}

inline void append(Expected& to, const ref::Matrix<R>& m) {
  for (Eigen::Index r = 0; r < m.rows(); ++r)
    for (Eigen::Index c = 0; c < m.cols(); ++c) to.push_back(m(r, c));
}

/// Adds to element `first` and those after it.
template <class Values>
void add(Expected& to, std::size_t first, const Values& values) {
  for (Eigen::Index n = 0; n < values.size(); ++n) to[first + n] += values[n];
}

/// The prefix sums of a row in double, as the kernels have them: exact numbers to the oracle.
inline ref::Vector<R> sums(const std::vector<float>& values, std::size_t head, int keys) {
  ref::Vector<R> s(keys);
  double sum = 0.0;
  for (int n = 0; n < keys; ++n) s[n] = R(sum += values[head * keys + n]);
  return s;
}

/// The adjoint of that, whose own rounding in double does not count.
inline ref::Vector<R> adjoint_of_sums(const ref::Vector<R>& grad) {
  ref::Vector<R> result(grad.size());
  double value = 0.0, error = 0.0;
  for (Eigen::Index n = grad.size() - 1; n >= 0; --n) {
    value += grad[n].value();
    error += grad[n].error();
    result[n] = R(value, error);
  }
  return result;
}

inline ref::RopePairs rope_pairs(const plumbline_problem& p) {
  return p.rope == PLUMBLINE_ROPE_INTERLEAVED ? ref::RopePairs::interleaved
                                              : ref::RopePairs::half_split;
}

/// The case as the oracle takes it.
inline ref::AttentionInputs<R> inputs_of(const Case& made) {
  const plumbline_problem& p = made.problem;
  ref::AttentionInputs<R> x;
  x.shape = {p.batch, p.heads, p.kv_heads, p.queries, p.keys, p.head_dim, p.query_offset};
  x.shape.value_dim = p.value_dim;
  x.scale = R(p.scale);
  if (p.softcap > 0) x.softcap = R(p.softcap);
  x.mask.causal = p.causal == 1;
  x.mask.window = {p.window_left, p.window_right};
  if (p.lengths) x.mask.lengths = {p.lengths, p.lengths + p.batch};
  if (p.documents) x.mask.documents = {p.documents, p.documents + p.batch * p.keys};
  if (p.mask)
    x.mask.also = [&made, first = p.query_offset](int b, int h, int i, int j) {
      return made.mask_shows(b, h, i - first, j);
    };
  if (p.ssmax)
    for (const float s : made.parameters.values[PLUMBLINE_SSMAX_SCALE])
      x.ssmax_scale.push_back(R(s));
  if (p.sinks)
    for (const float s : made.parameters.values[PLUMBLINE_SINKS]) x.sinks.push_back(R(s));
  const bool rotated = p.rope != PLUMBLINE_NO_ROPE;
  const R base(p.options[PLUMBLINE_BASE]);
  const R of_kept = R(1.0) / (R(1.0) - R(p.dropout));
  for (int n = 0; n < p.batch * p.heads && p.keep; ++n) {
    ref::Matrix<R> of_head(p.queries, p.keys);
    for (int r = 0; r < p.queries; ++r)
      for (int j = 0; j < p.keys; ++j)
        of_head(r, j) = p.keep[(n * p.queries + r) * p.keys + j] != 0 ? of_kept : R(0.0);
    x.dropout.push_back(of_head);
  }
  for (int n = 0; n < p.batch * p.heads; ++n) {
    x.q.push_back(matrix(made.q, n, p.queries, p.head_dim));
    if (rotated)
      x.q.back() = ref::rope(x.q.back(), p.query_offset, base, rope_pairs(p), p.rotary_dim);
  }
  for (int n = 0; n < p.batch * p.kv_heads; ++n) {
    x.k.push_back(matrix(made.k, n, p.keys, p.head_dim));
    if (rotated) x.k.back() = ref::rope(x.k.back(), 0, base, rope_pairs(p), p.rotary_dim);
    x.v.push_back(matrix(made.v, n, p.keys, p.value_dim));
  }
  return x;
}

/// What comes from the rest of a model; grad_lse may be empty.
struct Upstream {
  std::vector<float> grad_o, grad_lse = {};
};

/// The oracle with bias_of(b, h); collect(b, h, grad) takes the gradient of that bias.
template <class BiasOf, class Collect>
void evaluate(const Case& made, const Upstream& upstream, Oracle& oracle, BiasOf bias_of,
              Collect collect) {
  const plumbline_problem& p = made.problem;
  ref::AttentionUpstream<R> of_heads;
  for (int n = 0; n < p.batch * p.heads; ++n) {
    of_heads.output.push_back(matrix(upstream.grad_o, n, p.queries, p.value_dim));
    if (!upstream.grad_lse.empty())
      of_heads.lse.push_back(matrix(upstream.grad_lse, n, 1, p.queries).row(0));
  }
  auto grad = ref::attention_grad(inputs_of(made), bias_of, of_heads);
  const bool rotated = p.rope != PLUMBLINE_NO_ROPE;
  const auto pairs = rope_pairs(p);
  const R base(p.options[PLUMBLINE_BASE]);
  for (auto& q : grad.q)
    append(oracle.q, rotated ? ref::rope_grad(q, p.query_offset, base, pairs, p.rotary_dim) : q);
  for (auto& k : grad.k)
    append(oracle.k, rotated ? ref::rope_grad(k, 0, base, pairs, p.rotary_dim) : k);
  for (auto& v : grad.v) append(oracle.v, v);
  oracle.parameters[PLUMBLINE_SSMAX_SCALE] = grad.ssmax_scale;
  oracle.parameters[PLUMBLINE_SINKS] = grad.sinks;
  for (int b = 0; b < p.batch; ++b)
    for (int h = 0; h < p.heads; ++h) collect(b, h, grad.bias[b * p.heads + h]);
}

inline Oracle oracle_of(const Case& made, const Upstream& upstream) {
  const plumbline_problem& p = made.problem;
  const auto* of = made.parameters.values;
  Oracle oracle;
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n)
    oracle.parameters[n].assign(of[n].size(), R(0.0));
  auto* out = oracle.parameters;
  const auto at = [&](plumbline_parameter n, int h) { return R(of[n][h]); };
  const auto gain = [&](int b, int h) {
    const std::size_t head = b * p.heads + h;
    return ref::Vector<R>(matrix(of[PLUMBLINE_GAIN], head, 1, p.queries).row(0));
  };
  const auto prefix = [&](int b, int h) {
    const auto n = p.bias == PLUMBLINE_FOX ? PLUMBLINE_LOG_FORGET : PLUMBLINE_INCREMENTS;
    return sums(of[n], b * p.heads + h, p.keys);
  };
  const auto nothing = [](int, int, const auto&) {};
  const auto per_position = [&](int b, int h, const auto& grad) {
    const std::size_t head = b * p.heads + h;
    const auto n = p.bias == PLUMBLINE_FOX ? PLUMBLINE_LOG_FORGET : PLUMBLINE_INCREMENTS;
    add(out[n], head * p.keys, adjoint_of_sums(grad.prefix_sum));
    if constexpr (requires { grad.gain; }) add(out[PLUMBLINE_GAIN], head * p.queries, grad.gain);
  };
  const auto run = [&](auto bias_of, auto collect) {
    evaluate(made, upstream, oracle, bias_of, collect);
  };
  const auto run_table = [&](auto row) {
    run(
        [&](int, int h) {
          ref::Vector<R> table(row.rows());
          for (int n = 0; n < row.rows(); ++n)
            table[n] = R(of[PLUMBLINE_TABLE][h * row.rows() + n]);
          return ref::RelativeTable<R, decltype(row)>(table, row);
        },
        [&](int, int h, const auto& grad) {
          add(out[PLUMBLINE_TABLE], static_cast<std::size_t>(h) * row.rows(), grad.table);
        });
  };
  const auto largest = static_cast<int>(p.options[PLUMBLINE_LARGEST]);
  const auto buckets = static_cast<int>(p.options[PLUMBLINE_BUCKETS]);
  const auto most = static_cast<int>(p.options[PLUMBLINE_MAX_DISTANCE]);
  const auto run_form = [&]<template <class> class Form>() {
    const auto id = [&](const char* name) {
      for (const auto& parameter : methods::row(p.bias).parameters)
        if (name == std::string(methods::parameter_infos[parameter.id].name)) return parameter.id;
      throw std::invalid_argument(name);
    };
    run(
        [&](int, int h) {
          return ref::bias_of_head<Form, R>([&](const char* name) { return at(id(name), h); },
                                            [&](const std::string& name) {
                                              for (int n = 0; n < PLUMBLINE_OPTION_COUNT; ++n)
                                                if (name == methods::option_infos[n].name)
                                                  return R(static_cast<float>(p.options[n]));
                                              throw std::invalid_argument(name);
                                            });
        },
        [&](int, int h, const auto& grad) {
          ref::each_of_head<Form, R>(
              grad, [&](const char* name, const R& by) { out[id(name)][h] += by; });
        });
  };
  switch (static_cast<plumbline_bias>(p.bias)) {
    case PLUMBLINE_ALIBI:
      run([&](int, int h) { return ref::Alibi<R>(at(PLUMBLINE_SLOPES, h)); }, nothing);
      break;
    case PLUMBLINE_CABLE:
      run(
          [&](int b, int h) {
            return ref::Cable<R>{prefix(b, h), gain(b, h), p.query_offset};
          },
          per_position);
      break;
    case PLUMBLINE_CABLE_NW:
      run([&](int b, int h) { return ref::CableNw<R>{prefix(b, h)}; }, per_position);
      break;
    case PLUMBLINE_K_CABLE:
      run(
          [&](int b, int h) {
            return ref::KCable<R>{prefix(b, h), gain(b, h), p.query_offset};
          },
          per_position);
      break;
    case PLUMBLINE_K_CABLE_NW:
      run([&](int b, int h) { return ref::KCableNw<R>{prefix(b, h)}; }, per_position);
      break;
    case PLUMBLINE_CABLE_PAPER:
      run(
          [&](int b, int h) {
            return ref::CablePaper<R>{prefix(b, h), gain(b, h), p.query_offset};
          },
          per_position);
      break;
    case PLUMBLINE_CABLE_NW_PAPER:
      run([&](int b, int h) { return ref::CableNwPaper<R>{prefix(b, h)}; }, per_position);
      break;
    case PLUMBLINE_K_CABLE_PAPER:
      run(
          [&](int b, int h) {
            return ref::KCablePaper<R>{prefix(b, h), gain(b, h), p.query_offset};
          },
          per_position);
      break;
    case PLUMBLINE_FOX:
      run([&](int b, int h) { return ref::Fox<R>{prefix(b, h)}; }, per_position);
      break;
#define PLUMBLINE_OF_HEADS(number, Form)       \
  case PLUMBLINE_##number:                     \
    run_form.template operator()<ref::Form>(); \
    break;
      PLUMBLINE_BIASES_OF_HEADS(PLUMBLINE_OF_HEADS)
#undef PLUMBLINE_OF_HEADS
    case PLUMBLINE_T5:
      run_table(ref::T5Buckets(buckets, most, false));
      break;
    case PLUMBLINE_T5_BIDIRECTIONAL:
      run_table(ref::T5Buckets(buckets, most, true));
      break;
    case PLUMBLINE_T5_CLIPPED:
      run_table(ref::ClippedDistance(largest));
      break;
    case PLUMBLINE_T5_CLIPPED_OFFSET:
      run_table(ref::ClippedOffset(largest));
      break;
    case PLUMBLINE_FIRE: {
      const auto layer = [&](plumbline_parameter n, int h) {
        return ref::Vector<R>(matrix(of[n], h, 1, kHidden).row(0));
      };
      run(
          [&](int, int h) {
            return ref::Fire<R>({layer(PLUMBLINE_HIDDEN_WEIGHT, 0), layer(PLUMBLINE_HIDDEN_BIAS, 0),
                                 layer(PLUMBLINE_OUTPUT_WEIGHT, h), at(PLUMBLINE_OUTPUT_BIAS, h),
                                 at(PLUMBLINE_C, 0), at(PLUMBLINE_L, 0)},
                                R(p.options[PLUMBLINE_L0]),
                                R(static_cast<float>(p.options[PLUMBLINE_EPSILON])));
          },
          [&](int, int h, const auto& grad) {
            add(out[PLUMBLINE_HIDDEN_WEIGHT], 0, grad.hidden_weight);
            add(out[PLUMBLINE_HIDDEN_BIAS], 0, grad.hidden_bias);
            add(out[PLUMBLINE_OUTPUT_WEIGHT], static_cast<std::size_t>(h) * kHidden,
                grad.output_weight);
            out[PLUMBLINE_OUTPUT_BIAS][h] += grad.output_bias;
            out[PLUMBLINE_C][0] += grad.c;
            out[PLUMBLINE_L][0] += grad.L;
          });
      break;
    }
    case PLUMBLINE_BIAS_TENSOR:
      run(
          [&](int, int h) {
            return ref::BiasTensor<R>{matrix(of[PLUMBLINE_TENSOR], h, p.queries, p.keys),
                                      p.query_offset};
          },
          [&](int, int h, const auto& grad) {
            for (Eigen::Index n = 0; n < grad.size(); ++n)
              out[PLUMBLINE_TENSOR][h * grad.size() + n] += grad.data()[n];
          });
      break;
    case PLUMBLINE_NOPE:
      run([](int, int) { return ref::Nope<R>{}; }, nothing);
      break;
    case PLUMBLINE_COPE:
    case PLUMBLINE_CUSTOM:
      throw std::invalid_argument("a bias without fused kernels");
  }
  return oracle;
}

}  // namespace plumbline::gpu_tests
