// SPDX-License-Identifier: Apache-2.0
// A convolution along the keys of a row of logits, over its heads as channels.
#pragma once

#include "reference/core/linear_algebra.hpp"
#include "reference/core/preconditions.hpp"
#include "reference/core/sum.hpp"

namespace plumbline::reference {

/// width 1 is a linear map of the channels, the same for every key.
template <Real R>
struct KeyConvolution {
  Matrix<R> weight;  ///< [out, in * width], element c * width + d for channel c and tap d
  Vector<R> bias;    ///< [out]
  int width = 1;     ///< odd: keys j - width/2 .. j + width/2
};

/// @throws std::invalid_argument naming what does not fit `channels` channels.
template <Real R>
void check(const KeyConvolution<R>& layer, Eigen::Index channels) {
  require(layer.width >= 1 && layer.width % 2 == 1, "width", layer.width, "odd and at least 1");
  require(layer.weight.cols() == channels * layer.width, "weight.cols()", layer.weight.cols(),
          "channels times width");
  require(layer.bias.size() == layer.weight.rows(), "bias.size()", layer.bias.size(),
          "the rows of weight");
}

/// The width keys around key j of every channel, 0 beyond either end: [in * width].
template <Real R>
Vector<R> keys_around(const Matrix<R>& x, int j, int width) {
  Vector<R> around = zeros<R>(static_cast<int>(x.rows()) * width);
  for (Eigen::Index c = 0; c < x.rows(); ++c) {
    for (int d = 0; d < width; ++d) {
      const int key = j + d - width / 2;
      if (0 <= key && key < x.cols()) around[c * width + d] = x(c, key);
    }
  }
  return around;
}

/// y_oj = b_o + sum_c sum_d W_o,(c,d) x_c,(j + d - width/2), with x = 0 beyond the keys: PyTorch's
/// Conv2d with a kernel of 1 x width and padding width/2.
/// Shapes: x [in, keys], result [out, keys]. @throws std::invalid_argument as check does.
template <Real R>
Matrix<R> key_convolution(const Matrix<R>& x, const KeyConvolution<R>& layer) {
  check(layer, x.rows());
  Matrix<R> y(layer.weight.rows(), x.cols());
  for (int j = 0; j < x.cols(); ++j) {
    const Vector<R> around = keys_around(x, j, layer.width);
    for (int o = 0; o < y.rows(); ++o) {
      y(o, j) = dot(row(layer.weight, o), view(around)) + layer.bias[o];
    }
  }
  return y;
}

template <Real R>
struct KeyConvolutionGrad {
  Matrix<R> x;       ///< [in, keys]
  Matrix<R> weight;  ///< [out, in * width]
  Vector<R> bias;    ///< [out]
};

/// The adjoint: dx_c,(j + d - width/2) += dy_oj W_o,(c,d), dW_o,(c,d) = sum_j dy_oj x_c,(j + d -
/// width/2), db_o = sum_j dy_oj.
/// @throws std::invalid_argument as check does, and if the shape of dy is not [out, keys].
template <Real R>
KeyConvolutionGrad<R> key_convolution_grad(const Matrix<R>& x, const KeyConvolution<R>& layer,
                                           const Matrix<R>& grad_y) {
  check(layer, x.rows());
  require(grad_y.rows() == layer.weight.rows(), "grad_y.rows()", grad_y.rows(),
          "the rows of weight");
  require(grad_y.cols() == x.cols(), "grad_y.cols()", grad_y.cols(), "the columns of x");
  const int out = static_cast<int>(grad_y.rows());
  KeyConvolutionGrad<R> grad{zeros<R>(static_cast<int>(x.rows()), static_cast<int>(x.cols())),
                             zeros<R>(out, static_cast<int>(layer.weight.cols())), zeros<R>(out)};
  for (int j = 0; j < x.cols(); ++j) {
    for (int o = 0; o < out; ++o) {
      grad.bias[o] += grad_y(o, j);
      for (Eigen::Index c = 0; c < x.rows(); ++c) {
        for (int d = 0; d < layer.width; ++d) {
          const int key = j + d - layer.width / 2;
          if (key < 0 || key >= x.cols()) continue;
          grad.x(c, key) += grad_y(o, j) * layer.weight(o, c * layer.width + d);
          grad.weight(o, c * layer.width + d) += grad_y(o, j) * x(c, key);
        }
      }
    }
  }
  return grad;
}

}  // namespace plumbline::reference
