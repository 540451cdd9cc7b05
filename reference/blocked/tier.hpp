// SPDX-License-Identifier: Apache-2.0
// The tier of the models that computes at real size: the functions of Equations<double>
// (reference/model/tier.hpp) on Eigen's matrix products and streaming tiles.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "reference/blocked/attention_grad.hpp"
#include "reference/blocked/products.hpp"
#include "reference/blocked/tile_bias_of.hpp"
#include "reference/model/tier.hpp"

namespace plumbline::reference {

struct Blocked {
  using Scalar = double;

  /// As Equations<double>::linear.
  static Matrix<double> linear(const Matrix<double>& X, const Matrix<double>& W,
                               const Vector<double>& b) {
    return blocked::linear(X, W, b);
  }

  /// As Equations<double>::linear_grad.
  static LinearLayerGrad<double> linear_grad(const Matrix<double>& X, const Matrix<double>& W,
                                             const Matrix<double>& grad_y) {
    return blocked::linear_grad(X, W, grad_y);
  }

  /// As Equations<double>::attention. @throws also for numbers that are not finite.
  template <class BiasOf>
  static AttentionResult<double> attention(const AttentionInputs<double>& x,
                                           const BiasOf& bias_of) {
    const WithBias<BiasOf> with(x, bias_of);
    blocked::Attended attended = blocked::attention(with.problem);
    return {std::move(attended.output), std::move(attended.lse)};
  }

  /// As Equations<double>::attention_grad. The forward pass is computed again.
  template <class BiasOf>
  static auto attention_grad(const AttentionInputs<double>& x, const BiasOf& bias_of,
                             const AttentionUpstream<double>& upstream) {
    const WithBias<BiasOf> with(x, bias_of);
    blocked::Upstream from;
    for (const Matrix<double>& output : upstream.output) {
      from.output.push_back(blocked::stored(output));
    }
    from.lse = upstream.lse;
    blocked::Gradients sums =
        blocked::attention_grad(with.problem, blocked::attention(with.problem), from);
    using B = decltype(bias_of(0, 0));
    AttentionGrad<double, typename B::Grad> grad{
        std::move(sums.q), std::move(sums.k), std::move(sums.v), {}, std::move(sums.ssmax_scale)};
    for (std::size_t n = 0; n < with.biases.size(); ++n) {
      grad.bias.push_back(with.biases[n] ? with.biases[n]->grad(*sums.bias[n])
                                         : typename B::Grad());
    }
    return grad;
  }

 private:
  template <class BiasOf>
  struct WithBias {
    using B = decltype(std::declval<BiasOf>()(0, 0));

    WithBias(const AttentionInputs<double>& x, const BiasOf& bias_of)
        : problem(blocked::problem_of(x)) {
      check(x);
      for (int b = 0; b < x.shape.batch; ++b) {
        for (int h = 0; h < x.shape.heads; ++h) {
          biases.push_back(blocked::tile_bias_of(bias_of(b, h), x.shape, x.mask));
          problem.bias.push_back(biases.back().get());
        }
      }
    }

    std::vector<std::unique_ptr<blocked::DifferentiableTileBias<typename B::Grad>>> biases;
    blocked::Problem problem;
  };
};

static_assert(Tier<Blocked>);

}  // namespace plumbline::reference
