// SPDX-License-Identifier: Apache-2.0
#include "reference/optimizer/clip.hpp"

#include "tests/reference/parameters.hpp"
#include "tests/reference/refused.hpp"

BOOST_AUTO_TEST_SUITE(clip_test)

using namespace plumbline::reference;

namespace {

// One norm of both: sqrt(1 + 4 + 4 + 16).
Vector<double> vector() { return lifted<double>({1, -2}); }
Matrix<double> matrix() {
  Matrix<double> x(2, 1);
  x << 2, -4;
  return x;
}

double norm_of_both() {
  GlobalNorm<double> norm;
  norm.add(vector());
  norm.add(matrix());
  return norm.value();
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_norm_is_one_over_all_tensors) {
  BOOST_TEST(GlobalNorm<double>().value() == 0.0);
  BOOST_TEST(norm_of_both() == 5.0);
}

BOOST_AUTO_TEST_CASE(a_longer_gradient_is_brought_to_the_norm_and_a_shorter_one_left) {
  BOOST_TEST(clip_factor(5.0, 1.0, 0.0) == 1 / 5.0);
  BOOST_TEST(clip_factor(1.0, 1.0, 0.0) == 1.0);
  BOOST_TEST(clip_factor(0.5, 1.0, 0.0) == 1.0);
  BOOST_TEST(clip_factor(0.0, 1.0, 0.0) == 1.0);
  Matrix<double> grad = matrix();
  scale_gradient(grad, 0.5);
  BOOST_TEST(grad(0, 0) == 1.0);
  BOOST_TEST(grad(1, 0) == -2.0);
}

BOOST_AUTO_TEST_CASE(an_epsilon_clips_a_little_earlier_and_shorter) {
  BOOST_TEST(clip_factor(3.0, 1.0, 1.0) == 0.25);
  BOOST_TEST(clip_factor(0.5, 1.0, 1.0) == 1 / 1.5);
  BOOST_TEST(clip_factor(0.0, 1.0, 1.0) == 1.0);
  BOOST_TEST(clip_factor(1.0, 1.0, pytorch_clip_epsilon) < 1.0);
}

BOOST_AUTO_TEST_CASE(what_is_outside_of_the_domain_is_refused) {
  const auto factor = [](double norm, double max_norm, double epsilon) {
    return [=](const auto& zero) {
      using R = std::remove_cvref_t<decltype(zero)>;
      clip_factor(R(norm), R(max_norm), R(epsilon));
    };
  };
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  expect_refused("norm is -1; expected finite and at least 0", factor(-1, 1, 0));
  expect_refused("norm is inf; expected finite and at least 0", factor(infinity, 1, 0));
  expect_refused("max_norm is 0; expected finite and above 0", factor(1, 0, 0));
  expect_refused("max_norm is inf; expected finite and above 0", factor(1, infinity, 0));
  expect_refused("epsilon is -1e-06; expected finite and at least 0", factor(1, 1, -1e-6));
  expect_refused("epsilon is nan; expected finite and at least 0", factor(1, 1, nan));
  expect_refused("epsilon is inf; expected finite and at least 0", factor(1, 1, infinity));
}

BOOST_AUTO_TEST_CASE(readings_agree) {
  const auto equation = [](const auto& x) {
    using R = ScalarOf<decltype(x)>;
    Reader<R> reader(x);
    Vector<R> vector = reader.vector(2);
    Matrix<R> matrix = reader.matrix(2, 2);
    GlobalNorm<R> norm;
    norm.add(vector);
    norm.add(matrix);
    const R factor = clip_factor(norm.value(), R(1.0), R(pytorch_clip_epsilon));
    scale_gradient(vector, factor);
    scale_gradient(matrix, factor);
    Writer<R> results;
    results.number(norm.value());
    results.vector(vector);
    results.matrix(matrix);
    return results.result();
  };
  expect_readings_agree(equation, Numbers(1).between(-2, 2, 6));      // clipped
  expect_readings_agree(equation, Numbers(2).between(-0.2, 0.2, 6));  // left
}

BOOST_AUTO_TEST_SUITE_END()
