// SPDX-License-Identifier: Apache-2.0
#include "attention/backward.cuh"

#include <deque>

#include "attention/check_problem.cuh"
#include "attention/device_problem.cuh"

namespace plumbline::gpu {

namespace {

/// The gradients of parameters that the caller asks for.
class ParameterGrads {
 public:
  ParameterGrads(const Stream& stream, const plumbline_problem& p,
                 const plumbline_gradients& gradients) {
    const auto add = [&](plumbline_parameter parameter) {
      if (parameter == PLUMBLINE_SLOPES || !gradients.grad_parameters[parameter]) return;
      outputs_.emplace_back(stream, gradients.grad_parameters[parameter],
                            parameter_size(p, parameter), name_of(parameter));
      of_[parameter] = outputs_.back().data();
    };
    for (const plumbline_parameter parameter : parameters_of(p)) add(parameter);
    if (p.ssmax == 1) add(PLUMBLINE_SSMAX_SCALE);
    if (p.sinks == 1) add(PLUMBLINE_SINKS);
  }

  float* operator[](int parameter) const { return of_[parameter]; }
  void fetch() {
    for (auto& output : outputs_) output.fetch();
  }
  void deliver() {
    for (auto& output : outputs_) output.deliver();
  }

 private:
  std::deque<Output<float>> outputs_;
  float* of_[PLUMBLINE_PARAMETER_COUNT] = {};
};

}  // namespace

void run_backward(const plumbline_problem& p, const plumbline_gradients& gradients,
                  const AttentionKernels& kernels) {
  const Stream stream;
  const DeviceProblem device(stream, p);
  require(gradients.o, "o");
  require(gradients.lse, "lse");
  require(gradients.grad_o, "grad_o");
  if (p.lse_gradient == 1) require(gradients.grad_lse, "grad_lse");
  const std::size_t rows = lse_count(p);
  const bool in_float = kernels.float_outputs;
  const Input<unsigned char> o(stream, gradients.o, output_bytes(p, in_float));
  const Input<unsigned char> grad_o(stream, gradients.grad_o, output_bytes(p));
  const Input<float> lse(stream, gradients.lse, rows);
  const Input<float> grad_lse(stream, p.lse_gradient == 1 ? gradients.grad_lse : nullptr, rows);
  Output<unsigned char> grad_q(stream, gradients.grad_q, query_bytes(p, in_float), "grad_q");
  Output<unsigned char> grad_k(stream, gradients.grad_k, key_bytes(p, in_float), "grad_k");
  Output<unsigned char> grad_v(stream, gradients.grad_v, value_bytes(p, in_float), "grad_v");
  ParameterGrads parameters(stream, p, gradients);

  const Attention attention(stream, device.problem(), kernels, {.backward = true});
  plumbline_gradients on_device{o.data(),      lse.data(),    grad_o.data(), grad_lse.data(),
                                grad_q.data(), grad_k.data(), grad_v.data(), {}};
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) on_device.grad_parameters[n] = parameters[n];
  attention.backward(device.problem(), on_device);

  for (auto* output : {&grad_q, &grad_k, &grad_v}) output->fetch();
  parameters.fetch();
  stream.wait();
  for (auto* output : {&grad_q, &grad_k, &grad_v}) output->deliver();
  parameters.deliver();
}

}  // namespace plumbline::gpu
