// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu_vs_reference/model/cast_attention.hpp"

#include <algorithm>
#include <cmath>

#include "reference/attention/ssmax.hpp"
#include "reference/scalars/double.hpp"

namespace plumbline::gpu_tests {

double CastAttention::scale() const { return 1.0 / std::sqrt(static_cast<double>(q[0].cols())); }

double CastAttention::factor(int head, std::size_t visible) const {
  if (ssmax_scale.empty()) return 1.0;
  return reference::ssmax_factor(ssmax_scale[head], static_cast<int>(visible));
}

void CastAttention::forward() {
  for (int h = 0; h < heads(); ++h) {
    const Matrix Q = casts.attention_operand(q[h]), K = casts.attention_operand(k[h]),
                 V = casts.attention_operand(v[h]);
    Matrix output = Matrix::Zero(Q.rows(), Q.cols());
    std::vector<double>& of_rows = lse.emplace_back(tokens());
    for (int i = 0; i < tokens(); ++i) {
      const std::vector<int> visible = reference::visible_keys(mask, 0, i, tokens());
      std::vector<double> weight;
      for (const int j : visible)
        weight.push_back(factor(h, visible.size()) *
                         (scale() * Q.row(i).dot(K.row(j)) + biases(h, i, j)));
      const double largest = *std::ranges::max_element(weight);
      double sum = 0;
      for (std::size_t n = 0; n < visible.size(); ++n) {
        weight[n] = std::exp(weight[n] - largest);
        sum += weight[n];
        output.row(i) += casts.operand(weight[n]) * V.row(visible[n]);
      }
      output.row(i) /= sum;
      of_rows[i] = largest + std::log(sum);
    }
    o.push_back(casts.stored(output));
  }
}

CastAttention::Grads CastAttention::backward(const std::vector<Matrix>& grad_o) {
  Grads grads;
  grads.ssmax_scale.resize(ssmax_scale.size());
  for (int h = 0; h < heads(); ++h) {
    const Matrix Q = casts.attention_operand(q[h]), K = casts.attention_operand(k[h]),
                 V = casts.attention_operand(v[h]), dO = casts.attention_operand(grad_o[h]);
    Matrix dQ = Matrix::Zero(Q.rows(), Q.cols()), dK = dQ, dV = dQ;
    for (int i = 0; i < tokens(); ++i) {
      const double delta = grad_o[h].row(i).dot(o[h].row(i));
      const std::vector<int> visible = reference::visible_keys(mask, 0, i, tokens());
      for (const int j : visible) {
        const double c = factor(h, visible.size());
        const double z = scale() * Q.row(i).dot(K.row(j)) + biases(h, i, j);
        const double p = std::exp(c * z - lse[h][i]);
        const double ds = p * (dO.row(i).dot(V.row(j)) - delta), dz = c * ds;
        if (!ssmax_scale.empty())
          grads.ssmax_scale[h] += std::log(static_cast<double>(visible.size())) * ds * z;
        biases.add_grad(h, i, j, dz);
        dV.row(j) += casts.operand(p) * dO.row(i);
        dK.row(j) += scale() * casts.operand(dz) * Q.row(i);
        dQ.row(i) += scale() * casts.operand(dz) * K.row(j);
      }
    }
    grads.q.push_back(std::move(dQ));
    grads.k.push_back(std::move(dK));
    grads.v.push_back(std::move(dV));
  }
  return grads;
}

}  // namespace plumbline::gpu_tests
