// SPDX-License-Identifier: Apache-2.0
#include "attention/forward.cuh"

#include "attention/attention.cuh"
#include "attention/check_problem.cuh"
#include "attention/device_problem.cuh"

namespace plumbline::gpu {

void run_forward(const plumbline_problem& p, const plumbline_outputs& outputs,
                 void (*rung)(const Stream&, const Task&, const Outputs&)) {
  const Stream stream;
  const DeviceProblem problem(stream, p);
  require(outputs.o, "o");
  require(outputs.lse, "lse");
  Output<unsigned char> o(stream, outputs.o, query_bytes(p), "o");
  Output<float> lse(stream, outputs.lse, static_cast<std::size_t>(p.batch) * p.heads * p.queries,
                    "lse");
  const Attention attention(stream, problem.problem(), {rung, nullptr, nullptr, false});
  attention.forward(problem.problem(), {o.data(), lse.data()});
  o.fetch();
  lse.fetch();
  stream.wait();
  o.deliver();
  lse.deliver();
}

}  // namespace plumbline::gpu
