// SPDX-License-Identifier: Apache-2.0
// The equations are read with 50 digits: in double, 1 + erf(x) cancels to nothing where fp32 still
// holds the result.
#include "ops/gelu.cuh"

#include "reference/model/gelu.hpp"
#include "reference/scalars/mpreal.hpp"
#include "tests/gpu_vs_reference/ops/harness.hpp"
#include "tests/reference/numbers.hpp"
#include "verdict/bounds/ops/gelu.hpp"

BOOST_AUTO_TEST_SUITE(gelu_test)

using namespace plumbline;
using namespace plumbline::op_tests;
using op_bounds::Computed;
using reference::MpReal;

namespace {

struct Form {
  gpu::GeluForm form;
  const char* name;
  MpReal (*value)(const MpReal&);
  MpReal (*derivative)(const MpReal&);
  Computed (*computed)(double);
  Computed (*computed_derivative)(double);
};
const Form forms[] = {
    {gpu::GeluForm::tanh, "tanh", reference::gelu_tanh<MpReal>,
     reference::gelu_tanh_derivative<MpReal>, op_bounds::gelu_tanh,
     op_bounds::gelu_tanh_derivative},
    {gpu::GeluForm::erf, "erf", reference::gelu_erf<MpReal>, reference::gelu_erf_derivative<MpReal>,
     op_bounds::gelu_erf, op_bounds::gelu_erf_derivative},
};

/// The double nearest to an oracle of 50 digits.
reference::RunningError narrowed(const MpReal& x) {
  const double value = x.convert_to<double>();
  return {value, std::fabs(value) * 0x1p-53};
}

/// Where the forms bend, where they vanish, and every magnitude that the format has.
template <class Element>
std::vector<double> arguments(std::uint64_t seed) {
  reference::Numbers numbers(seed);
  std::vector<double> x = numbers.between(-6, 6, 400);
  for (int n = 0; n < 100; ++n) {
    x.push_back(numbers.between(-15, -6));
    const bool narrow = std::is_same_v<Element, gpu::float16>;
    const double magnitude = std::exp2(numbers.between(narrow ? -24 : -149, narrow ? 15 : 127.9));
    x.push_back(numbers.between(0, 1) < 0.5 ? -magnitude : magnitude);
  }
  for (const double edge : {0.0, -0.0, 16.0, -16.0, 88.0, -13.5, -10.2, 60000.0, -60000.0})
    x.push_back(edge);
  if (!std::is_same_v<Element, gpu::float16>)
    for (const double edge : {0x1p-149, -0x1p-149, 3.38e38, -3.38e38, 1.85e19, -1.85e19, 1e13})
      x.push_back(edge);
  return representable<Element>(x);
}

template <class Element>
void check(const Form& form, const char* format) {
  Comparison forward(std::string("gelu ") + form.name + " y " + format);
  Comparison backward(std::string("gelu ") + form.name + " grad_x " + format);
  Comparison extreme(std::string("gelu ") + form.name + " of extreme x " + format);
  for_seeds(4, [&](std::uint64_t seed) {
    const gpu::Stream stream;
    const std::vector<double> x = arguments<Element>(seed);
    std::vector<double> grad_y =
        representable<Element>(reference::Numbers(seed + 100).between(-3, 3, x.size()));
    grad_y[0] = 0.0;
    const auto dev_x = on_device<Element>(x), dev_grad_y = on_device<Element>(grad_y);
    const Device<Element> dev_y(x.size()), dev_grad_x(x.size());
    gpu::gelu(stream, form.form, dev_x.data(), dev_y.data(), x.size());
    gpu::gelu_backward(stream, form.form, dev_x.data(), dev_grad_y.data(), dev_grad_x.data(),
                       x.size());
    const auto y = dev_y.numbers(), grad_x = dev_grad_x.numbers();
    for (std::size_t n = 0; n < x.size(); ++n) {
      if (std::fabs(x[n]) >= 16) {  // the gate is open or closed, in fp32's last bit and beyond
        BOOST_TEST(y[n] == std::max(x[n], 0.0), "x = " << x[n]);
      } else {
        // Where y is x/2 or x and nothing is lost but by the format, the ratio says little.
        const bool ordinary = 0x1p-60 < std::fabs(x[n]) && std::fabs(x[n]) < 9;
        (ordinary ? forward : extreme)
            .element(n, y[n], narrowed(form.value(MpReal(x[n]))),
                     stored_error(form.computed(x[n]), storage<Element>()));
      }
      const Computed product = Computed{grad_y[n]} * form.computed_derivative(x[n]);
      backward.element(n, grad_x[n], narrowed(grad_y[n] * form.derivative(MpReal(x[n]))),
                       stored_error(product, storage<Element>()));
    }
  });
  forward.finish(0.2);
  backward.finish(0.2);
  extreme.finish(std::is_same_v<Element, gpu::float16> ? 0.0 : 0.2);  // there y is x or 0 in fp16
}

BOOST_AUTO_TEST_CASE(gelu_and_its_gradient_are_within_their_bounds) {
  for (const Form& form : forms) {
    check<float>(form, "fp32");
    check<gpu::bfloat16>(form, "bf16");
    check<gpu::float16>(form, "fp16");
  }
}

BOOST_AUTO_TEST_CASE(any_number_of_elements_is_treated) {
  const gpu::Stream stream;
  for (const int count : {0, 1, 255, 256, 257, 1023, 1024, 1025, 3000}) {
    const auto x = on_device<float>(reference::Numbers(3).between(-3, 3, count));
    const Device<float> y(count), grad_x(count);
    gpu::gelu(stream, gpu::GeluForm::tanh, x.data(), y.data(), count);
    gpu::gelu_backward(stream, gpu::GeluForm::erf, x.data(), y.data(), grad_x.data(), count);
    for (const double value : y.numbers()) BOOST_TEST(std::isfinite(value));
    for (const double value : grad_x.numbers()) BOOST_TEST(std::isfinite(value));
  }
}

BOOST_AUTO_TEST_CASE(results_may_replace_their_inputs) {
  const gpu::Stream stream;
  const auto x = on_device<float>(arguments<float>(5));
  const auto replaced = on_device<float>(arguments<float>(5));
  const Device<float> y(x.values().size());
  gpu::gelu(stream, gpu::GeluForm::tanh, x.data(), y.data(), y.values().size());
  gpu::gelu(stream, gpu::GeluForm::tanh, replaced.data(), replaced.data(), y.values().size());
  BOOST_TEST(y.values() == replaced.values());
}

BOOST_AUTO_TEST_CASE(the_bits_do_not_depend_on_threads_and_workers) {
  const gpu::Stream stream;
  const auto x = on_device<float>(reference::Numbers(4).between(-5, 5, 3000));
  expect_same_bits([&] {
    const Device<float> y(3000);
    gpu::gelu(stream, gpu::GeluForm::erf, x.data(), y.data(), 3000);
    return y.values();
  });
}

BOOST_AUTO_TEST_CASE(a_null_array_is_refused) {
  const gpu::Stream stream;
  const Device<float> x(4);
  const float* none = nullptr;
  BOOST_CHECK_EXCEPTION(gpu::gelu(stream, gpu::GeluForm::tanh, none, x.data(), 4),
                        std::invalid_argument, says("x is null"));
  BOOST_CHECK_EXCEPTION(
      gpu::gelu_backward(stream, gpu::GeluForm::tanh, x.data(), none, x.data(), 4),
      std::invalid_argument, says("grad_y is null"));
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
