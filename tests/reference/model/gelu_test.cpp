// SPDX-License-Identifier: Apache-2.0
#include "reference/model/gelu.hpp"

#include "tests/reference/weighted.hpp"

BOOST_AUTO_TEST_SUITE(gelu_test)

using namespace plumbline;
using namespace plumbline::reference;

namespace {

const double u = 0x1p-53;

/// Both forms of every element.
const auto both = [](const auto& x) {
  Writer<ScalarOf<decltype(x)>> results;
  for (const auto& element : x) {
    results.number(gelu_erf(element));
    results.number(gelu_tanh(element));
  }
  return results.result();
};

}  // namespace

BOOST_AUTO_TEST_CASE(at_zero_the_gate_is_half_open) {
  BOOST_TEST(gelu_erf(0.0) == 0.0);
  BOOST_TEST(gelu_tanh(0.0) == 0.0);
  BOOST_TEST(gelu_erf_derivative(0.0) == 0.5);
  BOOST_TEST(gelu_tanh_derivative(0.0) == 0.5);
}

BOOST_AUTO_TEST_CASE(far_out_it_is_x_or_nothing) {
  BOOST_TEST(gelu_erf(40.0) == 40.0);
  BOOST_TEST(gelu_tanh(40.0) == 40.0);
  BOOST_TEST(gelu_erf(-40.0) == 0.0);
  BOOST_TEST(gelu_tanh(-100.0) == 0.0);
  BOOST_TEST(gelu_erf_derivative(40.0) == 1.0);
  BOOST_TEST(gelu_tanh_derivative(40.0) == 1.0);
}

BOOST_AUTO_TEST_CASE(the_erf_form_is_x_times_the_normal_distribution) {
  // Phi(1) = 0.841344746068542948585..., Phi(2) = 0.977249868051820792799...
  const MpReal phi_1("0.841344746068542948585"), phi_2("0.977249868051820792799");
  BOOST_TEST((abs(gelu_erf(MpReal(1.0)) - phi_1) < MpReal("1e-20")));  // as many digits as given
  BOOST_TEST((abs(gelu_erf(MpReal(2.0)) - 2 * phi_2) < MpReal("1e-20")));
}

BOOST_AUTO_TEST_CASE(the_tanh_form_is_that_of_gpt_2) {
  Numbers numbers(16);
  for (int n = 0; n < 50; ++n) {
    const MpReal x(numbers.between(-5, 5));
    const MpReal y = boost::multiprecision::sqrt(2 / reference::pi<MpReal>()) *
                     (x + MpReal("0.044715") * x * x * x);
    const MpReal published = x / 2 * (1 + boost::multiprecision::tanh(y));
    BOOST_TEST((abs(gelu_tanh(x) - published) <= MpReal("1e-47")));  // a few of 10^-50 |x|
  }
}

BOOST_AUTO_TEST_CASE(the_tanh_form_keeps_its_digits_where_it_is_small) {
  // At -10 the gate's argument is z = -87.3, about e^-87 = 1e-38, where 1 + tanh would be 0 in
  // double. z is within 8u |z| (pi, quotient, root, cubic, square, two products, sum), which the
  // exponential turns into 8u * 87.3 < 700u of the value.
  const double value = gelu_tanh(-10.0);
  const MpReal exact = gelu_tanh(MpReal(-10.0));
  BOOST_TEST((abs(MpReal(value) - exact) <= abs(exact) * 710 * u), value);
  BOOST_TEST(value < 0.0);
}

BOOST_AUTO_TEST_CASE(readings_and_derivatives_agree) {
  const auto adjoint = [](const auto& x, const auto& dy) {
    using R = ScalarOf<decltype(x)>;
    Vector<R> grad(x.size());
    for (Eigen::Index n = 0; n < x.size(); ++n) {
      grad[n] =
          dy[2 * n] * gelu_erf_derivative<R>(x[n]) + dy[2 * n + 1] * gelu_tanh_derivative<R>(x[n]);
    }
    return grad;
  };
  for (std::uint64_t seed : {1, 2, 3}) {
    expect_readings_and_adjoint(both, adjoint, Numbers(seed).between(-5, 5, 10), seed);
  }
  expect_readings_agree(both, {0.0, 1e-300, -30.0, 30.0});
}

BOOST_AUTO_TEST_SUITE_END()
