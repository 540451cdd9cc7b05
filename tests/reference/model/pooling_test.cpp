// SPDX-License-Identifier: Apache-2.0
#include "reference/model/pooling.hpp"

#include "tests/reference/refused.hpp"
#include "tests/reference/weighted.hpp"

BOOST_AUTO_TEST_SUITE(pooling_test)

using namespace plumbline::reference;

namespace {

constexpr Pooling kinds[] = {Pooling::mean, Pooling::cls, Pooling::last};
const std::vector<int> visible = {1, 3};

Matrix<double> tokens() {
  Matrix<double> X(4, 2);
  X << 100, 100, 1, 2, 100, 100, 4, -6;
  return X;
}

}  // namespace

BOOST_AUTO_TEST_CASE(only_visible_tokens_count) {
  BOOST_TEST(pooled(tokens(), visible, Pooling::mean) == lifted<double>({2.5, -2}));
  BOOST_TEST(pooled(tokens(), visible, Pooling::cls) == lifted<double>({1, 2}));
  BOOST_TEST(pooled(tokens(), visible, Pooling::last) == lifted<double>({4, -6}));
}

BOOST_AUTO_TEST_CASE(the_gradient_by_hand) {
  const Vector<double> de = lifted<double>({3, -5});
  Matrix<double> mean(4, 2), cls(4, 2), last(4, 2);
  mean << 0, 0, 1.5, -2.5, 0, 0, 1.5, -2.5;
  cls << 0, 0, 3, -5, 0, 0, 0, 0;
  last << 0, 0, 0, 0, 0, 0, 3, -5;
  BOOST_TEST((pooled_grad(4, visible, Pooling::mean, de) == mean));
  BOOST_TEST((pooled_grad(4, visible, Pooling::cls, de) == cls));
  BOOST_TEST((pooled_grad(4, visible, Pooling::last, de) == last));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const auto expect = [](const std::string& message, const std::vector<int>& chosen) {
    for (Pooling pooling : kinds) {
      expect_refused(message, [&](const auto& zero) {
        pooled(zeros<std::remove_cvref_t<decltype(zero)>>(4, 2), chosen, pooling);
      });
      expect_refused(message, [&](const auto& zero) {
        pooled_grad(4, chosen, pooling, zeros<std::remove_cvref_t<decltype(zero)>>(2));
      });
    }
  };
  expect("visible.size() is 0; expected at least 1", {});
  expect("visible is -1; expected the position of a token", {-1, 2});
  expect("visible is 4; expected the position of a token", {0, 4});
  expect("visible is 1; expected a position above the one before", {1, 1});
  expect("visible is 0; expected a position above the one before", {2, 0});
}

BOOST_AUTO_TEST_CASE(readings_and_adjoint_agree) {
  for (Pooling pooling : kinds) {
    const auto equation = [&](const auto& x) {
      using R = ScalarOf<decltype(x)>;
      Reader<R> reader(x);
      return pooled(reader.matrix(4, 2), {0, 2, 3}, pooling);
    };
    const auto adjoint = [&](const auto& x, const auto& dy) {
      using R = ScalarOf<decltype(x)>;
      Writer<R> results;
      results.matrix(pooled_grad<R>(4, {0, 2, 3}, pooling, dy));
      return results.result();
    };
    expect_readings_and_adjoint(equation, adjoint, Numbers(1).between(-2, 2, 8), 1);
  }
}

BOOST_AUTO_TEST_SUITE_END()
