// SPDX-License-Identifier: Apache-2.0
#include "reference/bias/fire.hpp"

#include "tests/reference/bias/bias_readings.hpp"

BOOST_AUTO_TEST_SUITE(fire_test)

using namespace plumbline::reference;

namespace {

// With c = 1, L0 = 1 and epsilon = 0, x = log2(1 + |i - j|) / log2(1 + max(i, |L|)).
// b = 4 ReLU(x) + 8 ReLU(1.5 - 2x) - 1: 11 at x = 0, 5 at 1/2, 3 at 1, 7 at 2.
Fire<double> simple(double c, double L) {
  return {{lifted<double>({1, -2}), lifted<double>({0, 1.5}), lifted<double>({4, 8}), -1.0, c, L},
          1.0,
          0.0};
}

}  // namespace

BOOST_AUTO_TEST_CASE(below_the_threshold_the_bias_is_one_of_the_distance) {
  const Fire<double> bias = simple(1, 3);  // max(i, 3) = 3: x = log2(1 + |i - j|) / 2
  // At distance 2: x = log2(3) / 2, b = 4x - 1, 2 log2(3) - 1. Each of the logarithms is within 2u,
  // so with the division either side is within 5u of 4x = 3.17, and one subtraction more.
  const double at_two = 2 * std::log2(3.0) - 1;
  const double by_distance[] = {11, 5, at_two, 3}, bound[] = {0, 0, 12 * 0x1p-53 * 3.17, 0};
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      const int d = std::abs(i - j);
      BOOST_TEST(!!(std::fabs(bias(i, j) - by_distance[d]) <= bound[d]), i << " " << j);
    }
  }
}

BOOST_AUTO_TEST_CASE(beyond_the_threshold_the_query_s_position_is_the_unit) {
  for (double c : {1.0, -1.0}) {
    for (double L : {1.0, -1.0}) {  // both count by their size
      const Fire<double> bias = simple(c, L);
      BOOST_TEST(bias(1, 0) == 3.0);  // x = 1
      BOOST_TEST(bias(3, 0) == 3.0);  // x = 1: the first token, from anywhere
      BOOST_TEST(bias(3, 2) == 5.0);  // x = 1/2
      BOOST_TEST(bias(0, 3) == 7.0);  // a later key: x = 2
      BOOST_TEST(bias(2, 2) == 11.0);
    }
  }
}

BOOST_AUTO_TEST_CASE(epsilon_and_the_fixed_length_are_in_the_divisor) {
  // W = 1, b = x. ln(1 + 1) / (ln(1 + 1 * 0.5 * 6) + ln 2) = 1/3, up to 4 roundings.
  const Fire<double> bias(
      {lifted<double>({1}), lifted<double>({0}), lifted<double>({1}), 0.0, 1.0, 0.5}, 6.0,
      std::log(2.0));
  BOOST_TEST(!!(std::fabs(bias(1, 0) - 1.0 / 3) <= 5 * 0x1p-53));
}

BOOST_AUTO_TEST_CASE(the_gradient_by_hand) {
  // i = 1, j = 0, max(i, |L|) = 3, x = 1/2: y = (1/2, 1/2). dx = 4 * 1 - 8 * 2 = -12,
  // dc = -12 (1/2 - 1/2 * 3/4) / ln 4 = -1.5 / ln 4, dL = 12 * 1/2 * 1/4 / ln 4 = 1.5 / ln 4.
  for (double c : {1.0, -1.0}) {
    for (double L : {3.0, -3.0}) {
      const Fire<double> bias = simple(c, L);
      auto grad = bias.zero_grad();
      bias.accumulate_grad(grad, 1, 0, 1.0);
      BOOST_TEST(grad.output_bias == 1.0);
      BOOST_TEST(grad.output_weight == lifted<double>({0.5, 0.5}));
      BOOST_TEST(grad.hidden_weight == lifted<double>({2, 4}));
      BOOST_TEST(grad.hidden_bias == lifted<double>({4, 8}));
      // Two roundings on either side: within 4u of 1.09.
      BOOST_TEST(!!(std::fabs(grad.c + c * 1.5 / std::log(4.0)) <= 4 * 0x1p-53 * 1.09));
      BOOST_TEST(!!(std::fabs(grad.L - L / 3 * 1.5 / std::log(4.0)) <= 4 * 0x1p-53 * 1.09));
    }
  }
}

BOOST_AUTO_TEST_CASE(beyond_the_threshold_its_length_has_no_gradient_and_in_a_tie_the_whole) {
  const Fire<double> bias = simple(1, 2);
  auto grad = bias.zero_grad();
  bias.accumulate_grad(grad, 3, 1, 1.0);
  BOOST_TEST(grad.L == 0.0);
  bias.accumulate_grad(grad, 2, 1, 1.0);
  BOOST_TEST(grad.L != 0.0);
}

BOOST_AUTO_TEST_CASE(readings_agree_up_to_the_ends_of_the_domain) {
  // x: c, L, L0, epsilon.
  const auto make = [](const auto& x) {
    using R = ScalarOf<decltype(x)>;
    const Vector<R> one = lifted<R>({1.5});
    Writer<R> results;
    results.number(Fire<R>({one, one, one, R(0.5), x[0], x[1]}, x[2], x[3])(3, 1));
    return results.result();
  };
  for (const auto& inputs : std::vector<std::vector<double>>{{0.1, 1, 2, 1e-6},
                                                             {0.1, 1, 2, 0},
                                                             {0, 1, 2, 1e-6},
                                                             {0.1, 0, 0, 1e-6},
                                                             {-0.1, -1, -2, 0}}) {
    expect_readings_agree(make, inputs);
  }
  const Vector<double> one = zeros<double>(1), two = zeros<double>(2);
  using F = Fire<double>;
  BOOST_CHECK_THROW(F({one, two, one, 0, 1, 1}, 1), std::invalid_argument);
  BOOST_CHECK_THROW(F({one, one, two, 0, 1, 1}, 1), std::invalid_argument);
  BOOST_CHECK_THROW(F({one, one, one, 0, 1, 1}, 1, std::nan("")), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(readings_and_adjoints_agree) {
  for (std::uint64_t seed : {1, 2, 3, 4}) expect_bias_is_right(FireMethod{}, seed);
}

// The whole network at its published width: two heads share the hidden layer, c and L.
BOOST_AUTO_TEST_CASE(the_gradients_of_what_heads_share_add_up) {
  const int width = 32, heads = 2, tokens = 4;
  Numbers numbers(7);
  std::vector<double> inputs = numbers.between(-1, 1, (2 + heads) * width + heads);
  inputs.push_back(0.1);   // c
  inputs.push_back(0.83);  // L
  const std::vector<double> weights = numbers.between(-1, 1, heads * tokens * tokens);
  const auto biases = [](const auto& x) {
    using R = ScalarOf<decltype(x)>;
    Reader<R> reader(x);
    const Vector<R> hidden_weight = reader.vector(width), hidden_bias = reader.vector(width);
    const Matrix<R> output_weight = reader.matrix(heads, width);
    const Vector<R> output_bias = reader.vector(heads);
    const R c = reader.number(), L = reader.number();
    std::vector<Fire<R>> by_head;
    for (int h = 0; h < heads; ++h) {
      by_head.push_back(Fire<R>(
          {hidden_weight, hidden_bias, output_weight.row(h), output_bias[h], c, L}, R(2.0)));
    }
    return by_head;
  };
  const auto objective = [&](const auto& x) {
    using R = ScalarOf<decltype(x)>;
    const std::vector<Fire<R>> by_head = biases(x);
    Vector<R> total = zeros<R>(1);
    for (int h = 0, n = 0; h < heads; ++h) {
      for (int i = 0; i < tokens; ++i) {
        for (int j = 0; j < tokens; ++j) total[0] += R(weights[n++]) * by_head[h](i, j);
      }
    }
    return total;
  };
  const auto adjoint = [&](const auto& x) {
    using R = ScalarOf<decltype(x)>;
    const std::vector<Fire<R>> by_head = biases(x);
    Vector<R> hidden_weight = zeros<R>(width), hidden_bias = hidden_weight;
    R c(0.0), L(0.0);
    Writer<R> output_weight, output_bias, results;
    for (int h = 0, n = 0; h < heads; ++h) {
      auto grad = by_head[h].zero_grad();
      for (int i = 0; i < tokens; ++i) {
        for (int j = 0; j < tokens; ++j) by_head[h].accumulate_grad(grad, i, j, R(weights[n++]));
      }
      for (int w = 0; w < width; ++w) {
        hidden_weight[w] += grad.hidden_weight[w];
        hidden_bias[w] += grad.hidden_bias[w];
      }
      output_weight.vector(grad.output_weight);
      output_bias.number(grad.output_bias);
      c += grad.c;
      L += grad.L;
    }
    results.vector(hidden_weight);
    results.vector(hidden_bias);
    results.vector(output_weight.result());
    results.vector(output_bias.result());
    results.number(c);
    results.number(L);
    return results.result();
  };
  expect_readings_agree(objective, inputs);
  expect_adjoint(objective, adjoint, inputs);
}

BOOST_AUTO_TEST_SUITE_END()
