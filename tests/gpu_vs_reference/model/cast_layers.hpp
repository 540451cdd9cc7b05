// SPDX-License-Identifier: Apache-2.0
// Layers with their parameters by name, in double with a format's casts: cast_step.cpp.
#pragma once

#include <string>

#include "reference/model/layernorm.hpp"
#include "reference/scalars/double.hpp"
#include "tests/gpu_vs_reference/model/cast_position.hpp"
#include "tests/gpu_vs_reference/model/casts.hpp"

namespace plumbline::gpu_tests {

/// What all layers read and add to. `weights` are the master weights as products read them.
struct CastModel {
  using Matrix = reference::Matrix<double>;
  using Vector = reference::Vector<double>;

  const Casts& casts;
  const Tensors& values;
  const Tensors& weights;
  Tensors& grads;
  double epsilon;

  /// X W^T + b, not stored yet; without bias where the model has none of that name.
  Matrix linear(const std::string& weight, const std::string& bias, const Matrix& X) const {
    Matrix Y = casts.operand(X) * weights.at(weight).transpose();
    if (values.contains(bias)) Y.rowwise() += weights.at(bias).col(0).transpose();
    return Y;
  }
  Matrix linear(const std::string& name, const Matrix& X) const {
    return linear(name + ".weight", name + ".bias", X);
  }

  /// Adds the parameters' gradients and returns dX, not stored yet. In tf32 the bias's gradient
  /// sums what is not rounded.
  Matrix linear_grad(const std::string& weight, const std::string& bias, const Matrix& X,
                     const Matrix& grad_y) const {
    const Matrix rounded = casts.operand(grad_y);
    grads.at(weight) += rounded.transpose() * casts.operand(X);
    if (values.contains(bias)) grads.at(bias) += grad_y.colwise().sum().transpose();
    return rounded * weights.at(weight);
  }
  Matrix linear_grad(const std::string& name, const Matrix& X, const Matrix& grad_y) const {
    return linear_grad(name + ".weight", name + ".bias", X, grad_y);
  }

  /// Stored.
  Matrix norm(const std::string& name, const Matrix& X) const {
    return casts.stored(reference::layernorm<double>(X, values.at(name + ".weight"),
                                                     values.at(name + ".bias"), epsilon));
  }
  /// Adds the parameters' gradients and returns dX, stored.
  Matrix norm_grad(const std::string& name, const Matrix& X, const Matrix& grad_y) const {
    const auto by =
        reference::layernorm_grad<double>(X, Vector(values.at(name + ".weight")), epsilon, grad_y);
    grads.at(name + ".weight") += by.gamma;
    grads.at(name + ".bias") += by.beta;
    return casts.stored(by.x);
  }
};

}  // namespace plumbline::gpu_tests
