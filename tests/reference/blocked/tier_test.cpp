// SPDX-License-Identifier: Apache-2.0
// The blocked tier by hand, and that it refuses what the equations refuse.
#include "reference/blocked/tier.hpp"

#include "tests/reference/readings.hpp"

BOOST_AUTO_TEST_SUITE(tier_test)

using namespace plumbline::reference;

namespace {

/// One head, two keys with equal logits; as a_row_by_hand of the equations' tests.
AttentionInputs<double> two_keys() {
  AttentionInputs<double> x;
  x.shape = {1, 1, 1, 1, 2, 1, 1};
  x.q = {Matrix<double>::Constant(1, 1, 5.0)};
  x.k = {Matrix<double>::Constant(2, 1, 3.0)};
  Matrix<double> V(2, 1);
  V << 1, 3;
  x.v = {V};
  x.scale = 0.5;
  return x;
}

const auto no_bias = [](int, int) { return Nope<double>{}; };

}  // namespace

BOOST_AUTO_TEST_CASE(a_row_by_hand) {
  // p = (1/2, 1/2), lse = 7.5 + ln 2; the gradients are derived in attention_grad_test.cpp.
  const AttentionInputs<double> x = two_keys();
  const auto attended = Blocked::attention(x, no_bias);
  BOOST_TEST(attended.output[0](0, 0) == 2.0);
  BOOST_TEST(!!(std::fabs(attended.lse[0][0] - (7.5 + std::log(2.0))) <= 2 * 0x1p-53 * 8.2));

  const auto grad = Blocked::attention_grad(
      x, no_bias, {{Matrix<double>::Constant(1, 1, 4.0)}, {Vector<double>::Constant(1, 2.0)}});
  // p comes from the LSE: its error, at most 2u 8.2 before e^x, is that of everything below.
  const double u = 0x1p-53, relative = 20 * u;
  const auto near = [&](double value, double expected, double terms) {
    BOOST_TEST(!!(std::fabs(value - expected) <= relative * terms), value << " " << expected);
  };
  near(grad.q[0](0, 0), 3.0, 12 * 3);
  near(grad.k[0](0, 0), -2.5, 12 * 2.5);
  near(grad.k[0](1, 0), 7.5, 12 * 2.5);
  near(grad.v[0](0, 0), 2.0, 2);
  near(grad.v[0](1, 0), 2.0, 2);
}

BOOST_AUTO_TEST_CASE(a_row_that_sees_no_key_gives_zeros) {
  AttentionInputs<double> x = two_keys();
  x.mask.lengths = {1};  // the query stands at position 1
  const auto attended = Blocked::attention(x, no_bias);
  BOOST_TEST(attended.output[0](0, 0) == 0.0);
  BOOST_TEST(attended.lse[0][0] == 0.0);
  BOOST_TEST(blocked::attention(blocked::problem_of(x)).sees_no_key[0][0] == 1);
  const auto grad =
      Blocked::attention_grad(x, no_bias, {{Matrix<double>::Constant(1, 1, 4.0)}, {}});
  BOOST_TEST(grad.q[0].isZero(0.0));
  BOOST_TEST(grad.k[0].isZero(0.0));
  BOOST_TEST(grad.v[0].isZero(0.0));
}

BOOST_AUTO_TEST_CASE(the_linear_layer_and_its_adjoint_by_hand) {
  Matrix<double> X(2, 2), W(3, 2), dY(2, 3);
  X << 1, 2, 3, 4;
  W << 1, 0, 0, 1, 1, 1;
  dY << 1, 2, 3, 4, 5, 6;
  Matrix<double> Y(2, 3), dX(2, 2), dW(3, 2);
  Y << 11, 22, 33, 13, 24, 37;
  dX << 4, 5, 10, 11;
  dW << 13, 18, 17, 24, 21, 30;
  BOOST_TEST((Blocked::linear(X, W, lifted<double>({10, 20, 30})) == Y));
  const auto grad = Blocked::linear_grad(X, W, dY);
  BOOST_TEST((grad.x == dX));
  BOOST_TEST((grad.w == dW));
  BOOST_TEST(grad.b == lifted<double>({5, 7, 9}));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused_as_the_equations_refuse_it) {
  const Matrix<double> X = zeros<double>(2, 2), W = zeros<double>(3, 2), dY = zeros<double>(2, 3);
  const Vector<double> b = zeros<double>(3);
  const auto refuses = [](const auto& call, const std::string& message) {
    BOOST_CHECK_EXCEPTION(call(), std::invalid_argument,
                          [&](const auto& error) { return error.what() == message; });
  };
  refuses([&] { Blocked::linear(X, zeros<double>(3, 1), b); },
          "W.cols() is 1; expected the columns of X");
  refuses([&] { Blocked::linear(X, W, zeros<double>(2)); },
          "b.size() is 2; expected the rows of W, or 0");
  refuses([&] { Blocked::linear_grad(X, W, zeros<double>(1, 3)); },
          "grad_y.rows() is 1; expected the rows of X");
  refuses([&] { Blocked::linear_grad(X, W, zeros<double>(2, 2)); },
          "grad_y.cols() is 2; expected the rows of W");
  AttentionInputs<double> x = two_keys();
  x.k.clear();
  refuses([&] { Blocked::attention(x, no_bias); }, "k is 0; expected one matrix a head");
  refuses(
      [&] {
        Blocked::attention_grad(two_keys(), no_bias, {{}, {}});
      },
      "upstream.output.size() is 0; expected one matrix a head");
}

BOOST_AUTO_TEST_SUITE_END()
