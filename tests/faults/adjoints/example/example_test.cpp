// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/adjoints/example/adjoints.hpp"

#include "tests/reference/readings.hpp"

BOOST_AUTO_TEST_SUITE(example_test)

using namespace plumbline::reference;

BOOST_AUTO_TEST_CASE(these_are_called_and_no_more) {
  curve_derivative(0.5);
  pair_grad(lifted<double>({1, 2}), Matrix<double>(zeros<double>(1, 2)), 3.0);
}

BOOST_AUTO_TEST_CASE(the_cube_is_compared) {
  expect_adjoint([](const auto& x) { return Vector<ScalarOf<decltype(x)>>(x * x[0] * x[0]); },
                 [](const auto& x) {
                   Vector<ScalarOf<decltype(x)>> gradient(1);
                   gradient[0] = cube_derivative(x[0]);
                   return gradient;
                 },
                 {0.7});
}

BOOST_AUTO_TEST_SUITE_END()
