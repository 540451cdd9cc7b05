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

/// What a step needs of its settings and its number, the same for AdamW and RAdam:
///   theta <- kept theta - rate n scale / (sqrt(v second) + epsilon),   n = m first,
/// or without the quotient.
struct AdamNumbers {
  float beta1, fresh1;  ///< beta1 and 1 - beta1
  float beta2, fresh2;
  float first;   ///< 1 / (1 - beta1^t)
  float second;  ///< 1 / (1 - beta2^t); RAdam has it in `scale`
  float scale;   ///< r_t sqrt(1 - beta2^t); 1 for AdamW
  float rate, kept, epsilon;
  bool adaptive;
};

/// Those of AdamW's step, the `step`-th, from 1:
///   theta <- (1 - rate lambda) theta,   g <- factor g,
///   m <- beta1 m + (1 - beta1) g,   v <- beta2 v + (1 - beta2) g^2,
///   theta <- theta - rate (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon).
/// Source: Loshchilov, Hutter, "Decoupled Weight Decay Regularization", arXiv:1711.05101, algorithm
/// 2, lambda multiplied by the rate as in PyTorch. They are computed in double and rounded once.
/// Throws std::invalid_argument for settings outside their domains and step < 1.
AdamNumbers adamw_numbers(const AdamSettings& settings, int step);

/// The length rho_t above which RAdam rectifies: algorithm 2 has 4, PyTorch and the authors' code
/// have 5. There is no default.
enum class RadamThreshold { paper = 4, pytorch = 5 };

/// Those of RAdam's step: theta, g, m and v as above; with n = m / (1 - beta1^t),
///   rho_inf = 2 / (1 - beta2) - 1,   rho_t = rho_inf - 2 t beta2^t / (1 - beta2^t),
///   r_t = sqrt((rho_t - 4)(rho_t - 2) rho_inf / ((rho_inf - 4)(rho_inf - 2) rho_t)),
///   rho_t > threshold:  theta <- theta - rate r_t n sqrt(1 - beta2^t) / (sqrt(v) + epsilon),
///   else                theta <- theta - rate n.
/// Source: Liu et al., "On the Variance of the Adaptive Learning Rate and Beyond",
/// arXiv:1908.03265, algorithm 2; epsilon where PyTorch has it. The rest as above.
AdamNumbers radam_numbers(const AdamSettings& settings, RadamThreshold threshold, int step);

/// The step, in fp32. `numbers` points to one AdamNumbers in device memory: they differ from step
/// to step, while a CUDA graph keeps the arguments of its launches. `grad_factor` points to one
/// float there, that of global-norm clipping (ops/global_norm.cuh), or is null: 1. Where it is NaN,
/// as that of a gradient that is not finite, the step changes nothing. Element is float, bfloat16
/// or float16. Error: docs/bounds-ops.md. Throws std::invalid_argument for null arrays.
template <class Element>
void adam_step(const Stream& stream, const AdamNumbers* numbers, const float* grad_factor,
               const AdamTensor<Element>& tensor);

}  // namespace plumbline::gpu

#endif
