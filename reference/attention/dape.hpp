// SPDX-License-Identifier: Apache-2.0
// DAPE: a positional bias that is corrected by the logits of all heads. Source: Zheng et al.,
// "DAPE: Data-Adaptive Positional Encoding for Length Extrapolation", arXiv:2405.14722 (version
// 1), and "DAPE V2: Process Attention Score as Feature Map", arXiv:2410.04798; code
// chuanyang-Zheng/DAPE.
#pragma once

#include "reference/attention/key_convolution.hpp"
#include "reference/core/linear_algebra.hpp"
#include "reference/core/preconditions.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::reference {

/// max(x, x/100), PyTorch's LeakyReLU. Derivative: 1 for x > 0, else 1/100.
template <Real R>
R leaky_relu(const R& x) {
  return maximum(x, x / R(100.0));
}

template <Real R>
R leaky_relu_derivative(const R& x) {
  const R positive = step(x);
  return positive + (R(1.0) - positive) / R(100.0);
}

/// f: 2H channels to a hidden width (32 in the published code) to H.
template <Real R>
struct DapeLayers {
  KeyConvolution<R> first, second;
};

/// [A; B] with the keys from `seen` on set to 0. Shapes: A, B [H, keys], result [2H, keys].
/// @throws std::invalid_argument if the shapes differ or seen is not in [0, keys].
template <Real R>
Matrix<R> dape_features(const Matrix<R>& A, const Matrix<R>& B, int seen) {
  require(B.rows() == A.rows(), "B.rows()", B.rows(), "the rows of A");
  require(B.cols() == A.cols(), "B.cols()", B.cols(), "the columns of A");
  require(0 <= seen && seen <= A.cols(), "seen", seen, "a number of keys");
  Matrix<R> features = zeros<R>(static_cast<int>(2 * A.rows()), static_cast<int>(A.cols()));
  features.topLeftCorner(A.rows(), seen) = A.leftCols(seen);
  features.bottomLeftCorner(A.rows(), seen) = B.leftCols(seen);
  return features;
}

/// One query's logits of all heads, A + B + f([A; B]): A the scaled products, B the biases of any
/// additive method, f = second(LeakyReLU(first(.))).
/// - Version 1: layers of width 1, so that every key is for itself; seen = the number of keys.
/// - Version 2: layers of width 3; seen = i + 1 hides the keys after the query from f's input, as
///   the published code's tril does. Nothing is masked between the layers: the hidden channels of
///   key i + 1, if there is one, are not 0 and reach the logits of key i, which thus depend on
///   whether the query's key is the last.
/// The softmax's mask comes after. Source: Zheng et al., as above; A is scaled and unmasked.
/// Shapes: A, B, result [H, keys]. @throws std::invalid_argument if shapes do not agree or seen is
/// not in [0, keys].
template <Real R>
Matrix<R> dape_row(const Matrix<R>& A, const Matrix<R>& B, const DapeLayers<R>& f, int seen) {
  Matrix<R> hidden = key_convolution(dape_features(A, B, seen), f.first);
  for (Eigen::Index n = 0; n < hidden.size(); ++n) hidden.data()[n] = leaky_relu(hidden.data()[n]);
  Matrix<R> logits = key_convolution(hidden, f.second);
  require(logits.rows() == A.rows(), "second.weight.rows()", logits.rows(), "the rows of A");
  for (Eigen::Index n = 0; n < A.size(); ++n) {
    logits.data()[n] = A.data()[n] + B.data()[n] + logits.data()[n];
  }
  return logits;
}

template <Real R>
struct DapeGrad {
  Matrix<R> A, B;  ///< [H, keys]
  KeyConvolutionGrad<R> first, second;
};

/// The adjoint for dl = dL/dlogits: dl passes to A and B, and back through f; the gradient of a key
/// that f does not see is dl alone. Arguments as for dape_row.
/// @throws std::invalid_argument as dape_row does, and if the shape of dl is not [H, keys].
template <Real R>
DapeGrad<R> dape_row_grad(const Matrix<R>& A, const Matrix<R>& B, const DapeLayers<R>& f, int seen,
                          const Matrix<R>& grad_logits) {
  require(f.second.weight.rows() == A.rows(), "second.weight.rows()", f.second.weight.rows(),
          "the rows of A");
  require(grad_logits.rows() == A.rows(), "grad_logits.rows()", grad_logits.rows(),
          "the rows of A");
  require(grad_logits.cols() == A.cols(), "grad_logits.cols()", grad_logits.cols(),
          "the columns of A");
  const Matrix<R> features = dape_features(A, B, seen);
  const Matrix<R> before = key_convolution(features, f.first);
  Matrix<R> hidden(before.rows(), before.cols());
  for (Eigen::Index n = 0; n < hidden.size(); ++n) hidden.data()[n] = leaky_relu(before.data()[n]);
  DapeGrad<R> grad{
      grad_logits, grad_logits, {}, key_convolution_grad(hidden, f.second, grad_logits)};
  Matrix<R> grad_before = grad.second.x;
  for (Eigen::Index n = 0; n < before.size(); ++n) {
    grad_before.data()[n] = grad_before.data()[n] * leaky_relu_derivative(before.data()[n]);
  }
  grad.first = key_convolution_grad(features, f.first, grad_before);
  for (Eigen::Index h = 0; h < A.rows(); ++h) {
    for (int j = 0; j < seen; ++j) {
      grad.A(h, j) += grad.first.x(h, j);
      grad.B(h, j) += grad.first.x(A.rows() + h, j);
    }
  }
  return grad;
}

}  // namespace plumbline::reference
