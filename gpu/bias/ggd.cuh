// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_BIAS_GGD_CUH
#define PLUMBLINE_GPU_BIAS_GGD_CUH

#include "core/cuda.cuh"

namespace plumbline::gpu {

/// BAM's generalised Gaussian prior (Bianchessi et al., appendix C):
/// b = -exp(theta_alpha) y^theta_beta, y = |j - i - mu| + epsilon, mu = exp(theta_mu) -
/// exp(-theta_mu).
///
/// mu = 2 sinh(theta_mu) is evaluated in double: the difference of two fp32 exponentials has an
/// absolute error of u, which near j - i = mu is all that stands beside epsilon = 1e-5. Rounded to
/// fp32 it carries u |mu|, never more than what theta_mu's own last bit is worth. The offset is
/// exact in fp32 up to 2^24.
struct Ggd {
  float theta_alpha, theta_beta, theta_mu, epsilon;

  __device__ float mu() const {
    return static_cast<float>(2.0 * sinh(static_cast<double>(theta_mu)));
  }

  /// offset = i - j.
  __device__ float value(float offset) const {
    const float distance = fabsf(-offset - mu()) + epsilon;
    return -(expf(theta_alpha) * powf(distance, theta_beta));
  }

  static constexpr int kParameters = 3;

  /// Derivatives in theta_alpha, theta_beta and theta_mu:
  ///   b,  b ln y,  -b theta_beta / y sign(j - i - mu) (exp(theta_mu) + exp(-theta_mu)),
  /// the last 0 where j - i = mu.
  __device__ void derivatives(float offset, float* of) const {
    const float x = -offset - mu(), y = fabsf(x) + epsilon;
    const float b = value(offset);
    const auto rate = static_cast<float>(2.0 * cosh(static_cast<double>(theta_mu)));
    of[0] = b;
    of[1] = b * logf(y);
    of[2] = x == 0.0f ? 0.0f : -b * theta_beta / y * (x > 0.0f ? rate : -rate);
  }
};

}  // namespace plumbline::gpu

#endif
