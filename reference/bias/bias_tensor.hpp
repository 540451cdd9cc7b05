// SPDX-License-Identifier: Apache-2.0
// A tensor of biases, as PyTorch's scaled_dot_product_attention takes it (attn_mask of floats), and
// as T5, AlphaFold and Swin learn or compute it before the attention.
#pragma once

#include "reference/core/linear_algebra.hpp"
#include "reference/core/real.hpp"

namespace plumbline::reference {

/// b_ij = values(i - query_offset, j), or values(0, j) where there is one row for all queries.
/// Source: the documentation of torch.nn.functional.scaled_dot_product_attention, in which
/// attn_mask is added to the scaled scores. Shapes: values [queries or 1, keys], the part of a
/// tensor [batch or 1, heads or 1, queries or 1, keys] that is a head's. Exact.
template <Real R>
struct BiasTensor {
  Matrix<R> values;
  int query_offset = 0;

  using Grad = Matrix<R>;  ///< like values

  R operator()(int i, int j) const { return values(row(i), j); }
  Grad zero_grad() const {
    return zeros<R>(static_cast<int>(values.rows()), static_cast<int>(values.cols()));
  }
  /// d b_ij: d values(i - query_offset, j) = 1.
  void accumulate_grad(Grad& grad, int i, int j, const R& grad_bias) const {
    grad(row(i), j) += grad_bias;
  }

 private:
  Eigen::Index row(int i) const { return values.rows() == 1 ? 0 : i - query_offset; }
};

}  // namespace plumbline::reference
