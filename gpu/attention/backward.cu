// SPDX-License-Identifier: Apache-2.0
#include "attention/backward.cuh"

#include <deque>

#include "attention/backward_kernels.cuh"
#include "attention/bias_tile.cuh"
#include "attention/check_problem.cuh"
#include "attention/device_problem.cuh"
#include "ops/prefix_sum.cuh"

namespace plumbline::gpu {

namespace {

/// A buffer that the kernels begin to add to.
template <class T>
DeviceBuffer<T> zeros(const Stream& stream, std::size_t count) {
  DeviceBuffer<T> buffer(stream, count);
  const std::vector<T> host(count);
  buffer.copy_from_host(stream, host.data(), 0, count);
  stream.wait();
  return buffer;
}

/// Where a parameter's sums stand among those of a block.
struct Part {
  plumbline_parameter parameter;
  int count;
  bool shared_by_heads;
};

/// In the order of HeadGrad's sums.
std::vector<Part> parts_of(const plumbline_problem& p, int table_rows) {
  const auto hidden = static_cast<int>(p.options[PLUMBLINE_HIDDEN]);
  switch (p.bias) {
    case PLUMBLINE_GGD:
      return {{PLUMBLINE_THETA_ALPHA, 1, false},
              {PLUMBLINE_THETA_BETA, 1, false},
              {PLUMBLINE_THETA_MU, 1, false}};
    case PLUMBLINE_KERPLE_LOG:
    case PLUMBLINE_KERPLE_POWER:
      return {{PLUMBLINE_P, 1, false}, {PLUMBLINE_A, 1, false}};
    case PLUMBLINE_FIRE:
      return {{PLUMBLINE_HIDDEN_WEIGHT, hidden, true},
              {PLUMBLINE_HIDDEN_BIAS, hidden, true},
              {PLUMBLINE_OUTPUT_WEIGHT, hidden, false},
              {PLUMBLINE_OUTPUT_BIAS, 1, false},
              {PLUMBLINE_C, 1, true},
              {PLUMBLINE_L, 1, true}};
    default:
      if (table_rows > 0) return {{PLUMBLINE_TABLE, table_rows, false}};
      return {};
  }
}

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
    for (const plumbline_parameter parameter : parameters_of(p.bias)) add(parameter);
    if (p.ssmax == 1) add(PLUMBLINE_SSMAX_SCALE);
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

void run_backward(const plumbline_problem& p, const plumbline_gradients& gradients, bool atomic,
                  void (*keys)(const Stream&, const Task&, const BackwardArrays&)) {
  const Stream stream;
  const DeviceProblem device(stream, p);
  const Task& task = device.task();
  require(gradients.o, "o");
  require(gradients.lse, "lse");
  require(gradients.grad_o, "grad_o");
  const std::size_t heads = static_cast<std::size_t>(p.batch) * p.heads;
  const std::size_t rows = heads * p.queries;
  const std::size_t key_rows = static_cast<std::size_t>(p.batch) * p.kv_heads * p.keys;
  const int tiles = (p.queries + kTileQueries - 1) / kTileQueries;

  const Input<unsigned char> o(stream, gradients.o, query_bytes(p));
  const Input<unsigned char> grad_o(stream, gradients.grad_o, query_bytes(p));
  const Input<float> lse(stream, gradients.lse, rows);
  Output<unsigned char> grad_q(stream, gradients.grad_q, query_bytes(p), "grad_q");
  Output<unsigned char> grad_k(stream, gradients.grad_k, key_bytes(p), "grad_k");
  Output<unsigned char> grad_v(stream, gradients.grad_v, key_bytes(p), "grad_v");
  ParameterGrads parameters(stream, p, gradients);

  const bool summed = summed_parameter(p.bias) >= 0;
  const auto buffer = [&]<class T>(T, std::size_t count) {
    return atomic ? zeros<T>(stream, count) : DeviceBuffer<T>(stream, count);
  };
  const DeviceBuffer<float> delta(stream, rows), dq(stream, rows * p.head_dim);
  const auto dk = buffer(0.0f, key_rows * p.head_dim), dv = buffer(0.0f, key_rows * p.head_dim);
  const auto sums = buffer(0.0, summed ? heads * p.keys : 0);
  const int sums_of_head = head_rows(task);
  const DeviceBuffer<double> head_partial(stream, heads * tiles * sums_of_head);
  const DeviceBuffer<double> ssmax_partial(stream, p.ssmax == 1 ? heads * tiles : 0);

  backward_delta(stream, task, o.data(), grad_o.data(), delta.data());
  const BackwardArrays arrays{
      lse.data(),          delta.data(), grad_o.data(),        dq.data(),
      dk.data(),           dv.data(),    sums.data(),          parameters[PLUMBLINE_GAIN],
      head_partial.data(), sums_of_head, ssmax_partial.data(), atomic};
  if (!atomic) keys(stream, task, arrays);
  backward_queries(stream, task, arrays);

  if (grad_q.data())
    backward_store(stream, task, dq.data(), grad_q.data(), rows, p.queries, p.query_offset);
  if (grad_k.data()) backward_store(stream, task, dk.data(), grad_k.data(), key_rows, p.keys, 0);
  if (grad_v.data()) backward_store(stream, task, dv.data(), grad_v.data(), key_rows, 0, 0);
  if (summed && parameters[summed_parameter(p.bias)])
    prefix_sum_grad(stream, sums.data(), parameters[summed_parameter(p.bias)],
                    static_cast<int>(heads), p.keys);
  if (parameters[PLUMBLINE_SSMAX_SCALE])
    backward_reduce(stream, {ssmax_partial.data(), p.batch, p.heads, tiles, 1, 0, 1, false},
                    parameters[PLUMBLINE_SSMAX_SCALE]);
  int first = 0;
  for (const Part& part : parts_of(p, task.bias.table_rows)) {
    if (parameters[part.parameter])
      backward_reduce(stream,
                      {head_partial.data(), p.batch, p.heads, tiles, sums_of_head, first,
                       part.count, part.shared_by_heads},
                      parameters[part.parameter]);
    first += part.count;
  }

  for (auto* output : {&grad_q, &grad_k, &grad_v}) output->fetch();
  parameters.fetch();
  stream.wait();
  for (auto* output : {&grad_q, &grad_k, &grad_v}) output->deliver();
  parameters.deliver();
}

}  // namespace plumbline::gpu
