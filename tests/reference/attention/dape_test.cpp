// SPDX-License-Identifier: Apache-2.0
#include "reference/attention/dape.hpp"

#include "tests/reference/weighted.hpp"

BOOST_AUTO_TEST_SUITE(dape_test)

using namespace plumbline::reference;

namespace {

Matrix<double> one_row(const std::vector<double>& numbers) {
  return lifted<double>(numbers).transpose();
}

// One head, one hidden channel. Version 1: hidden = leaky(A + 2 B - 3), f = 10 hidden + 1.
DapeLayers<double> version_1() {
  return {{one_row({1, 2}), lifted<double>({-3}), 1}, {one_row({10}), lifted<double>({1}), 1}};
}

// Version 2: hidden_j = leaky(A_(j-1) + 2 A_j + 4 A_(j+1) + 100 B_j + 1),
// f_j = hidden_(j-1) + 10 hidden_j + 100 hidden_(j+1).
DapeLayers<double> version_2() {
  return {{one_row({1, 2, 4, 0, 100, 0}), lifted<double>({1}), 3},
          {one_row({1, 10, 100}), lifted<double>({0}), 3}};
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_leaky_relu_keeps_a_hundredth_of_what_is_negative) {
  BOOST_TEST(leaky_relu(3.0) == 3.0);
  BOOST_TEST(leaky_relu(-200.0) == -2.0);
  BOOST_TEST(leaky_relu_derivative(3.0) == 1.0);
  BOOST_TEST(leaky_relu_derivative(-3.0) == 0.01);
  BOOST_TEST(leaky_relu_derivative(0.0) == 0.01);
  BOOST_TEST(leaky_relu(Dual(0.0, 1.0)).tangent == 0.01);
}

BOOST_AUTO_TEST_CASE(version_1_corrects_every_key_for_itself) {
  // A = (1, -100), B = (2, 1.5): hidden = leaky(2, -100) = (2, -1), f = (21, -9).
  const auto logits = dape_row(one_row({1, -100}), one_row({2, 1.5}), version_1(), 2);
  BOOST_TEST(logits(0, 0) == 3 + 21);
  BOOST_TEST(logits(0, 1) == -98.5 - 9);
}

BOOST_AUTO_TEST_CASE(version_2_sees_the_keys_around_and_none_after_the_query) {
  // A = (1, 2, 5), B = (0, 1, 7), query 1: features (1, 2, 0) and (0, 1, 0);
  // hidden = (0 + 2 + 8 + 0 + 1, 1 + 4 + 0 + 100 + 1, 2 + 0 + 0 + 0 + 1) = (11, 106, 3);
  // f = (110 + 10600, 11 + 1060 + 300, 106 + 30).
  const auto logits = dape_row(one_row({1, 2, 5}), one_row({0, 1, 7}), version_2(), 2);
  BOOST_TEST((logits == one_row({1 + 10710, 3 + 1371, 12 + 136})));
}

BOOST_AUTO_TEST_CASE(version_2_depends_on_whether_the_query_s_key_is_the_last) {
  // The same query without a third key: hidden_2 = 3 is not there, so f_1 = 11 + 1060.
  const auto logits = dape_row(one_row({1, 2}), one_row({0, 1}), version_2(), 2);
  BOOST_TEST((logits == one_row({1 + 10710, 3 + 1071})));
}

BOOST_AUTO_TEST_CASE(the_gradient_by_hand) {
  // Version 1 at key 0: dl = 1: d second = hidden = 2, d first.bias = 10, d first = 10 (A, B),
  // dA = 1 + 10, dB = 1 + 20.
  const auto grad =
      dape_row_grad(one_row({1, -100}), one_row({2, 1.5}), version_1(), 2, one_row({1, 0}));
  BOOST_TEST((grad.A == one_row({11, 0})));
  BOOST_TEST((grad.B == one_row({21, 0})));
  BOOST_TEST((grad.first.weight == one_row({10, 20})));
  BOOST_TEST(grad.first.bias[0] == 10.0);
  BOOST_TEST(grad.second.weight(0, 0) == 2.0);
  BOOST_TEST(grad.second.bias[0] == 1.0);
  // Version 2, dl on key 0: hidden gets (10, 100, 0), A_0 from hidden 0 and 1: 2 * 10 + 1 * 100,
  // A_1 4 * 10 + 2 * 100, and A_2, which is not seen, nothing.
  const auto wide =
      dape_row_grad(one_row({1, 2, 5}), one_row({0, 1, 7}), version_2(), 2, one_row({1, 0, 0}));
  BOOST_TEST((wide.A == one_row({1 + 120, 240, 0})));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const Matrix<double> A = one_row({1, 2}), wide = one_row({1, 2, 3});
  const Matrix<double> tall = zeros<double>(2, 2);
  const auto refused = [&](auto change) {
    DapeLayers<double> f = version_2();
    change(f);
    BOOST_CHECK_THROW(dape_row(A, A, f, 2), std::invalid_argument);
    BOOST_CHECK_THROW(dape_row_grad(A, A, f, 2, A), std::invalid_argument);
  };
  refused([](auto& f) { f.first = {zeros<double>(1, 4), zeros<double>(1), 2}; });
  refused([](auto& f) { f.first = {zeros<double>(1, 0), zeros<double>(1), 0}; });
  refused([](auto& f) { f.first.width = 1; });
  refused([](auto& f) { f.first.bias = zeros<double>(2); });
  refused([](auto& f) { f.second = {zeros<double>(2, 3), zeros<double>(2), 3}; });
  BOOST_CHECK_THROW(dape_row(A, wide, version_1(), 2), std::invalid_argument);
  BOOST_CHECK_THROW(dape_row(A, tall, version_1(), 2), std::invalid_argument);
  BOOST_CHECK_THROW(dape_row(A, A, version_1(), 3), std::invalid_argument);
  BOOST_CHECK_THROW(dape_row(A, A, version_1(), -1), std::invalid_argument);
  BOOST_CHECK_THROW(dape_row_grad(A, A, version_1(), 2, tall), std::invalid_argument);
  BOOST_CHECK_THROW(dape_row_grad(A, A, version_1(), 2, wide), std::invalid_argument);
}

namespace {

const int heads = 2, hidden = 3, keys = 4;

template <Real R>
struct DapeProblem {
  DapeProblem(const Vector<R>& x, int width) {
    Reader<R> reader(x);
    A = reader.matrix(heads, keys);
    B = reader.matrix(heads, keys);
    const Matrix<R> first = reader.matrix(hidden, 2 * heads * width);
    const Vector<R> first_bias = reader.vector(hidden);
    const Matrix<R> second = reader.matrix(heads, hidden * width);
    f = {{first, first_bias, width}, {second, reader.vector(heads), width}};
  }
  Matrix<R> A, B;
  DapeLayers<R> f;
};

}  // namespace

BOOST_AUTO_TEST_CASE(readings_and_adjoint_agree) {
  for (int width : {1, 3}) {
    for (int seen : {2, 4}) {
      const auto equation = [&](const auto& x) {
        using R = ScalarOf<decltype(x)>;
        const DapeProblem<R> problem(x, width);
        Writer<R> results;
        results.matrix(dape_row(problem.A, problem.B, problem.f, seen));
        return results.result();
      };
      const auto adjoint = [&](const auto& x, const auto& upstream) {
        using R = ScalarOf<decltype(x)>;
        const DapeProblem<R> problem(x, width);
        Reader<R> reader(upstream);
        const auto grad =
            dape_row_grad(problem.A, problem.B, problem.f, seen, reader.matrix(heads, keys));
        Writer<R> results;
        results.matrix(grad.A);
        results.matrix(grad.B);
        results.matrix(grad.first.weight);
        results.vector(grad.first.bias);
        results.matrix(grad.second.weight);
        results.vector(grad.second.bias);
        return results.result();
      };
      const int parameters = hidden * (2 * heads * width + 1) + heads * (hidden * width + 1);
      for (std::uint64_t seed : {1, 2}) {
        const auto inputs = Numbers(seed).between(-1, 1, 2 * heads * keys + parameters);
        expect_readings_and_adjoint(equation, adjoint, inputs, seed);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
