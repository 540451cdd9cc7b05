// SPDX-License-Identifier: Apache-2.0
// What a positional bias tells the attention kernels.
#ifndef PLUMBLINE_GPU_BIAS_POLICY_CUH
#define PLUMBLINE_GPU_BIAS_POLICY_CUH

#include <concepts>
#include <cstddef>

#include "core/cuda.cuh"

namespace plumbline::gpu {

/// Where a kernel is: query `row` of the tensor stands at `position`, `key` is a position too.
struct At {
  int batch, head, row, position, key;
};

/// All inputs of all methods, in device memory; those of other methods are null. Shapes:
/// slopes, theta_* [heads]; prefix_sum [batch, heads, keys]; gain [batch, heads, queries].
struct BiasInputs {
  int heads, queries, keys;
  const float* slopes;
  const double* prefix_sum;
  const float* gain;
  const float* theta_alpha;
  const float* theta_beta;
  const float* theta_mu;
  float epsilon;
};

/// A bias owns its formula and nothing else: scaling, masking and softmax belong to the kernel.
/// `Params` is the policy's own choice of the inputs, `Row` what it knows of one query.
///
/// The backward pass will add accumulate_grad(Grads, Row, float grad_logit, At) beside `add`.
template <class B>
concept BiasPolicy = requires(const BiasInputs& inputs, typename B::Params p, typename B::Row row,
                              float x, At at) {
  { B::params(inputs) } -> std::same_as<typename B::Params>;  // on the host
  { B::load_row(p, at) } -> std::same_as<typename B::Row>;    // once per query
  { B::add(p, row, x, at) } -> std::same_as<float>;           // x = scale * q.k
};

}  // namespace plumbline::gpu

#endif
