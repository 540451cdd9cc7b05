// SPDX-License-Identifier: Apache-2.0
#include "verdict/bounds/score_method_errors.hpp"

#include <cmath>
#include <numeric>

#include "verdict/bounds/forward.hpp"
#include "verdict/oracle/certified.hpp"

namespace plumbline::verdict {
namespace {

using reference::RunningError;

reference::Matrix<double> values_of(const reference::Matrix<RunningError>& x) {
  reference::Matrix<double> result(x.rows(), x.cols());
  for (Eigen::Index n = 0; n < x.size(); ++n) result.data()[n] = x.data()[n].value();
  return result;
}

}  // namespace

ScoreMethodErrors::ScoreMethodErrors(const cases::Case& the_case, const Contract& contract,
                                     const Reading& reading, const BiasError& bias_error)
    : case_(the_case), contract_(contract), reading_(reading), bias_error_(bias_error) {
  const auto& s = case_.spec;
  if (s.bias.dape_taps() == 0) return;
  const auto layers = reading.dape_layers();
  const auto in_double = [](const reference::KeyConvolution<RunningError>& layer) {
    reference::KeyConvolution<double> result{values_of(layer.weight), {}, layer.width};
    result.bias.resize(layer.bias.size());
    for (Eigen::Index n = 0; n < layer.bias.size(); ++n) result.bias[n] = layer.bias[n].value();
    return result;
  };
  layers_ = {in_double(layers.first), in_double(layers.second)};
  dape_rows_.resize(static_cast<std::size_t>(s.batch) * s.queries);
  dape_read_ = std::make_unique<std::once_flag[]>(dape_rows_.size());
}

std::vector<double> ScoreMethodErrors::product_errors(int batch, int head, int query,
                                                      const std::vector<int>& keys) const {
  const auto& s = case_.spec;
  const int kv = batch * s.kv_heads + head / (s.heads / s.kv_heads);
  const auto q = reading_.q(batch, head, query);
  const auto of_head = reading_.k(kv);
  std::vector<double> product, size;
  for (const int key : keys) {
    const auto k = reference::row(*of_head, key);
    double sum = 0.0, magnitude = 0.0;
    for (int d = 0; d < s.head_dim; ++d) {
      sum += q[d].value() * k[d].value();
      magnitude += std::abs(q[d].value() * k[d].value());
    }
    product.push_back(case_.scale * sum);
    size.push_back(case_.scale * magnitude);
  }
  const std::vector<double> no_bias(keys.size(), 0.0);
  return score_errors(contract_, s.head_dim, case_.scale, false, 1.0, product, size, no_bias);
}

CopeRowErrors ScoreMethodErrors::cope(int batch, int head, int query,
                                      const std::vector<int>& visible) const {
  CopeRowErrors row;
  row.exact = reading_.cope_row(batch, head, query, visible);
  row.score_error = product_errors(batch, head, query, visible);
  const auto q = reading_.q(batch, head, query);
  const auto table = reading_.position_embedding(head);
  for (Eigen::Index n = 0; n < table.rows(); ++n) {
    double size = 0.0;
    for (Eigen::Index d = 0; d < table.cols(); ++d) {
      size += std::abs(q[d].value() * table(n, d).value());
    }
    row.table_size.push_back(size);
  }
  row.errors = cope_errors(contract_, row.numbers(case_.spec.head_dim));
  return row;
}

const DapeRowErrors& ScoreMethodErrors::dape(int batch, int query) const {
  const std::size_t n = static_cast<std::size_t>(batch) * case_.spec.queries + query;
  std::call_once(dape_read_[n], [&] { dape_rows_[n] = read_dape(batch, query); });
  return dape_rows_[n];
}

DapeRowErrors ScoreMethodErrors::read_dape(int batch, int query) const {
  const auto& s = case_.spec;
  const auto& exact = reading_.dape_row(batch, query);
  std::vector<int> all(s.keys);
  std::iota(all.begin(), all.end(), 0);
  DapeRowErrors row;
  row.numbers = {values_of(exact.A), values_of(exact.B), reference::Matrix<double>(s.heads, s.keys),
                 reference::Matrix<double>(s.heads, s.keys), reading_.dape_seen(query)};
  for (int h = 0; h < s.heads; ++h) {
    const auto A = product_errors(batch, h, query, all);
    const std::vector<double> b(row.numbers.B.row(h).begin(), row.numbers.B.row(h).end());
    const auto B = bias_error_.row(batch, h, case_.position(batch, query), all, b);
    for (int j = 0; j < s.keys; ++j) {
      row.numbers.A_error(h, j) = A[j];
      row.numbers.B_error(h, j) = B[j];
    }
  }
  row.errors = dape_errors(contract_, row.numbers, layers_);
  return row;
}

std::vector<double> ScoreMethodErrors::added(int batch, int head, int query,
                                             const std::vector<int>& visible) const {
  if (case_.spec.bias.method == PLUMBLINE_COPE) {
    return cope(batch, head, query, visible).errors.added;
  }
  const auto& errors = dape(batch, query).errors.added;
  std::vector<double> result;
  for (const int key : visible) result.push_back(errors(head, key));
  return result;
}

}  // namespace plumbline::verdict
