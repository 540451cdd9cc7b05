// SPDX-License-Identifier: Apache-2.0
#include "attention/forward.cuh"

#include "attention/attention.cuh"
#include "attention/device_problem.cuh"
#include "attention/host_outputs.cuh"

namespace plumbline::gpu {

void run_forward(const plumbline_problem& p, const plumbline_outputs& outputs,
                 void (*variant)(const Stream&, const Task&, const Outputs&), Widths widths) {
  const Stream stream;
  const DeviceProblem problem(stream, p, widths);
  HostOutputs host(stream, p, outputs);
  const Attention attention(stream, problem.problem(), {variant, nullptr, nullptr, false, widths});
  attention.forward(problem.problem(), host.on_device());
  host.deliver();
}

}  // namespace plumbline::gpu
