// SPDX-License-Identifier: Apache-2.0
#include "reference/model/rmsnorm.hpp"

#include "tests/reference/weighted.hpp"

BOOST_AUTO_TEST_SUITE(rmsnorm_test)

using namespace plumbline::reference;

namespace {

// Mean square 25; with epsilon = 39, r is 8. The second token is 0, and stays 0.
Matrix<double> tokens() {
  Matrix<double> X(2, 2);
  X << 1, 7, 0, 0;
  return X;
}
const Vector<double> gamma_ = lifted<double>({2, 4});

}  // namespace

BOOST_AUTO_TEST_CASE(each_token_is_divided_by_its_root_mean_square) {
  Matrix<double> expected(2, 2);
  expected << 0.25, 3.5, 0, 0;
  BOOST_TEST((rmsnorm(tokens(), gamma_, 39.0) == expected));
}

BOOST_AUTO_TEST_CASE(the_gradient_by_hand) {
  // dy = (1, 0): g = (2, 0), n = (1/8, 7/8), along (2/8)/2 = 1/8; dx = (2 - 1/64, -7/64) / 8.
  // The token of zeros: dx = g / sqrt(39).
  Matrix<double> dy(2, 2);
  dy << 1, 0, 0, 1;
  const auto grad = rmsnorm_grad(tokens(), gamma_, 39.0, dy);
  BOOST_TEST(grad.x(0, 0) == (2 - 1 / 64.0) / 8);
  BOOST_TEST(grad.x(0, 1) == -7 / 64.0 / 8);
  BOOST_TEST(grad.x(1, 0) == 0.0);
  BOOST_TEST(grad.x(1, 1) == 4 / std::sqrt(39.0));
  BOOST_TEST(grad.gamma == lifted<double>({0.125, 0}));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const Vector<double> three = zeros<double>(3), none = zeros<double>(0);
  const Matrix<double> X = tokens(), tall = zeros<double>(3, 2), wide = zeros<double>(2, 3);
  BOOST_CHECK_THROW(rmsnorm(X, three, 39.0), std::invalid_argument);
  BOOST_CHECK_THROW(rmsnorm(X, gamma_, 0.0), std::invalid_argument);
  BOOST_CHECK_THROW(rmsnorm(X, gamma_, std::nan("")), std::invalid_argument);
  BOOST_CHECK_THROW(rmsnorm(zeros<double>(1, 0), none, 39.0), std::invalid_argument);
  BOOST_CHECK_THROW(rmsnorm_grad(X, three, 39.0, X), std::invalid_argument);
  BOOST_CHECK_THROW(rmsnorm_grad(X, gamma_, 39.0, tall), std::invalid_argument);
  BOOST_CHECK_THROW(rmsnorm_grad(X, gamma_, 39.0, wide), std::invalid_argument);
  BOOST_CHECK_THROW(rmsnorm_grad(X, gamma_, -1.0, X), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(readings_and_adjoint_agree) {
  const int count = 3, width = 5;
  const auto equation = [](const auto& x) {
    using R = ScalarOf<decltype(x)>;
    Reader<R> reader(x);
    const Matrix<R> X = reader.matrix(count, width);
    Writer<R> results;
    results.matrix(rmsnorm(X, reader.vector(width), R(1e-5)));
    return results.result();
  };
  const auto adjoint = [](const auto& x, const auto& dy) {
    using R = ScalarOf<decltype(x)>;
    Reader<R> reader(x), upstream(dy);
    const Matrix<R> X = reader.matrix(count, width);
    const auto grad = rmsnorm_grad(X, reader.vector(width), R(1e-5), upstream.matrix(count, width));
    Writer<R> results;
    results.matrix(grad.x);
    results.vector(grad.gamma);
    return results.result();
  };
  for (std::uint64_t seed : {1, 2, 3}) {
    const auto inputs = Numbers(seed).between(-2, 2, (count + 1) * width);
    expect_readings_and_adjoint(equation, adjoint, inputs, seed);
  }
}

BOOST_AUTO_TEST_SUITE_END()
