// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_OPS_GLOBAL_NORM_CUH
#define PLUMBLINE_GPU_OPS_GLOBAL_NORM_CUH

#include <cstddef>
#include <span>

#include "core/launch.cuh"

namespace plumbline::gpu {

/// One tensor's gradient in device memory.
struct GradientArray {
  const float* grad;
  std::size_t count;
};

/// Clipping by the global norm. Source: Pascanu, Mikolov, Bengio, "On the difficulty of training
/// recurrent neural networks", arXiv:1211.5063, algorithm 1, over all tensors of a model together.
struct Clipping {
  double max_norm;       ///< > 0, finite
  double epsilon = 0.0;  ///< >= 0, finite; PyTorch's clip_grad_norm_ has 1e-6
};

/// Elements that one block sums: partial sums depend on the tensors' sizes alone.
inline constexpr std::size_t kNormChunk = 4096;

/// How many doubles of working memory the sum takes: one for each chunk of every tensor.
std::size_t global_norm_parts(std::span<const GradientArray> tensors);

/// norm[0] = sqrt(sum over all tensors and elements of g^2), and
/// factor[0] = max_norm / max(norm + epsilon, max_norm), for AdamTensor's grad_factor; neither is
/// read back by the host. The squares are exact in double and summed in a fixed order: the same
/// bits every run. A gradient that is not finite makes the norm so, and the factor NaN,
/// with which a step of an optimizer changes nothing.
/// norm and factor are [1], parts [global_norm_parts(tensors)], in device memory.
/// Throws std::invalid_argument for a domain error and for null arrays.
void global_norm(const Stream& stream, const Clipping& clipping,
                 std::span<const GradientArray> tensors, double* parts, double* norm,
                 float* factor);

}  // namespace plumbline::gpu

#endif
