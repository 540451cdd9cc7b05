// SPDX-License-Identifier: Apache-2.0
#include "verdict/bounds/dape_error.hpp"

#include <cmath>

#include "verdict/bounds/roundoff.hpp"

namespace plumbline::verdict {
namespace {

using reference::KeyConvolution;
using Numbers = reference::Matrix<double>;

Numbers size_of(const Numbers& x) { return x.cwiseAbs(); }

/// The layer with the magnitudes of its weights.
KeyConvolution<double> sizes_of(const KeyConvolution<double>& layer) {
  return {size_of(layer.weight), layer.bias.cwiseAbs(), layer.width};
}

KeyConvolution<double> without_bias(KeyConvolution<double> layer) {
  layer.bias.setZero();
  return layer;
}

/// Of a sum of `terms` products, in any order, relative to the sum of their magnitudes.
double sum_roundoff(const Contract& contract, Eigen::Index terms) {
  const double r = contract.operand_roundoff;
  const double sum = gamma(static_cast<double>(terms), contract.unit_roundoff);
  return sum + r * (2 + r) * (1 + sum);
}

/// y = W x + b and the bound of a kernel's y, x being known within its error:
///   |W| e + (gamma + r (2 + r)(1 + gamma)) (|W| (|x| + e) + |b|).
Bounded convolved(const Contract& contract, const KeyConvolution<double>& layer, const Bounded& x) {
  const auto sizes = sizes_of(layer);
  const Eigen::Index terms = layer.weight.cols() + 1;
  const double roundoff = sum_roundoff(contract, terms);
  const Numbers carried = key_convolution(x.error, without_bias(sizes));
  const Numbers size = key_convolution(Numbers(size_of(x.value) + x.error), sizes);
  return {key_convolution(x.value, layer),
          second_order * (carried + roundoff * size).array() +
              static_cast<double>(terms) * result_underflow(contract)};
}

/// The adjoint in x of grad_y: |W|^T e + (gamma + ...) |W|^T (|dy| + e).
Bounded convolved_back(const Contract& contract, const KeyConvolution<double>& layer,
                       const Bounded& x, const Bounded& grad_y) {
  const auto sizes = sizes_of(layer);
  const Eigen::Index terms = layer.weight.rows() * layer.width;
  const double roundoff = sum_roundoff(contract, terms);
  const Numbers carried = key_convolution_grad(x.value, sizes, grad_y.error).x;
  const Numbers size =
      key_convolution_grad(x.value, sizes, Numbers(size_of(grad_y.value) + grad_y.error)).x;
  return {key_convolution_grad(x.value, layer, grad_y.value).x,
          second_order * (carried + roundoff * size).array() +
              static_cast<double>(terms) * result_underflow(contract)};
}

/// Of the parameters' gradients: |x| e_dy + e_x (|dy| + e_dy), and the sizes of the terms.
void parameter_errors(const KeyConvolution<double>& layer, const Bounded& x, const Bounded& grad_y,
                      reference::KeyConvolutionGrad<double>& error,
                      reference::KeyConvolutionGrad<double>& size) {
  const Numbers dy = size_of(grad_y.value) + grad_y.error;
  error = key_convolution_grad(size_of(x.value), layer, grad_y.error);
  error.weight += key_convolution_grad(x.error, layer, dy).weight;
  size = key_convolution_grad(Numbers(size_of(x.value) + x.error), layer, dy);
}

}  // namespace

/// LeakyReLU is 1-Lipschitz; below 0 its factor and the product round, 2u |x| / 100. The sum of A,
/// B and f, in any order, rounds twice, once of which the score's own error counts.
DapeErrors dape_errors(const Contract& contract, const DapeNumbers& row,
                       const reference::DapeLayers<double>& layers) {
  DapeErrors errors;
  errors.features = {reference::dape_features(row.A, row.B, row.seen),
                     reference::dape_features(row.A_error, row.B_error, row.seen)};
  errors.before = convolved(contract, layers.first, errors.features);
  errors.hidden = errors.before;
  for (double& x : errors.hidden.value.reshaped()) x = reference::leaky_relu(x);
  errors.hidden.error += 2 * u * size_of(errors.hidden.value) + 2 * u * errors.hidden.error;
  const Bounded f = convolved(contract, layers.second, errors.hidden);
  const Numbers size = size_of(row.A) + size_of(row.B) + size_of(f.value) + f.error;
  errors.added = row.B_error + f.error + u * (1 + 0x1p-16) * size;
  for (Eigen::Index n = 0; n < size.size(); ++n) {
    double& error = errors.added.data()[n];
    // Beyond this a correct kernel may overflow.
    error = size.data()[n] < 0x1p127 ? or_infinity(error) : INFINITY;
  }
  return errors;
}

/// Where the kernel's `before` may have either sign its derivative is 1 or 1/100.
DapeGradientErrors dape_gradient_errors(const Contract& contract, const DapeNumbers& row,
                                        const reference::DapeLayers<double>& layers,
                                        const DapeErrors& errors, const Bounded& grad_logits) {
  DapeGradientErrors result;
  const Bounded grad_hidden = convolved_back(contract, layers.second, errors.hidden, grad_logits);
  Bounded grad_before = grad_hidden;
  for (Eigen::Index n = 0; n < errors.before.value.size(); ++n) {
    const double before = errors.before.value.data()[n];
    const bool either = std::abs(before) <= errors.before.error.data()[n];
    const double slope = reference::leaky_relu_derivative(before);
    const double size = std::abs(grad_hidden.value.data()[n]);
    double& error = grad_before.error.data()[n];
    grad_before.value.data()[n] *= slope;
    error = (either ? 1.0 : slope) * error * (1 + 2 * u) + 2 * u * slope * size +
            (either ? 0.99 * size : 0.0) + result_underflow(contract);
  }
  const Bounded grad_features =
      convolved_back(contract, layers.first, errors.features, grad_before);
  const auto with_own = [&](Eigen::Index first) {
    Numbers error = grad_logits.error;
    for (Eigen::Index h = 0; h < error.rows(); ++h) {
      for (int j = 0; j < row.seen; ++j) {
        const double through =
            std::abs(grad_features.value(first + h, j)) + grad_features.error(first + h, j);
        const double own = std::abs(grad_logits.value(h, j)) + error(h, j);
        error(h, j) =
            or_infinity(error(h, j) + grad_features.error(first + h, j) + u * (own + through));
      }
    }
    return error;
  };
  result.A = with_own(0);
  result.B = with_own(row.A.rows());
  parameter_errors(layers.second, errors.hidden, grad_logits, result.second_error,
                   result.second_size);
  parameter_errors(layers.first, errors.features, grad_before, result.first_error,
                   result.first_size);
  return result;
}

}  // namespace plumbline::verdict
