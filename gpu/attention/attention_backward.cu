// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "attention/attention.cuh"
#include "attention/backward_kernels.cuh"
#include "attention/bias_tile.cuh"
#include "attention/check_problem.cuh"
#include "bias/table_rows.cuh"
#include "core/fill_zero.cuh"
#include "methods.hpp"
#include "ops/prefix_sum.cuh"

namespace plumbline::gpu {

namespace {

/// Where a parameter's sums stand among those of a block.
struct Part {
  plumbline_parameter parameter;
  int count;
  bool shared_by_heads;
};

/// In the order of HeadGrad's sums: the parameters of heads and those of the layer that get a
/// gradient.
std::vector<Part> parts_of(const plumbline_problem& p) {
  using methods::Extent;
  const methods::Method& method = methods::row(p.bias);
  std::vector<Part> parts;
  for (const methods::Parameter& parameter : method.parameters) {
    const auto has = [&](Extent extent) {
      return std::ranges::find(parameter.shape, extent) != parameter.shape.end();
    };
    if (parameter.id == PLUMBLINE_SLOPES || has(Extent::batch) || has(Extent::batch_or_1)) continue;
    const std::size_t heads = has(Extent::heads) ? p.heads : 1;
    parts.push_back({parameter.id, static_cast<int>(parameter_size(p, parameter.id) / heads),
                     !has(Extent::heads)});
  }
  return parts;
}

}  // namespace

void Attention::head_gradients(const plumbline_problem& p, const plumbline_gradients& gradients,
                               Gradient mode) const {
  const int tiles = (p.queries + kTileQueries - 1) / kTileQueries;
  const auto reduce = [&](const DeviceBuffer<double>& partial, int stride, int first,
                          const Part& part) {
    if (!gradients.grad_parameters[part.parameter]) return;
    backward_reduce(
        stream_,
        {partial.data(), p.batch, p.heads, tiles, stride, first, part.count, part.shared_by_heads},
        gradients.grad_parameters[part.parameter], mode);
  };
  if (p.ssmax == 1)
    reduce(backward_workspace_->ssmax_partial, 1, 0, {PLUMBLINE_SSMAX_SCALE, 1, false});
  int first = 0;
  for (const Part& part : parts_of(p)) {
    reduce(backward_workspace_->head_partial, head_sums_, first, part);
    first += part.count;
  }
}

void Attention::backward(const plumbline_problem& p, const plumbline_gradients& gradients,
                         Gradient parameter_mode) const {
  if (!backward_workspace_ && !score_grads_)
    throw std::logic_error("this attention has no room for the backward pass");
  const Task of_problem = task_of_tiles(p);
  require(gradients.o, "o");
  require(gradients.lse, "lse");
  require(gradients.grad_o, "grad_o");
  if (p.lse_gradient == 1) require(gradients.grad_lse, "grad_lse");
  const float* const grad_lse = p.lse_gradient == 1 ? gradients.grad_lse : nullptr;
  if (score_grads_) {
    plumbline_gradients of_call = gradients;
    of_call.grad_lse = grad_lse;
    unfused_backward(stream_, of_problem, *scores_, score_grads_->arrays(), of_call,
                     parameter_mode);
    return;
  }
  const BackwardWorkspace& workspace = *backward_workspace_;
  const std::size_t heads = static_cast<std::size_t>(p.batch) * p.heads;
  const std::size_t rows = heads * p.queries;
  const std::size_t key_rows = static_cast<std::size_t>(p.batch) * p.kv_heads * p.keys;
  const int summed = summed_parameter(p.bias);
  if (kernels_.atomic) {
    fill_zero(stream_, workspace.dk.data(), key_rows * p.head_dim);
    fill_zero(stream_, workspace.dv.data(), key_rows * p.head_dim);
    fill_zero(stream_, workspace.sums.data(), summed >= 0 ? heads * p.keys : 0);
  }

  backward_delta(stream_, of_problem, gradients.o, gradients.grad_o, grad_lse,
                 workspace.delta.data());
  const BackwardArrays arrays{gradients.lse,
                              workspace.delta.data(),
                              gradients.grad_o,
                              workspace.dq.data(),
                              workspace.dk.data(),
                              workspace.dv.data(),
                              workspace.sums.data(),
                              gradients.grad_parameters[PLUMBLINE_GAIN],
                              workspace.head_partial.data(),
                              head_sums_,
                              workspace.pairs.data(),
                              workspace.ssmax_partial.data(),
                              kernels_.atomic};
  const bool pairs = p.bias == PLUMBLINE_BIAS_TENSOR;
  if (pairs) fill_zero(stream_, workspace.pairs.data(), rows * p.keys);
  const Task of_kernels = for_kernels(of_problem);
  if (!kernels_.atomic) kernels_.backward_keys(stream_, of_kernels, arrays);
  kernels_.backward_queries(stream_, of_kernels, arrays);

  if (gradients.grad_q)  // stored as they are of the rows before the rotation
    backward_store(stream_, of_problem, workspace.dq.data(), gradients.grad_q, RowsOf::queries);
  if (gradients.grad_k)
    backward_store(stream_, of_problem, workspace.dk.data(), gradients.grad_k, RowsOf::keys);
  if (gradients.grad_v)
    backward_store(stream_, of_problem, workspace.dv.data(), gradients.grad_v, RowsOf::values);
  if (summed >= 0 && gradients.grad_parameters[summed])
    prefix_sum_grad(stream_, workspace.sums.data(), gradients.grad_parameters[summed],
                    static_cast<int>(heads), p.keys);
  if (p.sinks == 1 && gradients.grad_parameters[PLUMBLINE_SINKS])
    backward_sinks(stream_, of_problem, arrays, gradients.grad_parameters[PLUMBLINE_SINKS],
                   parameter_mode);
  if (pairs && gradients.grad_parameters[PLUMBLINE_TENSOR])
    backward_reduce_pairs(stream_, of_problem, workspace.pairs.data(),
                          gradients.grad_parameters[PLUMBLINE_TENSOR], parameter_mode);
  head_gradients(p, gradients, parameter_mode);
}

}  // namespace plumbline::gpu
