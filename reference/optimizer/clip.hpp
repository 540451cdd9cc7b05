// SPDX-License-Identifier: Apache-2.0
// Clipping by the global norm. Source: Pascanu, Mikolov, Bengio, "On the difficulty of training
// recurrent neural networks", arXiv:1211.5063, algorithm 1, over all tensors of a model together.
#pragma once

#include <cmath>
#include <type_traits>

#include "reference/optimizer/moments.hpp"

namespace plumbline::reference {

/// Sums up the squares of all gradients, tensor after tensor in the order of `add`, each tensor row
/// by row: |g| = sqrt(sum_tensors sum_n g_n^2), one norm for the whole model.
template <Real R>
class GlobalNorm {
 public:
  template <Tensor T>
  void add(const T& grad) {
    for (Eigen::Index n = 0; n < grad.size(); ++n) sum_of_squares_ += square(grad.data()[n]);
  }

  /// 0 if nothing was added. The derivative exists where the norm is not 0.
  R value() const { return sqrt(sum_of_squares_); }

 private:
  R sum_of_squares_ = R(0.0);
};

/// What PyTorch's clip_grad_norm_ adds to the norm before it divides by it.
inline constexpr double pytorch_clip_epsilon = 1e-6;

/// The factor of every gradient: min(1, max_norm / (norm + epsilon)), as max_norm / max(norm +
/// epsilon, max_norm), which divides by no norm of 0. With epsilon = 0, algorithm 1: a clipped
/// gradient then has the norm max_norm exactly. With PyTorch's, as CABLE and BAM were trained, it
/// falls short of that by up to epsilon, and a norm in (max_norm - epsilon, max_norm] is already
/// clipped. Domain: norm >= 0.
/// @throws std::invalid_argument unless norm >= 0, max_norm > 0 and epsilon >= 0, all finite.
template <Real R>
R clip_factor(const R& norm, const std::type_identity_t<R>& max_norm,
              const std::type_identity_t<R>& epsilon) {
  const double n = representative(norm), most = representative(max_norm);
  const double extra = representative(epsilon);
  require(n >= 0 && std::isfinite(n), "norm", n, "finite and at least 0");
  require(most > 0 && std::isfinite(most), "max_norm", most, "finite and above 0");
  require(extra >= 0 && std::isfinite(extra), "epsilon", extra, "finite and at least 0");
  return max_norm / maximum(norm + epsilon, max_norm);
}

/// g <- factor g, one tensor.
template <Tensor T>
void scale_gradient(T& grad, const typename T::Scalar& factor) {
  for (Eigen::Index n = 0; n < grad.size(); ++n) grad.data()[n] = factor * grad.data()[n];
}

}  // namespace plumbline::reference
