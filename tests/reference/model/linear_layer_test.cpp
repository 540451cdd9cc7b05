// SPDX-License-Identifier: Apache-2.0
#include "reference/model/linear_layer.hpp"

#include "tests/reference/weighted.hpp"

BOOST_AUTO_TEST_SUITE(linear_layer_test)

using namespace plumbline::reference;

namespace {

Matrix<double> tokens() {
  Matrix<double> X(2, 2);
  X << 1, 2, 3, 4;
  return X;
}

Matrix<double> weight() {  // [out = 3, in = 2]
  Matrix<double> W(3, 2);
  W << 1, 0, 0, 10, 100, 1000;
  return W;
}

}  // namespace

BOOST_AUTO_TEST_CASE(rows_of_the_weight_are_outputs) {
  Matrix<double> expected(2, 3);
  expected << 1, 20, 2100, 3, 40, 4300;
  BOOST_TEST((linear_layer(tokens(), weight(), Vector<double>()) == expected));
  expected << 6, 27, 2109, 8, 47, 4309;
  BOOST_TEST((linear_layer(tokens(), weight(), lifted<double>({5, 7, 9})) == expected));
}

BOOST_AUTO_TEST_CASE(the_gradient_by_hand) {
  Matrix<double> dy(2, 3), dx(2, 2), dw(3, 2);
  dy << 1, 2, 0, 0, 0, 1;
  dx << 1, 20, 100, 1000;
  dw << 1, 2, 2, 4, 3, 4;
  const auto grad = linear_layer_grad(tokens(), weight(), dy);
  BOOST_TEST((grad.x == dx));
  BOOST_TEST((grad.w == dw));
  BOOST_TEST(grad.b == lifted<double>({1, 2, 1}));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const Matrix<double> X = tokens(), W = weight(), square = zeros<double>(2, 2);
  const Matrix<double> wide = zeros<double>(2, 3), tall = zeros<double>(3, 3);
  const Vector<double> none = zeros<double>(0), two = zeros<double>(2);
  BOOST_CHECK_THROW(linear_layer(X, wide, none), std::invalid_argument);
  BOOST_CHECK_THROW(linear_layer(X, W, two), std::invalid_argument);
  BOOST_CHECK_THROW(linear_layer_grad(X, wide, square), std::invalid_argument);
  BOOST_CHECK_THROW(linear_layer_grad(X, W, square), std::invalid_argument);
  BOOST_CHECK_THROW(linear_layer_grad(X, W, tall), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(readings_and_adjoint_agree) {
  const int count = 3, in = 4, out = 2;
  const auto equation = [](const auto& x) {
    using R = ScalarOf<decltype(x)>;
    Reader<R> reader(x);
    const Matrix<R> X = reader.matrix(count, in), W = reader.matrix(out, in);
    Writer<R> results;
    results.matrix(linear_layer(X, W, reader.vector(out)));
    return results.result();
  };
  const auto adjoint = [](const auto& x, const auto& upstream) {
    using R = ScalarOf<decltype(x)>;
    Reader<R> reader(x), dy(upstream);
    const Matrix<R> X = reader.matrix(count, in), W = reader.matrix(out, in);
    const auto grad = linear_layer_grad(X, W, dy.matrix(count, out));
    Writer<R> results;
    results.matrix(grad.x);
    results.matrix(grad.w);
    results.vector(grad.b);
    return results.result();
  };
  for (std::uint64_t seed : {1, 2}) {
    const auto inputs = Numbers(seed).between(-1, 1, count * in + out * in + out);
    expect_readings_and_adjoint(equation, adjoint, inputs, seed);
  }
}

BOOST_AUTO_TEST_SUITE_END()
