// SPDX-License-Identifier: Apache-2.0
#include "verdict/bounds/score_method_gradients.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "verdict/bounds/backward.hpp"
#include "verdict/oracle/rows.hpp"

namespace plumbline::verdict {
namespace {

using reference::RunningError;

}  // namespace

void ScoreMethodGradients::set_pair(HeadPairs& pairs, int query, int key, const RunningError& grad,
                                    double error) const {
  const double scale = std::abs(case_.scale);
  const double size = std::abs(grad.value());
  const Operand z = rounded_operand(contract_, size, error, std::max(scale, 1.0) * (size + error),
                                    scale > 0 ? std::max(1.0, 1 / scale) : 1.0);
  pairs.z(query, key) = grad.value();
  pairs.z_radius(query, key) = grad.error();
  pairs.z_error(query, key) = pairs.row_error(query, key) = z.error;
  pairs.z_magnitude(query, key) = z.magnitude;
}

void ScoreMethodGradients::pass(int batch, int first_head, std::span<HeadPairs> heads,
                                std::span<ParameterSums> sums, int threads) const {
  if (case_.spec.bias.method == PLUMBLINE_COPE) {
    for (std::size_t n = 0; n < heads.size(); ++n) {
      pass_cope(batch, first_head + static_cast<int>(n), heads[n], sums[n], threads);
    }
    return;
  }
  const int queries = case_.spec.queries;
  const int parts = (queries + rows_at_a_time - 1) / rows_at_a_time;
  std::vector<std::vector<ParameterSums>> of_part(
      parts, std::vector<ParameterSums>(heads.size(), ParameterSums(case_)));
  for_each_index(parts, threads, [&](std::size_t part) {
    const int first = static_cast<int>(part) * rows_at_a_time;
    for (int query = first; query < std::min(first + rows_at_a_time, queries); ++query) {
      pass_dape_row(batch, query, heads, of_part[part]);
    }
  });
  for (const auto& part : of_part) {
    for (std::size_t n = 0; n < heads.size(); ++n) sums[n].add(part[n]);
  }
}

void ScoreMethodGradients::pass_cope(int batch, int head, HeadPairs& pairs, ParameterSums& sums,
                                     int threads) const {
  const auto& s = case_.spec;
  const auto table = reading_.position_embedding(head);
  const int positions = static_cast<int>(table.rows());
  Numbers value = Numbers::Zero(s.queries, positions), radius = value, error = value;
  for_each_index(s.queries, threads, [&](std::size_t row) {
    const int query = static_cast<int>(row);
    const auto visible = reading_.visible(batch, head, query);
    if (visible.empty()) return;
    const auto errors = errors_.cope(batch, head, query, visible);
    reference::Vector<RunningError> grad_logits(static_cast<Eigen::Index>(visible.size()));
    std::vector<double> logit_errors;
    for (std::size_t n = 0; n < visible.size(); ++n) {
      grad_logits[n] = RunningError(pairs.z(query, visible[n]), pairs.z_radius(query, visible[n]));
      logit_errors.push_back(pairs.z_error(query, visible[n]));
    }
    const auto grad = reference::cope_logits_grad(errors.exact, grad_logits);
    const auto bounds = cope_gradient_errors(contract_, errors.numbers(s.head_dim), errors.errors,
                                             {grad_logits, logit_errors});
    for (std::size_t n = 0; n < visible.size(); ++n) {
      set_pair(pairs, query, visible[n], grad.scores[n], bounds.scores[n]);
    }
    pairs.keys[query] += positions;
    for (int n = 0; n < positions; ++n) {
      value(query, n) = grad.by_row[n].value();
      radius(query, n) = grad.by_row[n].error();
      error(query, n) = bounds.by_row[n];
    }
  });

  pairs.added = {Numbers::Zero(s.queries, s.head_dim), Numbers::Zero(s.queries, s.head_dim),
                 Numbers::Zero(s.queries, s.head_dim), Numbers::Zero(s.queries, s.head_dim)};
  const double operand = contract_.operand_roundoff;
  std::vector<ParameterSum> of_table(static_cast<std::size_t>(positions) * s.head_dim);
  for (int query = 0; query < s.queries; ++query) {
    const auto q = reading_.q(batch, head, query);
    for (int n = 0; n < positions; ++n) {
      const RunningError z(value(query, n), radius(query, n));
      const double size = std::abs(z.value());
      if (size == 0.0 && error(query, n) == 0.0) continue;
      const Operand rounded =
          rounded_operand(contract_, size, error(query, n), size + error(query, n));
      const auto product_error = [&](double other) {
        return (rounded.error + rounded.magnitude * operand) * other;
      };
      for (int d = 0; d < s.head_dim; ++d) {
        const RunningError to_q = z * table(n, d), to_table = z * q[d];
        const double E = std::abs(table(n, d).value()), of_q = std::abs(q[d].value());
        pairs.added.value(query, d) += to_q.value();
        pairs.added.radius(query, d) += to_q.error() + positions * 0x1p-52 * std::abs(to_q.value());
        pairs.added.error(query, d) += product_error(E);
        pairs.added.magnitude(query, d) += rounded.magnitude * (1 + operand) * E;
        of_table[static_cast<std::size_t>(n) * s.head_dim + d].add(
            {to_table.value(), to_table.error(), std::abs(to_table.value()), product_error(of_q),
             rounded.magnitude * (1 + operand) * of_q, 1.0});
      }
    }
  }
  for (std::size_t n = 0; n < of_table.size(); ++n) {
    sums.add(PLUMBLINE_POSITION_EMBEDDING, n, of_table[n]);
  }
}

void ScoreMethodGradients::pass_dape_row(int batch, int query, std::span<HeadPairs> heads,
                                         std::span<ParameterSums> sums) const {
  const auto& s = case_.spec;
  if (reading_.visible(batch, 0, query).empty()) return;
  const auto& exact = reading_.dape_row(batch, query);
  const auto& errors = errors_.dape(batch, query);
  reference::Matrix<RunningError> grad_logits(s.heads, s.keys);
  Bounded bounded{Numbers(s.heads, s.keys), Numbers(s.heads, s.keys)};
  for (int h = 0; h < s.heads; ++h) {
    for (int j = 0; j < s.keys; ++j) {
      grad_logits(h, j) = RunningError(heads[h].z(query, j), heads[h].z_radius(query, j));
      bounded.value(h, j) = heads[h].z(query, j);
      bounded.error(h, j) = heads[h].z_error(query, j);
    }
  }
  const auto grad = reference::dape_row_grad(exact.A, exact.B, reading_.dape_layers(),
                                             reading_.dape_seen(query), grad_logits);
  const auto bounds =
      dape_gradient_errors(contract_, errors.numbers, errors_.layers(), errors.errors, bounded);

  std::vector<int> all(s.keys);
  std::iota(all.begin(), all.end(), 0);
  const reference::Vector<RunningError> none = reference::zeros<RunningError>(s.keys);
  const int position = case_.position(batch, query);
  for (int h = 0; h < s.heads; ++h) {
    heads[h].keys[query] = s.keys;
    BackwardRowErrors of_bias;
    of_bias.own.assign(bounds.B.row(h).begin(), bounds.B.row(h).end());
    of_bias.total = of_bias.own;
    of_bias.left_out.assign(s.keys, 0.0);
    of_bias.left_out_rate.assign(s.keys, 0.0);
    for (int j = 0; j < s.keys; ++j) {
      set_pair(heads[h], query, j, grad.A(h, j), bounds.A(h, j));
    }
    const reference::Vector<RunningError> grad_bias = grad.B.row(h).transpose();
    const std::vector<double> bias(errors.numbers.B.row(h).begin(), errors.numbers.B.row(h).end());
    sums[h].add(contract_,
                {position, all, none, none, grad_bias, of_bias, 1.0,
                 bias_gradient_.row(batch, h, position, all, bias), nullptr, nullptr, true});
  }
  const auto add = [&](plumbline_parameter p, int head, std::size_t element, const RunningError& g,
                       double error, double size) {
    sums[head].add(p, element,
                   {g.value(), g.error(), size, error, size, static_cast<double>(s.keys)});
  };
  const auto& [first, second] = std::pair(grad.first, grad.second);
  for (Eigen::Index n = 0; n < first.weight.size(); ++n) {
    add(PLUMBLINE_HIDDEN_WEIGHT, 0, n, first.weight.data()[n], bounds.first_error.weight.data()[n],
        bounds.first_size.weight.data()[n]);
  }
  for (Eigen::Index n = 0; n < first.bias.size(); ++n) {
    add(PLUMBLINE_HIDDEN_BIAS, 0, n, first.bias[n], bounds.first_error.bias[n],
        bounds.first_size.bias[n]);
  }
  for (int h = 0; h < s.heads; ++h) {
    for (Eigen::Index n = 0; n < second.weight.cols(); ++n) {
      add(PLUMBLINE_OUTPUT_WEIGHT, h, n, second.weight(h, n), bounds.second_error.weight(h, n),
          bounds.second_size.weight(h, n));
    }
    add(PLUMBLINE_OUTPUT_BIAS, h, 0, second.bias[h], bounds.second_error.bias[h],
        bounds.second_size.bias[h]);
  }
}

}  // namespace plumbline::verdict
