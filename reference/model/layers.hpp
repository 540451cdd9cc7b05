// SPDX-License-Identifier: Apache-2.0
// The layers with their parameters, and adjoints that add to the parameters' gradients.
#pragma once

#include <utility>

#include "reference/model/layer_parameters.hpp"
#include "reference/model/layernorm.hpp"
#include "reference/model/linear_layer.hpp"
#include "reference/model/rmsnorm.hpp"

namespace plumbline::reference {

/// Every element, mapped; and its adjoint, dX = dY f'(X).
/// @throws std::invalid_argument if the shape of dY is not that of X.
template <Real R, class Function>
Matrix<R> elementwise(const Matrix<R>& X, const Function& function) {
  Matrix<R> Y(X.rows(), X.cols());
  for (Eigen::Index n = 0; n < X.size(); ++n) Y.data()[n] = function(X.data()[n]);
  return Y;
}

template <Real R, class Derivative>
Matrix<R> elementwise_grad(const Matrix<R>& X, const Derivative& derivative,
                           const Matrix<R>& grad_y) {
  require(grad_y.rows() == X.rows(), "grad_y.rows()", grad_y.rows(), "the rows of X");
  require(grad_y.cols() == X.cols(), "grad_y.cols()", grad_y.cols(), "the columns of X");
  Matrix<R> grad(X.rows(), X.cols());
  for (Eigen::Index n = 0; n < X.size(); ++n) {
    grad.data()[n] = grad_y.data()[n] * derivative(X.data()[n]);
  }
  return grad;
}

/// X + F, the residual connection around a layer. Its adjoint hands dY to both.
template <Real R>
Matrix<R> residual(Matrix<R> X, const Matrix<R>& F) {
  add_to(X, F);
  return X;
}

/// linear_layer, by the tier. The adjoint adds dW and db to `grad` and returns dX.
template <class Tier, Real R>
Matrix<R> linear(const LinearParameters<R>& p, const Matrix<R>& X) {
  return Tier::linear(X, p.weight, p.bias);
}

template <class Tier, Real R>
Matrix<R> linear_grad(const LinearParameters<R>& p, const Matrix<R>& X, const Matrix<R>& grad_y,
                      LinearParameters<R>& grad) {
  LinearLayerGrad<R> by = Tier::linear_grad(X, p.weight, grad_y);
  add_to(grad.weight, by.w);
  if (p.bias.size() > 0) add_to(grad.bias, by.b);
  return std::move(by.x);
}

/// layernorm. The adjoint adds d gamma and d beta to `grad` and returns dX.
template <Real R>
Matrix<R> layernorm(const NormParameters<R>& p, const Matrix<R>& X, double epsilon) {
  return layernorm(X, p.weight, p.bias, R(epsilon));
}

template <Real R>
Matrix<R> layernorm_grad(const NormParameters<R>& p, const Matrix<R>& X, double epsilon,
                         const Matrix<R>& grad_y, NormParameters<R>& grad) {
  LayerNormGrad<R> by = layernorm_grad(X, p.weight, R(epsilon), grad_y);
  add_to(grad.weight, by.gamma);
  add_to(grad.bias, by.beta);
  return std::move(by.x);
}

/// rmsnorm. The adjoint adds d gamma to `grad` and returns dX.
template <Real R>
Matrix<R> rmsnorm(const NormParameters<R>& p, const Matrix<R>& X, double epsilon) {
  return rmsnorm(X, p.weight, R(epsilon));
}

template <Real R>
Matrix<R> rmsnorm_grad(const NormParameters<R>& p, const Matrix<R>& X, double epsilon,
                       const Matrix<R>& grad_y, NormParameters<R>& grad) {
  RmsNormGrad<R> by = rmsnorm_grad(X, p.weight, R(epsilon), grad_y);
  add_to(grad.weight, by.gamma);
  return std::move(by.x);
}

}  // namespace plumbline::reference
