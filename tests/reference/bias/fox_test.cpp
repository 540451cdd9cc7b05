// SPDX-License-Identifier: Apache-2.0
#include "reference/bias/fox.hpp"

#include "tests/reference/weighted.hpp"

BOOST_AUTO_TEST_SUITE(fox_test)

using namespace plumbline::reference;

BOOST_AUTO_TEST_CASE(gates_by_hand) {
  Matrix<double> X(3, 2);
  X << 1, 2, -1, 1.5, 0, -1e300;
  const Vector<double> w = lifted<double>({2, 1});
  // z = 4.5, 0 and about -1e300: f = logistic(4.5), 1/2, and e^z, whose logarithm is z.
  const Vector<double> log_f = log_forget_gates(X, w, 0.5);
  BOOST_TEST(log_f[0] == -std::log1p(std::exp(-4.5)));
  BOOST_TEST(log_f[1] == -std::log(2.0));
  BOOST_TEST(log_f[2] == -1e300);  // no overflow on the way
}

BOOST_AUTO_TEST_CASE(the_gates_between_the_key_and_the_query_add_up) {
  // log f = -1, -2, -4, -8: c = -1, -3, -7, -15.
  const Fox<double> bias{prefix_sum(lifted<double>({-1, -2, -4, -8}))};
  const double expected[4][4] = {{0}, {-2, 0}, {-6, -4, 0}, {-14, -12, -8, 0}};
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j <= i; ++j) BOOST_TEST(bias(i, j) == expected[i][j]);
  }
  BOOST_TEST(bias(0, 3) == 14.0);  // beyond the causal part it is a reward
}

BOOST_AUTO_TEST_CASE(the_gradient_of_gates_by_hand) {
  // x = 2, w = 1, b = -2: z = 0 and d log f / dz = 1/2; dw = 3/2 * 2, db = 3/2, dx = 3/2.
  Matrix<double> X(1, 1);
  X << 2;
  const auto grad = log_forget_gates_grad(X, lifted<double>({1}), -2.0, lifted<double>({3}));
  BOOST_TEST(grad.w == lifted<double>({3}));
  BOOST_TEST(grad.b == 1.5);
  BOOST_TEST(grad.x(0, 0) == 1.5);
}

BOOST_AUTO_TEST_CASE(sizes_that_differ_are_refused) {
  const Matrix<double> X = zeros<double>(2, 2);
  const Vector<double> two = zeros<double>(2), three = zeros<double>(3);
  BOOST_CHECK_THROW(log_forget_gates(X, three, 0.0), std::invalid_argument);
  BOOST_CHECK_THROW(log_forget_gates_grad(X, two, 0.0, three), std::invalid_argument);
  BOOST_CHECK_THROW(log_forget_gates_grad(X, three, 0.0, two), std::invalid_argument);
}

namespace {

const int tokens = 4, width = 3;

// One head: X, w_f, b_f.
template <Real R>
struct Head {
  explicit Head(const Vector<R>& inputs) {
    Reader<R> reader(inputs);
    X = reader.matrix(tokens, width);
    w_f = reader.vector(width);
    b_f = reader.number();
  }
  Fox<R> bias() const { return {prefix_sum(log_forget_gates(X, w_f, b_f))}; }

  Matrix<R> X;
  Vector<R> w_f;
  R b_f;
};

}  // namespace

BOOST_AUTO_TEST_CASE(the_chain_from_the_input_to_the_bias_agrees) {
  const auto chain = [](const auto& x) {
    using R = ScalarOf<decltype(x)>;
    const Fox<R> bias = Head<R>(x).bias();
    Writer<R> results;
    for (int i = 0; i < tokens; ++i) {
      for (int j = 0; j <= i; ++j) results.number(bias(i, j));
    }
    return results.result();
  };
  const auto adjoint = [](const auto& x, const auto& upstream) {
    using R = ScalarOf<decltype(x)>;
    const Head<R> head(x);
    const Fox<R> bias = head.bias();
    Reader<R> grad_bias(upstream);
    auto grad = bias.zero_grad();
    for (int i = 0; i < tokens; ++i) {
      for (int j = 0; j <= i; ++j) bias.accumulate_grad(grad, i, j, grad_bias.number());
    }
    const auto by_gates =
        log_forget_gates_grad(head.X, head.w_f, head.b_f, prefix_sum_grad(grad.prefix_sum));
    Writer<R> results;
    results.matrix(by_gates.x);
    results.vector(by_gates.w);
    results.number(by_gates.b);
    return results.result();
  };
  for (std::uint64_t seed : {1, 2, 3}) {
    const auto inputs = Numbers(seed).between(-1.5, 1.5, tokens * width + width + 1);
    expect_readings_and_adjoint(chain, adjoint, inputs, seed);
  }
}

BOOST_AUTO_TEST_SUITE_END()
