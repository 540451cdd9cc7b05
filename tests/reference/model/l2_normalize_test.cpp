// SPDX-License-Identifier: Apache-2.0
#include "reference/model/l2_normalize.hpp"

#include "tests/reference/refused.hpp"
#include "tests/reference/weighted.hpp"

BOOST_AUTO_TEST_SUITE(l2_normalize_test)

using namespace plumbline::reference;

namespace {

// Lengths 5 and 1/2; epsilon = 1, so the second row is divided by 1.
Matrix<double> rows() {
  Matrix<double> X(2, 2);
  X << 3, -4, 0.5, 0;
  return X;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_row_is_divided_by_its_length_or_by_epsilon) {
  Matrix<double> expected(2, 2);
  expected << 3 / 5.0, -4 / 5.0, 0.5, 0;
  BOOST_TEST((l2_normalize(rows(), 1.0) == expected));
  BOOST_TEST((l2_normalize(zeros<double>(1, 2), pytorch_normalize_epsilon) == zeros<double>(1, 2)));
}

BOOST_AUTO_TEST_CASE(the_gradient_by_hand) {
  // Row 1: y = (3/5, -4/5), dy = (5, 0), y . dy = 3; (5 - 9/5, 12/5) / 5. Row 2: dy / 1.
  Matrix<double> dy(2, 2);
  dy << 5, 0, 3, 7;
  const Matrix<double> grad = l2_normalize_grad(rows(), 1.0, dy);
  const double u = 0x1p-53;  // few roundings of numbers below 5, of which 3/5 is the first
  BOOST_TEST(std::fabs(grad(0, 0) - 16 / 25.0) <= 8 * u);
  BOOST_TEST(std::fabs(grad(0, 1) - 12 / 25.0) <= 8 * u);
  BOOST_TEST(grad(1, 0) == 3.0);
  BOOST_TEST(grad(1, 1) == 7.0);
  const Matrix<double> one = Matrix<double>::Ones(1, 1);
  const Matrix<double> of_zeros = l2_normalize_grad(zeros<double>(1, 1), 0.5, one);
  BOOST_TEST(of_zeros(0, 0) == 2.0);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const auto normalized = [](double epsilon) {
    return [=](const auto& zero) {
      using R = std::remove_cvref_t<decltype(zero)>;
      l2_normalize(zeros<R>(1, 2), R(epsilon));
    };
  };
  const std::string range = "; expected between 1e-150 and 1e150";
  expect_refused("epsilon is 0" + range, normalized(0));
  expect_refused("epsilon is 1e-200" + range, normalized(1e-200));
  expect_refused("epsilon is 1e+200" + range, normalized(1e200));
  expect_refused("epsilon is nan" + range, normalized(std::nan("")));
  const auto grad = [](int rows, int columns, double epsilon) {
    return [=](const auto& zero) {
      using R = std::remove_cvref_t<decltype(zero)>;
      l2_normalize_grad(zeros<R>(1, 2), R(epsilon), zeros<R>(rows, columns));
    };
  };
  expect_refused("grad_y.rows() is 2; expected the rows of X", grad(2, 2, 1));
  expect_refused("grad_y.cols() is 1; expected the columns of X", grad(1, 1, 1));
  expect_refused("epsilon is -1" + range, grad(1, 2, -1));
}

BOOST_AUTO_TEST_CASE(readings_and_adjoint_agree) {
  const auto equation = [](const auto& x) {
    using R = ScalarOf<decltype(x)>;
    Reader<R> reader(x);
    Writer<R> results;
    results.matrix(l2_normalize(reader.matrix(3, 3), R(0.5)));
    return results.result();
  };
  const auto adjoint = [](const auto& x, const auto& dy) {
    using R = ScalarOf<decltype(x)>;
    Reader<R> reader(x), upstream(dy);
    Writer<R> results;
    results.matrix(l2_normalize_grad(reader.matrix(3, 3), R(0.5), upstream.matrix(3, 3)));
    return results.result();
  };
  std::vector<double> inputs = Numbers(1).between(-2, 2, 6);
  inputs.insert(inputs.end(), {0.1, -0.2, 0.3});  // shorter than epsilon
  expect_readings_and_adjoint(equation, adjoint, inputs, 1);
}

BOOST_AUTO_TEST_SUITE_END()
