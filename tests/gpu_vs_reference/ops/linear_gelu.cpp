// SPDX-License-Identifier: Apache-2.0
#include "reference/model/gelu.hpp"
#include "tests/gpu_vs_reference/ops/linear_problem.hpp"
#include "verdict/bounds/ops/gelu.hpp"

BOOST_AUTO_TEST_SUITE(linear_gelu_test)

using namespace plumbline;
using namespace plumbline::op_tests;
using namespace plumbline::op_tests::linear_problem;

namespace {

gpu::GeluEpilogue epilogue(std::uint64_t seed) {
  return seed % 2 ? gpu::GeluEpilogue::never : gpu::GeluEpilogue::where_possible;
}

struct Form {
  gpu::GeluForm form;
  const char* name;
  RunningError (*value)(const RunningError&);
  RunningError (*derivative)(const RunningError&);
  Computed (*computed)(double);
  Computed (*computed_derivative)(double);
};
const Form forms[] = {
    {gpu::GeluForm::tanh, "gelu_tanh", reference::gelu_tanh<RunningError>,
     reference::gelu_tanh_derivative<RunningError>, op_bounds::gelu_tanh,
     op_bounds::gelu_tanh_derivative},
    {gpu::GeluForm::erf, "gelu_erf", reference::gelu_erf<RunningError>,
     reference::gelu_erf_derivative<RunningError>, op_bounds::gelu_erf,
     op_bounds::gelu_erf_derivative},
};

BOOST_AUTO_TEST_CASE(gelu_after_the_layer_is_within_its_bounds) {
  for (const FormatOf& f : formats) {
    for (const Form& form : forms) {
      Comparison pre_activation(called(form.name, f) + " pre"), value(called(form.name, f) + " y");
      for_seeds(16, [&](std::uint64_t seed) {
        const Problem p = problem(seed, f.format);
        const Exact exact(p);
        const gpu::Stream stream;
        gpu::Linear linear(stream, epilogue(seed));
        const Array x(f.format, p.x), w(f.format, p.w), b(f.format, p.b);
        const Array pre(f.format, p.grad_y.size()), y(f.format, p.grad_y.size());
        linear.forward_gelu(p.shape, f.format, form.form, x.data(), w.data(),
                            p.bias ? b.data() : nullptr, pre.data(), y.data());
        const auto got_pre = pre.numbers(), got = y.numbers();
        const std::vector<Computed> sums = computed_sums(p, f);
        for (std::size_t n = 0; n < sums.size(); ++n) {
          const RunningError sum = exact.y.data()[n];
          pre_activation.element(n, got_pre[n], sum, stored_error(sums[n], f.storage));
          const Computed gelu =
              op_bounds::through_gelu(form.computed(sums[n].value), sums[n].error);
          value.element(n, got[n], form.value(sum), stored_error(gelu, f.storage));
        }
      });
      pre_activation.finish(0.05);
      value.finish(0.05);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_gradient_through_gelu_is_within_its_bounds) {
  for (const FormatOf& f : formats) {
    for (const Form& form : forms) {
      Comparison gradients(called(form.name, f) + " grad_pre");
      Comparison biases(called(form.name, f) + " grad_bias");
      for_seeds(16, [&](std::uint64_t seed) {
        const Problem p = problem(seed, f.format);
        const auto [rows, in, out] = p.shape;
        const Exact exact(p);
        const gpu::Stream stream;
        gpu::Linear linear(stream, epilogue(seed));
        const Array w(f.format, p.w), grad_y(f.format, p.grad_y), pre(f.format, p.pre);
        const Array grad_pre(f.format, p.x.size());
        const std::vector<double> old(p.pre.begin(), p.pre.begin() + in);
        const auto grad_bias = on_device<float>(old);
        linear.backward_input_gelu(
            p.shape, f.format, form.form, grad_y.data(), w.data(), pre.data(), grad_pre.data(),
            p.bias ? grad_bias.data() : nullptr,
            p.accumulate ? gpu::Gradient::accumulate : gpu::Gradient::overwrite);
        const auto got = grad_pre.numbers(), got_bias = grad_bias.numbers();
        if (!p.bias) BOOST_TEST(got_bias == old);
        for (int c = 0; c < in; ++c) {
          RunningError total(p.accumulate ? old[c] : 0.0);
          double stored = 0;  // what the terms of the sum are off by
          for (int t = 0; t < rows; ++t) {
            const int n = t * in + c;
            const RunningError expected =
                exact.grad.x(t, c) * form.derivative(RunningError(p.pre[n]));
            const Computed product =
                op_bounds::dot(&p.grad_y[t * out], 1, &p.w[c], in, out, f.numerics) *
                form.computed_derivative(p.pre[n]);
            const double limit = stored_error(product, f.storage);
            gradients.element(n, got[n], expected, limit);
            total += expected;
            stored += limit;
          }
          if (!p.bias) continue;
          Computed sum = computed_column(got, rows, in, c, old[c], p.accumulate);
          sum.error += stored;
          // The epilogue hands the sum over in the format.
          if (epilogue(seed) == gpu::GeluEpilogue::where_possible)
            sum.error +=
                f.storage.unit_roundoff * sum.magnitude() + f.storage.half_smallest_subnormal;
          biases.element(c, got_bias[c], total, stored_error(sum, op_bounds::stored_fp32));
        }
      });
      gradients.finish(0.05);
      biases.finish(0.02);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
