// SPDX-License-Identifier: Apache-2.0
#include "reference/model/layernorm.hpp"

#include "tests/reference/weighted.hpp"

BOOST_AUTO_TEST_SUITE(layernorm_test)

using namespace plumbline::reference;

namespace {

// Mean 2 and variance 1; with epsilon = 3, sigma is 2 and n = (-1/2, 1/2). The second token is
// constant: n = (0, 0).
Matrix<double> tokens() {
  Matrix<double> X(2, 2);
  X << 1, 3, 5, 5;
  return X;
}
const Vector<double> gamma_ = lifted<double>({2, 4}), beta = lifted<double>({10, 20});

}  // namespace

BOOST_AUTO_TEST_CASE(each_token_is_standardised_then_scaled_and_shifted) {
  Matrix<double> expected(2, 2);
  expected << 9, 22, 10, 20;
  BOOST_TEST((layernorm(tokens(), gamma_, beta, 3.0) == expected));
}

BOOST_AUTO_TEST_CASE(the_gradient_by_hand) {
  // dy = (1, 0): g = (2, 0), mean 1, along (2 * -1/2)/2 = -1/2;
  // dx = (2 - 1 - 1/4, 0 - 1 + 1/4) / 2. The constant token: dy = (0, 1): g = (0, 4), mean 2,
  // dx = (-2, 2) / sqrt(3).
  Matrix<double> dy(2, 2);
  dy << 1, 0, 0, 1;
  const auto grad = layernorm_grad(tokens(), gamma_, 3.0, dy);
  BOOST_TEST(grad.x(0, 0) == 0.375);
  BOOST_TEST(grad.x(0, 1) == -0.375);
  BOOST_TEST(grad.x(1, 0) == -2 / std::sqrt(3.0));
  BOOST_TEST(grad.x(1, 1) == 2 / std::sqrt(3.0));
  BOOST_TEST(grad.gamma == lifted<double>({-0.5, 0}));
  BOOST_TEST(grad.beta == lifted<double>({1, 1}));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const Vector<double> three = zeros<double>(3), none = zeros<double>(0);
  const Matrix<double> X = tokens(), tall = zeros<double>(3, 2), wide = zeros<double>(2, 3);
  BOOST_CHECK_THROW(layernorm(X, three, beta, 3.0), std::invalid_argument);
  BOOST_CHECK_THROW(layernorm(X, gamma_, three, 3.0), std::invalid_argument);
  BOOST_CHECK_THROW(layernorm(X, gamma_, beta, 0.0), std::invalid_argument);
  BOOST_CHECK_THROW(layernorm(X, gamma_, beta, std::nan("")), std::invalid_argument);
  BOOST_CHECK_THROW(layernorm(zeros<double>(1, 0), none, none, 3.0), std::invalid_argument);
  BOOST_CHECK_THROW(layernorm_grad(X, three, 3.0, X), std::invalid_argument);
  BOOST_CHECK_THROW(layernorm_grad(X, gamma_, 3.0, tall), std::invalid_argument);
  BOOST_CHECK_THROW(layernorm_grad(X, gamma_, 3.0, wide), std::invalid_argument);
  BOOST_CHECK_THROW(layernorm_grad(X, gamma_, -1.0, X), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(readings_and_adjoint_agree) {
  const int count = 3, width = 5;
  const auto equation = [](const auto& x) {
    using R = ScalarOf<decltype(x)>;
    Reader<R> reader(x);
    const Matrix<R> X = reader.matrix(count, width);
    const Vector<R> gamma = reader.vector(width), beta = reader.vector(width);
    Writer<R> results;
    results.matrix(layernorm(X, gamma, beta, R(1e-5)));
    return results.result();
  };
  const auto adjoint = [](const auto& x, const auto& dy) {
    using R = ScalarOf<decltype(x)>;
    Reader<R> reader(x), upstream(dy);
    const Matrix<R> X = reader.matrix(count, width);
    const auto grad =
        layernorm_grad(X, reader.vector(width), R(1e-5), upstream.matrix(count, width));
    Writer<R> results;
    results.matrix(grad.x);
    results.vector(grad.gamma);
    results.vector(grad.beta);
    return results.result();
  };
  for (std::uint64_t seed : {1, 2, 3}) {
    const auto inputs = Numbers(seed).between(-2, 2, (count + 2) * width);
    expect_readings_and_adjoint(equation, adjoint, inputs, seed);
  }
}

BOOST_AUTO_TEST_SUITE_END()
