// SPDX-License-Identifier: Apache-2.0
#include "reference/bias/cable_parameters.hpp"

#include "reference/bias/prefix_sum.hpp"
#include "tests/reference/bias/bias_readings.hpp"

BOOST_AUTO_TEST_SUITE(cable_parameters_test)

using namespace plumbline::reference;

BOOST_AUTO_TEST_CASE(increments_and_gains_by_hand) {
  Matrix<double> X(3, 2);
  X << 1, 2, -1, 0, 0, -1;
  const Vector<double> w = lifted<double>({2, 1});
  // x.w + b = 4.5, -1.5, -0.5.
  BOOST_TEST(increments(X, w, 0.5) == lifted<double>({4.5, 0, 0}));
  const Vector<double> g = gain(X, w, 0.5);
  BOOST_TEST(g[0] == softplus(4.5));
  BOOST_TEST(g[1] == softplus(-1.5));
  BOOST_TEST(g[2] == softplus(-0.5));
}

BOOST_AUTO_TEST_CASE(the_gradient_of_increments_by_hand) {
  Matrix<double> X(2, 2);
  X << 1, 2, -1, 0;
  const Vector<double> w = lifted<double>({2, 1});
  // z = 4 and -2: only the first token's gradient goes through the ReLU.
  const auto grad = increments_grad(X, w, 0.0, lifted<double>({3, 5}));
  BOOST_TEST(grad.w == lifted<double>({3, 6}));
  BOOST_TEST(grad.b == 3.0);
  BOOST_TEST((grad.x.row(0).transpose() == lifted<double>({6, 3})));
  BOOST_TEST((grad.x.row(1).transpose() == lifted<double>({0, 0})));
}

BOOST_AUTO_TEST_CASE(sizes_that_differ_are_refused) {
  const Matrix<double> X = zeros<double>(2, 2);
  const Vector<double> two = zeros<double>(2), three = zeros<double>(3);
  BOOST_CHECK_THROW(increments(X, three, 0.0), std::invalid_argument);
  BOOST_CHECK_THROW(gain(X, three, 0.0), std::invalid_argument);
  BOOST_CHECK_THROW(increments_grad(X, two, 0.0, three), std::invalid_argument);
  BOOST_CHECK_THROW(gain_grad(X, two, 0.0, three), std::invalid_argument);
  BOOST_CHECK_THROW(linear_grad(X, three, two), std::invalid_argument);
  BOOST_CHECK_THROW(linear_grad(X, two, three), std::invalid_argument);
}

namespace {

// The whole chain of CABLE, equations 2-7, for two heads that share the input: X, and for each head
// w_c, b_c, w_s, b_s -> b_ij, weighted with fixed numbers.
const int tokens = 4, width = 3, heads = 2;

template <Real R>
struct HeadParameters {
  explicit HeadParameters(Reader<R>& reader)
      : w_c(reader.vector(width)),
        b_c(reader.number()),
        w_s(reader.vector(width)),
        b_s(reader.number()) {}
  Cable<R> bias(const Matrix<R>& X) const {
    return {prefix_sum(increments(X, w_c, b_c)), gain(X, w_s, b_s)};
  }
  Vector<R> w_c;
  R b_c;
  Vector<R> w_s;
  R b_s;
};

}  // namespace

BOOST_AUTO_TEST_CASE(the_chain_from_the_input_to_the_bias_agrees) {
  int positive = 0, dropped = 0;  // increments on either side of the ReLU's kink
  for (std::uint64_t seed : {1, 2, 3, 4}) {
    Numbers numbers(seed);
    std::vector<double> inputs = numbers.between(-1, 1, tokens * width);
    for (int map = 0; map < 2 * heads; ++map) {
      for (double w : numbers.between(-2, 2, width)) inputs.push_back(w);
      inputs.push_back(numbers.between(-0.5, 0.5));  // small, so that tokens differ in sign
    }
    const std::vector<double> weights = numbers.between(-1, 1, heads * tokens * tokens);
    // S_i = S_j, where no increment between is positive, is the kink of |.|. There a number with
    // an error has no certain sign; cable_test has that derivative by hand. Such pairs weigh 0.
    const Vector<double> plain_inputs = lifted<double>(inputs);
    Reader<double> plain(plain_inputs);
    const Matrix<double> plain_x = plain.matrix(tokens, width);
    std::vector<Vector<double>> sums;
    for (int h = 0; h < heads; ++h) {
      const Vector<double> f = [&] {
        const HeadParameters<double> head(plain);
        return increments(plain_x, head.w_c, head.b_c);
      }();
      for (double value : f) (value > 0 ? positive : dropped) += 1;
      sums.push_back(prefix_sum(f));
    }
    const auto weight = [&](int h, int i, int j) {
      return sums[h][i] == sums[h][j] ? 0.0 : weights[(h * tokens + i) * tokens + j];
    };
    const auto objective = [&](const auto& x) {
      using R = ScalarOf<decltype(x)>;
      Reader<R> reader(x);
      const Matrix<R> X = reader.matrix(tokens, width);
      Vector<R> total = zeros<R>(1);
      for (int h = 0; h < heads; ++h) {
        const Cable<R> bias = HeadParameters<R>(reader).bias(X);
        for (int i = 0; i < tokens; ++i) {
          for (int j = 0; j <= i; ++j) total[0] += R(weight(h, i, j)) * bias(i, j);
        }
      }
      return total;
    };
    const auto adjoint = [&](const auto& x) {
      using R = ScalarOf<decltype(x)>;
      Reader<R> reader(x);
      const Matrix<R> X = reader.matrix(tokens, width);
      Matrix<R> grad_x = zeros<R>(tokens, width);
      Writer<R> parameters;
      for (int h = 0; h < heads; ++h) {
        const HeadParameters<R> head(reader);
        const Cable<R> bias = head.bias(X);
        auto grad = bias.zero_grad();
        for (int i = 0; i < tokens; ++i) {
          for (int j = 0; j <= i; ++j) bias.accumulate_grad(grad, i, j, R(weight(h, i, j)));
        }
        const auto by_increments =
            increments_grad(X, head.w_c, head.b_c, prefix_sum_grad(grad.prefix_sum));
        const auto by_gain = gain_grad(X, head.w_s, head.b_s, grad.gain);
        for (Eigen::Index n = 0; n < grad_x.size(); ++n) {
          grad_x.data()[n] += by_increments.x.data()[n] + by_gain.x.data()[n];
        }
        parameters.vector(by_increments.w);
        parameters.number(by_increments.b);
        parameters.vector(by_gain.w);
        parameters.number(by_gain.b);
      }
      Writer<R> results;
      results.matrix(grad_x);
      results.vector(parameters.result());
      return results.result();
    };
    BOOST_TEST_CONTEXT("seed " << seed) {
      expect_readings_agree(objective, inputs);
      expect_adjoint(objective, adjoint, inputs);
    }
  }
  BOOST_TEST(positive > 0);
  BOOST_TEST(dropped > 0);
}

BOOST_AUTO_TEST_SUITE_END()
