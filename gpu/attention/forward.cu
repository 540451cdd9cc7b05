// SPDX-License-Identifier: Apache-2.0
#include "attention/forward.cuh"

#include "attention/device_problem.cuh"
#include "attention/fp8_inputs.cuh"
#include "attention/host_outputs.cuh"

namespace plumbline::gpu {

void run_forward(const plumbline_problem& p, const plumbline_outputs& outputs,
                 const AttentionKernels& kernels) {
  const Stream stream;
  const DeviceProblem problem(stream, p, kernels.widths);
  HostOutputs host(stream, p, outputs, kernels.float_outputs, kernels.has_lse);
  const Attention attention(stream, problem.problem(), kernels);
  attention.forward(problem.problem(), host.on_device());
  host.deliver();
}

void run_fp8_forward(const plumbline_problem& p, const plumbline_outputs& outputs,
                     const AttentionKernels& kernels) {
  if (!is_fp8(p)) throw InvalidProblem("format must be e4m3 or e5m2 for this kernel");
  const Stream stream;
  const DeviceProblem problem(stream, p, kernels.widths);
  HostOutputs host(stream, p, outputs);
  const Fp8Inputs inputs(stream, problem.problem());
  const Attention attention(stream, inputs.problem(), kernels);
  attention.forward(inputs.problem(), host.on_device());
  host.deliver();
}

#if PLUMBLINE_ON_GPU
void run_fp8_forward_by_wgmma(const plumbline_problem& p, const plumbline_outputs& outputs) {
  const Stream stream;
  const DeviceProblem given(stream, p);
  HostOutputs host(stream, p, outputs);
  const plumbline_problem& problem = given.problem();
  const Attention attention(stream, as_bf16(problem), kernels_by_wgmma());
  const Task task = attention.task_of_tiles(as_bf16(problem));
  const DeviceBuffer<unsigned char> values(
      stream, static_cast<std::size_t>(p.batch) * p.kv_heads * p.value_dim * padded_keys(p.keys));
  transpose_fp8_values(stream, task.problem, problem.v, values.data());
  const plumbline_outputs to = host.on_device();
  wgmma_fp8_forward(
      stream, task,
      {problem.q, problem.k, values.data(), {problem.q_scale, problem.k_scale, problem.v_scale}},
      {to.o, to.lse});
  host.deliver();
}
#endif

}  // namespace plumbline::gpu
