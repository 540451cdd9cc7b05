// SPDX-License-Identifier: Apache-2.0
// CoPE: positions that count the keys which the query lets through. Source: Golovneva et al.,
// "Contextual Position Encoding: Learning to Count What's Important", arXiv:2405.18719, section 4.
#pragma once

#include <type_traits>
#include <vector>

#include "reference/attention/attention.hpp"
#include "reference/core/linear_algebra.hpp"
#include "reference/core/preconditions.hpp"
#include "reference/core/primitives.hpp"
#include "reference/core/sum.hpp"

namespace plumbline::reference {

/// max(1 - |x|, 0): the weight of a table's row at distance x in linear interpolation. With it an
/// equation interpolates without branching on a position. Derivative: -sign(x) within, 0 outside,
/// and 0 at its kinks x = -1, 0, 1.
template <Real R>
R hat(const R& x) {
  return relu(R(1.0) - absolute(x));
}

template <Real R>
R hat_derivative(const R& x) {
  return -(sign(x) * step(R(1.0) - absolute(x)));
}

/// g (1 - g), g = logistic(x), the derivative of logistic: t / (1 + t)^2 with t = e^-|x|, which has
/// a small relative error for any x.
template <Real R>
R logistic_slope(const R& x) {
  const R t = exp(-absolute(x)), sum = R(1.0) + t;
  return t / (sum * sum);
}

/// What CoPE computes on the way to a row's logits, over the visible keys in their order.
template <Real R>
struct CopeRow {
  Vector<R> scores;    ///< [visible] s_j = scale q . k_j
  Vector<R> counts;    ///< [visible] the sums of gates before they are clamped
  Vector<R> position;  ///< [visible] p_j
  Vector<R> by_row;    ///< [rows of the table] z_n = q . E_n, q not scaled
  Vector<R> logits;    ///< [visible]
};

/// logits_j = s_j + sum_n hat(p_j - n) z_n, where s_j = scale q . k_j, the gates are logistic(s_k),
/// p_j = min(sum of the gates of the visible keys k >= j, N - 1) and z_n = q . E_n: the embedding
/// of position p_j, linearly interpolated between floor(p_j) and ceil(p_j).
/// Under a causal mask p_ij sums the gates of j..i, both ends among them. Source: Golovneva et al.,
/// section 4; the published code gates by the scaled logits and clamps at N - 1.
/// Shapes: q_i [head_dim], K [keys, head_dim], E [N, head_dim], results as CopeRow says.
/// Continuous, but not smooth where a p_j is an integer. @throws std::invalid_argument if shapes do
/// not agree, the table has no row, or a visible key does not exist.
template <Real R>
CopeRow<R> cope_row(const Vector<R>& q_i, const Matrix<R>& K, const std::vector<int>& visible,
                    const std::type_identity_t<R>& scale, const Matrix<R>& table) {
  require(table.rows() >= 1, "table.rows()", table.rows(), "at least 1");
  require(table.cols() == q_i.size(), "table.cols()", table.cols(), "the size of q_i");
  const int count = static_cast<int>(visible.size()), rows = static_cast<int>(table.rows());
  CopeRow<R> row_i;
  row_i.scores = scaled_scores(q_i, K, visible, scale);
  row_i.by_row.resize(rows);
  for (int n = 0; n < rows; ++n) row_i.by_row[n] = dot(view(q_i), row(table, n));
  row_i.counts.resize(count);
  row_i.position.resize(count);
  row_i.logits.resize(count);
  R total(0.0);
  for (int j = count - 1; j >= 0; --j) {
    total += logistic(row_i.scores[j]);
    row_i.counts[j] = total;
    row_i.position[j] = -maximum(-total, R(1 - rows));
    Vector<R> weights(rows);
    for (int n = 0; n < rows; ++n) weights[n] = hat(row_i.position[j] - R(n));
    row_i.logits[j] = row_i.scores[j] + dot(weights, row_i.by_row);
  }
  return row_i;
}

/// The gradients of a row's scores s and of its z.
template <Real R>
struct CopeLogitsGrad {
  Vector<R> scores;  ///< [visible]
  Vector<R> by_row;  ///< [rows of the table]
};

/// The adjoint for dL/dlogits = dl, with gates g:
///   dz_n = sum_j dl_j hat(p_j - n),
///   dp_j = dl_j [count_j < N - 1] sum_n hat'(p_j - n) z_n, that is z_ceil - z_floor,
///   ds_k = dl_k + g_k (1 - g_k) sum over visible j <= k of dp_j.
/// Where p_j is an integer, or clamped, dp_j is 0, as the published code has it (floor and ceil are
/// the same row there): not the mean of the slopes to either side.
/// @param row_i what cope_row returned. @throws std::invalid_argument if dl has not one number a
/// visible key.
template <Real R>
CopeLogitsGrad<R> cope_logits_grad(const CopeRow<R>& row_i, const Vector<R>& grad_logits) {
  const int count = static_cast<int>(row_i.scores.size());
  const int rows = static_cast<int>(row_i.by_row.size());
  require(grad_logits.size() == count, "grad_logits.size()", grad_logits.size(),
          "the number of visible keys");
  CopeLogitsGrad<R> grad{Vector<R>(count), zeros<R>(rows)};
  R grad_gate(0.0);  // the sum of dp_j over visible j <= k
  for (int k = 0; k < count; ++k) {
    Vector<R> slopes(rows);
    for (int n = 0; n < rows; ++n) {
      const R distance = row_i.position[k] - R(n);
      grad.by_row[n] += grad_logits[k] * hat(distance);
      slopes[n] = hat_derivative(distance);
    }
    const R unclamped = step(R(rows - 1) - row_i.counts[k]);
    grad_gate += grad_logits[k] * unclamped * dot(slopes, row_i.by_row);
    grad.scores[k] = grad_logits[k] + logistic_slope(row_i.scores[k]) * grad_gate;
  }
  return grad;
}

template <Real R>
struct CopeGrad {
  Vector<R> q;      ///< [head_dim]
  Matrix<R> k;      ///< [keys, head_dim]; 0 for keys that are not visible
  Matrix<R> table;  ///< [N, head_dim]
};

/// The adjoint for dL/dlogits = dl: with ds and dz of cope_logits_grad
///   dq = scale sum_j ds_j k_j + sum_n dz_n E_n,  dk_j = scale ds_j q,  dE_n = dz_n q.
/// Arguments as for cope_row.
/// @throws std::invalid_argument as cope_row does, and if dl has not one number a visible key.
template <Real R>
CopeGrad<R> cope_row_grad(const Vector<R>& q_i, const Matrix<R>& K, const std::vector<int>& visible,
                          const std::type_identity_t<R>& scale, const Matrix<R>& table,
                          const Vector<R>& grad_logits) {
  const CopeLogitsGrad<R> by =
      cope_logits_grad(cope_row(q_i, K, visible, scale, table), grad_logits);
  CopeGrad<R> grad{zeros<R>(static_cast<int>(q_i.size())),
                   zeros<R>(static_cast<int>(K.rows()), static_cast<int>(K.cols())),
                   zeros<R>(static_cast<int>(table.rows()), static_cast<int>(table.cols()))};
  for (std::size_t n = 0; n < visible.size(); ++n) {
    const R by_product = scale * by.scores[n];
    for (Eigen::Index d = 0; d < q_i.size(); ++d) {
      grad.q[d] += by_product * K(visible[n], d);
      grad.k(visible[n], d) += by_product * q_i[d];
    }
  }
  for (Eigen::Index n = 0; n < table.rows(); ++n) {
    for (Eigen::Index d = 0; d < q_i.size(); ++d) {
      grad.q[d] += by.by_row[n] * table(n, d);
      grad.table(n, d) = by.by_row[n] * q_i[d];
    }
  }
  return grad;
}

}  // namespace plumbline::reference
