// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu_vs_reference/ops/linear_problem.hpp"

BOOST_AUTO_TEST_SUITE(linear_test)

using namespace plumbline;
using namespace plumbline::op_tests;
using namespace plumbline::op_tests::linear_problem;

namespace {

BOOST_AUTO_TEST_CASE(the_layer_is_within_its_bounds) {
  for (const FormatOf& f : formats) {
    Comparison forward(called("linear y", f)), backward(called("linear grad_x", f));
    for_seeds(20, [&](std::uint64_t seed) {
      const Problem p = problem(seed, f.format);
      const auto [rows, in, out] = p.shape;
      const Exact exact(p);
      const gpu::Stream stream;
      gpu::Linear linear(stream);
      const Array x(f.format, p.x), w(f.format, p.w), b(f.format, p.b), grad_y(f.format, p.grad_y);
      const Array y(f.format, p.grad_y.size()), grad_x(f.format, p.x.size());
      linear.forward(p.shape, f.format, x.data(), w.data(), p.bias ? b.data() : nullptr, y.data());
      linear.backward_input(p.shape, f.format, grad_y.data(), w.data(), grad_x.data());
      std::vector<double> limits;
      for (const Computed& sum : computed_sums(p, f))
        limits.push_back(stored_error(sum, f.storage));
      forward.check(y.numbers(), exact.y, limits);
      limits.clear();
      for (int t = 0; t < rows; ++t)
        for (int c = 0; c < in; ++c)
          limits.push_back(stored_error(
              op_bounds::dot(&p.grad_y[t * out], 1, &p.w[c], in, out, f.numerics), f.storage));
      backward.check(grad_x.numbers(), exact.grad.x, limits);
    });
    forward.finish(0.05);
    backward.finish(0.05);
  }
}

BOOST_AUTO_TEST_CASE(gradients_of_weight_and_bias_are_within_their_bounds) {
  for (const FormatOf& f : formats) {
    Comparison weights(called("linear grad_w", f)), biases(called("linear grad_b", f));
    for_seeds(20, [&](std::uint64_t seed) {
      const Problem p = problem(seed, f.format);
      const auto [rows, in, out] = p.shape;
      const Exact exact(p);
      const gpu::Stream stream;
      gpu::Linear linear(stream);
      const Array x(f.format, p.x), grad_y(f.format, p.grad_y);
      const auto grad_w = on_device<float>(p.old_w), grad_b = on_device<float>(p.old_b);
      linear.backward_weight(p.shape, f.format, x.data(), grad_y.data(), grad_w.data(),
                             p.bias ? grad_b.data() : nullptr,
                             p.accumulate ? gpu::Gradient::accumulate : gpu::Gradient::overwrite);
      const auto got_w = grad_w.numbers(), got_b = grad_b.numbers();
      if (!p.bias) BOOST_TEST(got_b == p.old_b);
      for (int o = 0; o < out; ++o) {
        const RunningError old_b(p.accumulate ? p.old_b[o] : 0.0);
        if (p.bias)
          biases.element(
              o, got_b[o], exact.grad.b[o] + old_b,
              stored_error(computed_column(p.grad_y, rows, out, o, p.old_b[o], p.accumulate),
                           op_bounds::stored_fp32));
        for (int c = 0; c < in; ++c) {
          Computed sum = op_bounds::dot(&p.grad_y[o], out, &p.x[c], in, rows, f.numerics);
          RunningError expected = exact.grad.w(o, c);
          if (p.accumulate) {
            sum = sum + Computed{p.old_w[o * in + c]};
            expected += RunningError(p.old_w[o * in + c]);
          }
          weights.element(o * in + c, got_w[o * in + c], expected,
                          stored_error(sum, op_bounds::stored_fp32));
        }
      }
    });
    weights.finish(0.05);
    biases.finish(0.05);
  }
}

BOOST_AUTO_TEST_CASE(subnormal_and_huge_numbers_are_within_their_bounds) {
  for (const FormatOf& f : formats) {
    const bool narrow = f.format == Format::fp16;
    // Products around the smallest number, and sums around the largest, of fp32 or of fp16.
    for (const double exponent : narrow ? std::vector{-13.0, 7.5} : std::vector{-74.0, 62.5}) {
      Problem p = problem(5, f.format);
      for (auto* numbers : {&p.x, &p.w, &p.grad_y}) {
        for (double& x : *numbers) x *= std::exp2(exponent);
        *numbers = representable_in(f.format, *numbers);
      }
      p.bias = false;
      const gpu::Stream stream;
      gpu::Linear linear(stream);
      const Array x(f.format, p.x), w(f.format, p.w), y(f.format, p.grad_y.size());
      linear.forward(p.shape, f.format, x.data(), w.data(), nullptr, y.data());
      const Exact exact(p);
      const auto got = y.numbers();
      const std::vector<Computed> sums = computed_sums(p, f);
      Comparison results(called("extreme linear y", f));
      for (std::size_t n = 0; n < sums.size(); ++n)
        results.element(n, got[n], exact.y.data()[n], stored_error(sums[n], f.storage));
      BOOST_TEST(results.worst() <= 1.0);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_bits_do_not_depend_on_threads_workers_and_what_came_before) {
  const gpu::Stream stream;
  gpu::Linear linear(stream);
  const gpu::LinearShape shape{130, 33, 70};
  const auto x = on_device<float>(reference::Numbers(1).between(-2, 2, 130 * 33));
  const auto w = on_device<float>(reference::Numbers(2).between(-1, 1, 70 * 33));
  const auto grad_y = on_device<float>(reference::Numbers(3).between(-1, 1, 130 * 70));
  expect_same_bits([&] {
    const Device<float> y(130 * 70), pre(130 * 70), grad_w(70 * 33), grad_b(70);
    linear.forward_gelu(shape, Format::fp32, gpu::GeluForm::tanh, x.data(), w.data(), w.data(),
                        pre.data(), y.data());
    linear.backward_weight(shape, Format::fp32, x.data(), grad_y.data(), grad_w.data(),
                           grad_b.data(), gpu::Gradient::overwrite);
    auto bits = y.values();
    for (const Device<float>* more : {&pre, &grad_w, &grad_b})
      for (const float value : more->values()) bits.push_back(value);
    return bits;
  });
}

BOOST_AUTO_TEST_CASE(shapes_below_one_and_missing_arrays_are_refused) {
  const gpu::Stream stream;
  gpu::Linear linear(stream);
  const Device<float> a(4);
  const std::pair<gpu::LinearShape, const char*> shapes[] = {
      {{0, 1, 1}, "rows is 0"}, {{1, -3, 1}, "in is -3"}, {{1, 1, 0}, "out is 0"}};
  for (const auto& [shape, text] : shapes) {
    BOOST_CHECK_EXCEPTION(
        linear.forward(shape, Format::fp32, a.data(), a.data(), nullptr, a.data()),
        std::invalid_argument, says(text));
    BOOST_CHECK_EXCEPTION(linear.backward_weight(shape, Format::fp32, a.data(), a.data(), a.data(),
                                                 nullptr, gpu::Gradient::overwrite),
                          std::invalid_argument, says(text));
  }
  BOOST_CHECK_EXCEPTION(
      linear.forward({2, 2, 2}, Format::fp32, a.data(), nullptr, nullptr, a.data()),
      std::invalid_argument, says("w is null"));
  BOOST_CHECK_EXCEPTION(linear.backward_input({2, 2, 2}, Format::fp32, a.data(), a.data(), nullptr),
                        std::invalid_argument, says("grad_x is null"));
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
