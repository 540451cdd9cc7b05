// SPDX-License-Identifier: Apache-2.0
#include "reference/blocked/products.hpp"

#include <algorithm>

#include "reference/blocked/threads.hpp"

namespace plumbline::reference::blocked {
namespace {

Dense dense(const Matrix<double>& x) { return {x.data(), x.cols(), false}; }
Dense transposed(const Matrix<double>& x) { return {x.data(), x.cols(), true}; }

/// A B for [m, k] and [k, n], in blocks of C that follow from its size alone.
Matrix<double> product(Dense a, Dense b, int m, int n, int k, int threads) {
  constexpr int block_rows = 256, block_columns = 1024;
  Matrix<double> c = zeros<double>(m, n);
  if (k == 0) return c;
  const int down = (m + block_rows - 1) / block_rows;
  const int across = (n + block_columns - 1) / block_columns;
  for_each_unit(down * across, threads, [&](int unit, int) {
    const int row = unit / across * block_rows, column = unit % across * block_columns;
    Dense rows = a, columns = b;
    rows.data += row * (a.transposed ? 1 : a.stride);
    columns.data += column * (b.transposed ? b.stride : 1);
    kernels().multiply(std::min(block_rows, m - row), std::min(block_columns, n - column), k, rows,
                       columns, c.data() + row * c.cols() + column, c.cols());
  });
  return c;
}

}  // namespace

Matrix<double> linear(const Matrix<double>& X, const Matrix<double>& W, const Vector<double>& b,
                      int threads) {
  require(W.cols() == X.cols(), "W.cols()", W.cols(), "the columns of X");
  require(b.size() == 0 || b.size() == W.rows(), "b.size()", b.size(), "the rows of W, or 0");
  Matrix<double> Y = product(dense(X), transposed(W), static_cast<int>(X.rows()),
                             static_cast<int>(W.rows()), static_cast<int>(X.cols()), threads);
  if (b.size() > 0) Y.rowwise() += b.transpose();
  return Y;
}

LinearLayerGrad<double> linear_grad(const Matrix<double>& X, const Matrix<double>& W,
                                    const Matrix<double>& grad_y, int threads) {
  require(W.cols() == X.cols(), "W.cols()", W.cols(), "the columns of X");
  require(grad_y.rows() == X.rows(), "grad_y.rows()", grad_y.rows(), "the rows of X");
  require(grad_y.cols() == W.rows(), "grad_y.cols()", grad_y.cols(), "the rows of W");
  const int T = static_cast<int>(X.rows()), in = static_cast<int>(W.cols());
  const int out = static_cast<int>(W.rows());
  LinearLayerGrad<double> grad{product(dense(grad_y), dense(W), T, in, out, threads),
                               product(transposed(grad_y), dense(X), out, in, T, threads),
                               zeros<double>(out)};
  for (int t = 0; t < T; ++t) grad.b += grad_y.row(t).transpose();
  return grad;
}

}  // namespace plumbline::reference::blocked
