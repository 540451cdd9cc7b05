// SPDX-License-Identifier: Apache-2.0
#include "reference/scalars/dual.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(dual_test)

using plumbline::reference::Dual;

namespace {

void expect(const Dual& x, double value, double tangent) {
  BOOST_TEST(x.value == value);
  BOOST_TEST(x.tangent == tangent);
}

}  // namespace

BOOST_AUTO_TEST_CASE(arithmetic_follows_the_rules_of_differentiation) {
  const Dual a(3.0, 1.0), b(2.0, 5.0);  // all results are exact in double
  expect(a + b, 5.0, 6.0);
  expect(a - b, 1.0, -4.0);
  expect(-a, -3.0, -1.0);
  expect(a * b, 6.0, 1.0 * 2.0 + 3.0 * 5.0);
  expect(a / b, 1.5, (1.0 * 2.0 - 3.0 * 5.0) / 4.0);
  Dual sum = a;
  sum += b;
  expect(sum, 5.0, 6.0);
  sum -= a;
  expect(sum, 2.0, 5.0);
}

BOOST_AUTO_TEST_CASE(a_constant_has_no_derivative) {
  expect(Dual(3.0), 3.0, 0.0);
  BOOST_TEST(plumbline::reference::representative(Dual(3.0, 1.0)) == 3.0);
}

BOOST_AUTO_TEST_SUITE_END()
