// SPDX-License-Identifier: Apache-2.0
#include "reference/model/swiglu.hpp"

#include "tests/reference/weighted.hpp"

BOOST_AUTO_TEST_SUITE(swiglu_test)

using namespace plumbline::reference;

BOOST_AUTO_TEST_CASE(the_gate_is_closed_half_open_or_open) {
  BOOST_TEST(swiglu(0.0, 3.0) == 0.0);
  BOOST_TEST(swiglu(100.0, 3.0) == 300.0);  // 1 - e^-100 rounds to 1
  BOOST_TEST(swiglu(-1000.0, 3.0) == 0.0);
  // silu(ln 3) = ln 3 * 3/4: logistic within 6u and its argument within u ln 3, and two products.
  const double expected = 2 * 0.75 * std::log(3.0);
  BOOST_TEST(std::fabs(swiglu(std::log(3.0), 2.0) - expected) <= 12 * 0x1p-53 * expected);
}

BOOST_AUTO_TEST_CASE(the_gradient_by_hand) {
  const auto closed = swiglu_grad(0.0, 3.0, 2.0);  // da = 2 * 3 * 1/2
  BOOST_TEST(closed.a == 3.0);
  BOOST_TEST(closed.b == 0.0);
  const auto open = swiglu_grad(100.0, 3.0, 2.0);  // silu(a) = a there
  BOOST_TEST(open.a == 6.0);
  BOOST_TEST(open.b == 200.0);
}

BOOST_AUTO_TEST_CASE(readings_and_adjoint_agree) {
  const auto equation = [](const auto& x) {
    using R = ScalarOf<decltype(x)>;
    Vector<R> y(x.size() / 2);
    for (Eigen::Index n = 0; n < y.size(); ++n) y[n] = swiglu<R>(x[2 * n], x[2 * n + 1]);
    return y;
  };
  const auto adjoint = [](const auto& x, const auto& dy) {
    using R = ScalarOf<decltype(x)>;
    Vector<R> grad(x.size());
    for (Eigen::Index n = 0; n < dy.size(); ++n) {
      const SwigluGrad<R> by = swiglu_grad<R>(x[2 * n], x[2 * n + 1], dy[n]);
      grad[2 * n] = by.a;
      grad[2 * n + 1] = by.b;
    }
    return grad;
  };
  for (std::uint64_t seed : {1, 2, 3}) {
    expect_readings_and_adjoint(equation, adjoint, Numbers(seed).between(-4, 4, 12), seed);
  }
}

BOOST_AUTO_TEST_SUITE_END()
