// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_BIAS_GGD_CUH
#define PLUMBLINE_GPU_BIAS_GGD_CUH

#include "bias/policy.cuh"

namespace plumbline::gpu {

/// BAM's generalised Gaussian prior (Bianchessi et al., appendix C):
/// b_ij = -exp(theta_alpha) (|j - i - mu| + epsilon)^theta_beta, mu = exp(theta_mu) -
/// exp(-theta_mu).
///
/// mu = 2 sinh(theta_mu) is evaluated in double once per query: the difference of two fp32
/// exponentials has an absolute error of u, which near j - i = mu is all that stands beside
/// epsilon = 1e-5. Rounded to fp32 it carries u |mu|, never more than what theta_mu's own last bit
/// is worth. The offset j - i is exact in fp32 up to 2^24.
struct Ggd {
  struct Params {
    const float* theta_alpha;
    const float* theta_beta;
    const float* theta_mu;
    float epsilon;
  };
  struct Row {
    float amplitude;  // exp(theta_alpha)
    float exponent;   // theta_beta
    float mu;
    float epsilon;
  };

  static Params params(const BiasInputs& inputs) {
    return {inputs.theta_alpha, inputs.theta_beta, inputs.theta_mu, inputs.epsilon};
  }

  __device__ static Row load_row(const Params& p, const At& at) {
    return {expf(p.theta_alpha[at.head]), p.theta_beta[at.head],
            static_cast<float>(2.0 * sinh(static_cast<double>(p.theta_mu[at.head]))), p.epsilon};
  }

  __device__ static float add(const Params&, const Row& row, float x, const At& at) {
    const float distance = fabsf(static_cast<float>(at.key - at.position) - row.mu) + row.epsilon;
    return x - row.amplitude * powf(distance, row.exponent);
  }
};
static_assert(BiasPolicy<Ggd>);

}  // namespace plumbline::gpu

#endif
