// SPDX-License-Identifier: Apache-2.0
// AdamW and RAdam with decoupled weight decay, one tensor at a time.
#ifndef PLUMBLINE_GPU_OPS_OPTIMIZER_CUH
#define PLUMBLINE_GPU_OPS_OPTIMIZER_CUH

#include <cstddef>

#include "core/launch.cuh"

namespace plumbline::gpu {

/// One group of parameters: tensors that do not decay (rank 1, biases, priors) are stepped with
/// weight_decay 0.
struct AdamSettings {
  double learning_rate;       ///< >= 0, finite
  double beta1 = 0.9;         ///< in (0, 1)
  double beta2 = 0.95;        ///< in (0, 1)
  double epsilon = 1e-8;      ///< > 0, finite, and not 0 in fp32
  double weight_decay = 0.0;  ///< lambda >= 0, finite
};

/// The arrays of one tensor, in device memory, each [count].
template <class Element>
struct AdamTensor {
  float* master;              ///< theta, in fp32 whatever the model computes in
  float *mean, *mean_square;  ///< m and v, 0 before the first step
  const float* grad;          ///< g
  Element* copy;  ///< theta rounded to the model's format, written beside it; null: none
  std::size_t count;
};

/// One step of AdamW, the `step`-th, from 1:
///   theta <- (1 - rate lambda) theta,   g <- factor g,
///   m <- beta1 m + (1 - beta1) g,   v <- beta2 v + (1 - beta2) g^2,
///   theta <- theta - rate (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon).
/// Source: Loshchilov, Hutter, "Decoupled Weight Decay Regularization", arXiv:1711.05101, algorithm
/// 2, lambda multiplied by the rate as in PyTorch. `grad_factor` points to one float in device
/// memory, that of global-norm clipping (ops/global_norm.cuh), or is null: 1. Where it is NaN, as
/// that of a gradient that is not finite, the step changes nothing. Element is float, bfloat16 or
/// float16. The arithmetic is fp32; what depends on the settings alone is computed in double and
/// rounded once. Error: docs/bounds-ops.md. Throws std::invalid_argument for settings outside their
/// domains, step < 1 and null arrays.
template <class Element>
void adamw_step(const Stream& stream, const AdamSettings& settings, int step,
                const float* grad_factor, const AdamTensor<Element>& tensor);

/// The length rho_t above which RAdam rectifies: algorithm 2 has 4, PyTorch and the authors' code
/// have 5. There is no default.
enum class RadamThreshold { paper = 4, pytorch = 5 };

/// One step of RAdam: theta, g, m and v as above; with n = m / (1 - beta1^t),
///   rho_inf = 2 / (1 - beta2) - 1,   rho_t = rho_inf - 2 t beta2^t / (1 - beta2^t),
///   r_t = sqrt((rho_t - 4)(rho_t - 2) rho_inf / ((rho_inf - 4)(rho_inf - 2) rho_t)),
///   rho_t > threshold:  theta <- theta - rate r_t n sqrt(1 - beta2^t) / (sqrt(v) + epsilon),
///   else                theta <- theta - rate n.
/// Source: Liu et al., "On the Variance of the Adaptive Learning Rate and Beyond",
/// arXiv:1908.03265, algorithm 2; epsilon where PyTorch has it. The rest as above.
template <class Element>
void radam_step(const Stream& stream, const AdamSettings& settings, RadamThreshold threshold,
                int step, const float* grad_factor, const AdamTensor<Element>& tensor);

}  // namespace plumbline::gpu

#endif
