// SPDX-License-Identifier: Apache-2.0
// What Adam, AdamW and RAdam share: settings, the two running means of a tensor's gradients, and
// what all of them refuse. Source: Kingma, Ba, "Adam", arXiv:1412.6980, algorithm 1.
#pragma once

#include <cmath>
#include <concepts>
#include <type_traits>

#include "reference/core/linear_algebra.hpp"
#include "reference/core/preconditions.hpp"
#include "reference/core/primitives.hpp"
#include "reference/core/square.hpp"

namespace plumbline::reference {

/// A parameter of a model: a matrix (rank 2) or a vector (rank 1).
template <class T>
concept Tensor =
    std::same_as<T, Vector<typename T::Scalar>> || std::same_as<T, Matrix<typename T::Scalar>>;

template <Tensor T>
inline constexpr int rank = std::same_as<T, Matrix<typename T::Scalar>> ? 2 : 1;

/// The defaults are CABLE's, but for the learning rate, which has none, and the weight decay: 0.1
/// there, on the tensors that optimizer/weight_decay.hpp names.
template <Real R>
struct AdamSettings {
  R learning_rate;          ///< >= 0, finite
  R beta1 = R(0.9);         ///< in (0, 1)
  R beta2 = R(0.95);        ///< in (0, 1)
  R epsilon = R(1e-8);      ///< > 0, finite
  R weight_decay = R(0.0);  ///< lambda >= 0, finite
};

/// The running means of one tensor after `step` steps.
template <Tensor T>
struct Moments {
  T first;       ///< m, of the gradients; shape of the tensor
  T second;      ///< v, of their squares, >= 0; shape of the tensor
  int step = 0;  ///< t, the steps taken so far
};

/// m_0 = v_0 = 0, t = 0.
template <Tensor T>
Moments<T> no_moments(const T& parameter) {
  const T zero = T::Constant(parameter.rows(), parameter.cols(), typename T::Scalar(0.0));
  return {zero, zero, 0};
}

/// What a step of Adam, AdamW and RAdam demands before it changes anything.
/// @throws std::invalid_argument if a shape is not the parameter's, step is negative, a beta is not
/// in (0, 1), epsilon is not above 0, or learning_rate or weight_decay is negative; if one of them
/// is not finite.
template <Tensor T, Real R>
void check_step(const T& parameter, const std::type_identity_t<T>& grad,
                const Moments<std::type_identity_t<T>>& moments, const AdamSettings<R>& settings) {
  const auto shaped = [&](const T& tensor, const char* rows, const char* columns) {
    require(tensor.rows() == parameter.rows(), rows, tensor.rows(), "the rows of the parameter");
    require(tensor.cols() == parameter.cols(), columns, tensor.cols(),
            "the columns of the parameter");
  };
  shaped(grad, "grad.rows()", "grad.cols()");
  shaped(moments.first, "moments.first.rows()", "moments.first.cols()");
  shaped(moments.second, "moments.second.rows()", "moments.second.cols()");
  require(moments.step >= 0, "moments.step", moments.step, "at least 0");
  const auto number = [](const R& x) { return representative(x); };
  const double rate = number(settings.learning_rate), decay = number(settings.weight_decay);
  const double beta1 = number(settings.beta1), beta2 = number(settings.beta2);
  const double epsilon = number(settings.epsilon);
  require(rate >= 0 && std::isfinite(rate), "learning_rate", rate, "finite and at least 0");
  require(0 < beta1 && beta1 < 1, "beta1", beta1, "between 0 and 1");
  require(0 < beta2 && beta2 < 1, "beta2", beta2, "between 0 and 1");
  require(epsilon > 0 && std::isfinite(epsilon), "epsilon", epsilon, "finite and above 0");
  require(decay >= 0 && std::isfinite(decay), "weight_decay", decay, "finite and at least 0");
}

/// t <- t + 1, m <- beta1 m + (1 - beta1) g, v <- beta2 v + (1 - beta2) g^2.
template <Tensor T, Real R>
void add_gradient(Moments<T>& moments, const T& grad, const AdamSettings<R>& settings) {
  const R one(1.0);
  for (Eigen::Index n = 0; n < grad.size(); ++n) {
    const R& g = grad.data()[n];
    R& m = moments.first.data()[n];
    R& v = moments.second.data()[n];
    m = settings.beta1 * m + (one - settings.beta1) * g;
    v = settings.beta2 * v + (one - settings.beta2) * square(g);
  }
  ++moments.step;
}

/// g + lambda theta: the gradient of the loss with lambda/2 |theta|^2 added to it.
template <Tensor T, Real R>
T with_l2_penalty(const T& grad, const T& parameter, const R& weight_decay) {
  T sum = grad;
  for (Eigen::Index n = 0; n < grad.size(); ++n) {
    sum.data()[n] += weight_decay * parameter.data()[n];
  }
  return sum;
}

/// theta <- theta - rate lambda theta: decay that the running means never see.
template <Tensor T, Real R>
void decay_decoupled(T& parameter, const AdamSettings<R>& settings) {
  const R kept = R(1.0) - settings.learning_rate * settings.weight_decay;
  for (Eigen::Index n = 0; n < parameter.size(); ++n) {
    parameter.data()[n] = parameter.data()[n] * kept;
  }
}

/// 1 - beta^t: what a running mean of t equal numbers, begun at 0, holds of them.
template <Real R>
R bias_correction(const R& beta, int step) {
  return R(1.0) - power(beta, R(step));
}

}  // namespace plumbline::reference
