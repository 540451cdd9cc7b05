// SPDX-License-Identifier: Apache-2.0
// One key head with its query rows: the exact gradients, as functions of the o and lse that the
// kernel was given or of the exact ones, and the bound of each of their elements.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "verdict/bounds/backward.hpp"
#include "verdict/bounds/forward.hpp"

namespace plumbline::test {

using cases::Format;
using verdict::Contract;

/// One element of a gradient.
struct Target {
  enum { grad_q, grad_k, grad_v, query_parameter, head_parameter } output;
  int row = 0, key = 0, component = 0;
};

/// Where P and D come from.
enum class Weights { of_saved_output, recomputed };

/// rows x keys x components, any score errors, one parameter with derivative x_ij of the bias.
struct HeadProblem {
  int rows, keys, dim;
  Weights weights = Weights::of_saved_output;
  double scale = 1.0, factor = 1.0;
  std::vector<float> q, k, v, grad_o;  ///< [rows or keys, dim]
  std::vector<float> o, lse;           ///< given; whatever a forward pass may have made of them
  std::vector<float> grad_lse;         ///< [rows], or empty: 0
  std::vector<double> score, score_error, products, derivative, derivative_error;  ///< [rows, keys]

  HeadProblem(std::mt19937& random, int rows, int keys, int dim, double spread, double sigma)
      : rows(rows), keys(keys), dim(dim), scale(1 / std::sqrt(dim)) {
    std::normal_distribution<double> normal;
    for (auto* tensor : {&q, &grad_o}) {
      for (int n = 0; n < rows * dim; ++n) tensor->push_back(static_cast<float>(normal(random)));
    }
    for (auto* tensor : {&k, &v}) {
      for (int n = 0; n < keys * dim; ++n) tensor->push_back(static_cast<float>(normal(random)));
    }
    for (int n = 0; n < rows * keys; ++n) {
      score.push_back(spread * normal(random));
      score_error.push_back(sigma * std::uniform_real_distribution<>(0.5, 1)(random));
      derivative.push_back(-std::abs(normal(random)));
      derivative_error.push_back(sigma * std::abs(normal(random)));
    }
    std::uniform_real_distribution<double> off(-1.0, 1.0);
    for (int i = 0; i < rows; ++i) {
      const double* s = &score[i * keys];
      double total = 0;
      for (int j = 0; j < keys; ++j) total += std::exp(s[j]);
      lse.push_back(static_cast<float>(std::log(total) + 0.01 * off(random)));
      for (int d = 0; d < dim; ++d) {
        double sum = 0;
        for (int j = 0; j < keys; ++j) sum += std::exp(s[j]) / total * v[j * dim + d];
        o.push_back(static_cast<float>(sum + 0.01 * off(random)));
      }
    }
  }
};

/// The gradients of a HeadProblem, and the bound of each of their elements.
struct HeadGradients {
  std::vector<double> q, k, v, query_parameter;
  double head_parameter = 0;
  double at(const Target& t, int dim) const {
    switch (t.output) {
      case Target::grad_q:
        return q[t.row * dim + t.component];
      case Target::grad_k:
        return k[t.key * dim + t.component];
      case Target::grad_v:
        return v[t.key * dim + t.component];
      case Target::query_parameter:
        return query_parameter[t.row];
      case Target::head_parameter:
        break;
    }
    return head_parameter;
  }
};

/// Everything about a row that both the exact gradients and the bounds are made of.
struct ExactRow {
  std::vector<double> p, grad_p, grad_products, o;
  double lse = 0, common = 0, grad_lse = 0;

  ExactRow(const HeadProblem& x, int i) : o(x.dim, 0.0) {
    if (!x.grad_lse.empty()) grad_lse = x.grad_lse[i];
    const double* s = &x.score[i * x.keys];
    const bool given = x.weights == Weights::of_saved_output;
    const double maximum = *std::max_element(s, s + x.keys);
    double total = 0;
    for (int j = 0; j < x.keys; ++j) total += std::exp(s[j] - maximum);
    lse = given ? double{x.lse[i]} : maximum + std::log(total);
    for (int j = 0; j < x.keys; ++j) {
      p.push_back(std::exp(s[j] - lse));
      double dot = 0, size = 0;
      for (int d = 0; d < x.dim; ++d) {
        const double term = double{x.grad_o[i * x.dim + d]} * x.v[j * x.dim + d];
        dot += term;
        size += std::abs(term);
        o[d] += p[j] * x.v[j * x.dim + d];
      }
      grad_p.push_back(dot);
      grad_products.push_back(size);
      if (!given) common += p[j] * dot;
    }
    for (int d = 0; d < x.dim && given; ++d) {
      common += double{x.grad_o[i * x.dim + d]} * x.o[i * x.dim + d];
    }
  }
  double grad_s(int j) const { return p[j] * (grad_p[j] - common + grad_lse); }
};

/// What the kernel may get wrong in an lse of its own.
inline verdict::ForwardRow forward_row(const HeadProblem& x, const ExactRow& exact, int i) {
  verdict::ForwardRow row;
  row.score = std::span(x.score).subspan(i * x.keys, x.keys);
  row.score_error = std::span(x.score_error).subspan(i * x.keys, x.keys);
  row.probability = exact.p;
  row.output = exact.o;
  row.lse = exact.lse;
  for (int j = 0; j < x.keys; ++j) row.value.push_back(&x.v[j * x.dim]);
  return row;
}

inline HeadGradients exact_gradients(const HeadProblem& x) {
  HeadGradients g{std::vector<double>(x.q.size()), std::vector<double>(x.k.size()),
                  std::vector<double>(x.v.size()), std::vector<double>(x.rows)};
  for (int i = 0; i < x.rows; ++i) {
    const ExactRow row(x, i);
    for (int j = 0; j < x.keys; ++j) {
      const double z = x.factor * row.grad_s(j);
      for (int d = 0; d < x.dim; ++d) {
        g.q[i * x.dim + d] += x.scale * z * x.k[j * x.dim + d];
        g.k[j * x.dim + d] += x.scale * z * x.q[i * x.dim + d];
        g.v[j * x.dim + d] += row.p[j] * x.grad_o[i * x.dim + d];
      }
      g.query_parameter[i] += z * x.derivative[i * x.keys + j];
    }
    g.head_parameter += g.query_parameter[i];
  }
  return g;
}

inline HeadGradients gradient_bounds(const HeadProblem& x, const Contract& contract,
                                     Format format) {
  const HeadGradients exact = exact_gradients(x);
  const double c = std::abs(x.factor), tau = std::abs(x.scale);
  HeadGradients error = exact, size = exact, result = exact;
  for (auto* g : {&error, &size}) {
    for (auto* tensor : {&g->q, &g->k, &g->v, &g->query_parameter}) {
      std::fill(tensor->begin(), tensor->end(), 0.0);
    }
    g->head_parameter = 0;
  }
  for (int i = 0; i < x.rows; ++i) {
    const ExactRow exact_row(x, i);
    const auto forward = forward_row(x, exact_row, i);
    const bool given = x.weights == Weights::of_saved_output;
    verdict::BackwardRow row;
    row.score = forward.score;
    row.score_error = forward.score_error;
    row.probability = exact_row.p;
    row.lse = exact_row.lse;
    row.lse_error = given ? 0.0 : verdict::forward_row_bounds(contract, format, forward).lse;
    row.grad_probability = exact_row.grad_p;
    row.grad_products = exact_row.grad_products;
    row.common = exact_row.common;
    row.factor = x.factor;
    row.value_dim = x.dim;
    const auto of_row = [&](const std::vector<float>& tensor) {
      return std::span(tensor).subspan(i * x.dim, x.dim);
    };
    row.common_error =
        given ? verdict::common_error_of_output(contract, of_row(x.grad_o), of_row(x.o))
              : verdict::common_error_of_probabilities(contract, row);
    if (!x.grad_lse.empty()) {
      row.common_error = verdict::with_lse_gradient(contract, exact_row.common, row.common_error,
                                                    exact_row.grad_lse);
      row.common = exact_row.common - exact_row.grad_lse;
      row.grad_lse = std::abs(exact_row.grad_lse);
    }
    const auto errors = verdict::backward_row_errors(contract, row);
    std::vector<double> by_p(x.dim, 0.0), left_out(x.dim, 0.0), left_out_at_most(x.dim, 0.0);
    double derivative_by_p = 0, parameter_error = 0, parameter_size = 0;
    double parameter_left_out = 0, parameter_left_out_at_most = 0;
    for (int j = 0; j < x.keys; ++j) {
      const double z = c * std::abs(exact_row.grad_s(j));
      const auto p = verdict::rounded_operand(contract, exact_row.p[j], errors.probability[j]);
      const auto key = verdict::rounded_operand(contract, z, c * errors.total[j]);
      const double shared = c * (errors.total[j] - errors.own[j]);
      const double lost = c * errors.left_out[j], lost_at_most = c * errors.left_out_rate[j];
      const double b = x.derivative[i * x.keys + j], e = x.derivative_error[i * x.keys + j];
      for (int d = 0; d < x.dim; ++d) {
        const double q = std::abs(x.q[i * x.dim + d]), k = x.k[j * x.dim + d];
        const double go = std::abs(x.grad_o[i * x.dim + d]);
        error.v[j * x.dim + d] += p.error * go;
        size.v[j * x.dim + d] += p.magnitude * go;
        error.k[j * x.dim + d] += tau * key.error * q;
        size.k[j * x.dim + d] += tau * key.magnitude * q;
        error.q[i * x.dim + d] += tau * (key.error - shared) * std::abs(k);
        size.q[i * x.dim + d] += tau * key.magnitude * std::abs(k);
        by_p[d] += exact_row.p[j] * k;
        left_out[d] += lost * std::abs(k);
        left_out_at_most[d] = std::max(left_out_at_most[d], lost_at_most * std::abs(k));
      }
      parameter_left_out += lost * std::abs(b);
      parameter_left_out_at_most = std::max(parameter_left_out_at_most, lost_at_most * std::abs(b));
      derivative_by_p += exact_row.p[j] * b;
      parameter_error += c * errors.own[j] * std::abs(b) + (z + c * errors.total[j]) * e;
      parameter_size += (z + c * errors.total[j]) * (std::abs(b) + e);
    }
    for (int d = 0; d < x.dim; ++d) {
      error.q[i * x.dim + d] += errors.growth * std::abs(exact.q[i * x.dim + d]) +
                                tau * c * errors.common * std::abs(by_p[d]) +
                                tau * std::min(left_out[d], left_out_at_most[d]);
    }
    error.query_parameter[i] = errors.growth * std::abs(exact.query_parameter[i]) +
                               c * errors.common * std::abs(derivative_by_p) + parameter_error +
                               std::min(parameter_left_out, parameter_left_out_at_most);
    size.query_parameter[i] = parameter_size;
    error.head_parameter += error.query_parameter[i];
    size.head_parameter += parameter_size;
  }
  const auto finish = [&](Format stored, double value, double off, double magnitude, double n) {
    return verdict::gradient_bound(contract, stored, value, off, magnitude, n, 10.0);
  };
  for (std::size_t n = 0; n < exact.q.size(); ++n) {
    result.q[n] = finish(format, exact.q[n], error.q[n], size.q[n], x.keys);
  }
  for (std::size_t n = 0; n < exact.k.size(); ++n) {
    result.k[n] = finish(format, exact.k[n], error.k[n], size.k[n], x.rows);
    result.v[n] = finish(format, exact.v[n], error.v[n], size.v[n], x.rows);
  }
  for (int i = 0; i < x.rows; ++i) {
    result.query_parameter[i] = finish(Format::fp32, exact.query_parameter[i],
                                       error.query_parameter[i], size.query_parameter[i], x.keys);
  }
  result.head_parameter = finish(Format::fp32, exact.head_parameter, error.head_parameter,
                                 size.head_parameter, x.keys + x.rows);
  return result;
}

}  // namespace plumbline::test
