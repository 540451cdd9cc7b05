// SPDX-License-Identifier: Apache-2.0
#include "ops/swiglu.cuh"

#include "reference/model/swiglu.hpp"
#include "tests/gpu_vs_reference/ops/harness.hpp"
#include "tests/reference/numbers.hpp"
#include "verdict/bounds/ops/swiglu.hpp"

BOOST_AUTO_TEST_SUITE(swiglu_test)

using namespace plumbline;
using namespace plumbline::op_tests;
using reference::RunningError;

namespace {

/// Around the bend, and far out on both sides.
template <class Element>
std::vector<double> gates(std::uint64_t seed) {
  reference::Numbers numbers(seed);
  std::vector<double> a = numbers.between(-6, 6, 400);
  for (int n = 0; n < 100; ++n) a.push_back(numbers.between(-110, 110));
  for (int n = 0; n < 100; ++n) {
    const bool narrow = std::is_same_v<Element, gpu::float16>;
    const double magnitude = std::exp2(numbers.between(narrow ? -24 : -140, narrow ? 15 : 60));
    a.push_back(numbers.between(0, 1) < 0.5 ? -magnitude : magnitude);
  }
  for (const double edge : {0.0, -0.0, -1.2784645, 88.0, -88.0, -104.0, -60000.0})
    a.push_back(edge);
  if (!std::is_same_v<Element, gpu::float16>)
    for (const double edge : {0x1p-149, -0x1p-149, -3e38, 1e30}) a.push_back(edge);
  return representable<Element>(a);
}

template <class Element>
void check(const char* format) {
  Comparison forward(std::string("swiglu y ") + format);
  Comparison backward_a(std::string("swiglu grad_a ") + format);
  Comparison backward_b(std::string("swiglu grad_b ") + format);
  for_seeds(4, [&](std::uint64_t seed) {
    const gpu::Stream stream;
    reference::Numbers numbers(seed + 100);
    const std::vector<double> a = gates<Element>(seed);
    const int count = static_cast<int>(a.size());
    std::vector<double> b = representable<Element>(numbers.between(-3, 3, count));
    std::vector<double> grad = representable<Element>(numbers.between(-2, 2, count));
    b[0] = grad[1] = 0.0;
    const auto dev_a = on_device<Element>(a), dev_b = on_device<Element>(b);
    const auto dev_grad = on_device<Element>(grad);
    const Device<Element> dev_y(count), dev_grad_a(count), dev_grad_b(count);
    gpu::swiglu(stream, dev_a.data(), dev_b.data(), dev_y.data(), count);
    gpu::swiglu_backward(stream, dev_a.data(), dev_b.data(), dev_grad.data(), dev_grad_a.data(),
                         dev_grad_b.data(), count);
    const auto y = dev_y.numbers(), grad_a = dev_grad_a.numbers(), grad_b = dev_grad_b.numbers();
    const op_bounds::Storage stored = storage<Element>();
    for (int n = 0; n < count; ++n) {
      const RunningError gate(a[n]), factor(b[n]), upstream(grad[n]);
      const auto exact = reference::swiglu_grad(gate, factor, upstream);
      forward.element(n, y[n], reference::swiglu(gate, factor),
                      stored_error(op_bounds::swiglu(a[n], b[n]), stored));
      backward_a.element(n, grad_a[n], exact.a,
                         stored_error(op_bounds::swiglu_grad_a(a[n], b[n], grad[n]), stored));
      backward_b.element(n, grad_b[n], exact.b,
                         stored_error(op_bounds::swiglu_grad_b(a[n], grad[n]), stored));
    }
  });
  forward.finish(0.2);
  backward_a.finish(0.2);
  backward_b.finish(0.2);
}

BOOST_AUTO_TEST_CASE(swiglu_and_its_gradients_are_within_their_bounds) {
  check<float>("fp32");
  check<gpu::bfloat16>("bf16");
  check<gpu::float16>("fp16");
}

BOOST_AUTO_TEST_CASE(any_number_of_elements_is_treated) {
  const gpu::Stream stream;
  for (const int count : {0, 1, 257, 1024, 1025}) {
    const auto a = on_device<float>(reference::Numbers(3).between(-3, 3, count));
    const Device<float> y(count), grad_a(count), grad_b(count);
    gpu::swiglu(stream, a.data(), a.data(), y.data(), count);
    gpu::swiglu_backward(stream, a.data(), a.data(), y.data(), grad_a.data(), grad_b.data(), count);
    for (const auto* results : {&y, &grad_a, &grad_b})
      for (const double value : results->numbers()) BOOST_TEST(std::isfinite(value));
  }
}

BOOST_AUTO_TEST_CASE(the_bits_do_not_depend_on_threads_and_workers) {
  const gpu::Stream stream;
  const auto a = on_device<float>(reference::Numbers(4).between(-5, 5, 3000));
  expect_same_bits([&] {
    const Device<float> grad_a(3000), grad_b(3000);
    gpu::swiglu_backward(stream, a.data(), a.data(), a.data(), grad_a.data(), grad_b.data(), 3000);
    return grad_a.values();
  });
}

BOOST_AUTO_TEST_CASE(a_null_array_is_refused) {
  const gpu::Stream stream;
  const Device<float> x(4);
  const float* none = nullptr;
  BOOST_CHECK_EXCEPTION(gpu::swiglu(stream, x.data(), none, x.data(), 4), std::invalid_argument,
                        says("b is null"));
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
