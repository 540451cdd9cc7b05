// SPDX-License-Identifier: Apache-2.0
#include "reference/model/mlm_loss.hpp"

#include "tests/reference/refused.hpp"
#include "tests/reference/weighted.hpp"

BOOST_AUTO_TEST_SUITE(mlm_loss_test)

using namespace plumbline::reference;

namespace {

// The second and the fourth token are selected: -ln p of 1 is ln 2, of 0 it is 1000.
const std::vector<int> original = {0, 1, 1, 0}, selected = {3, 1};
Matrix<double> logits() {
  Matrix<double> Z(4, 2);
  Z << 50, 0, 3, 3, 0, 50, 0, 1000;
  return Z;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_targets_are_the_original_tokens_at_the_selected_positions) {
  BOOST_TEST((mlm_targets({7, 8, 9, 7}, {0, 2}) == Targets{7, std::nullopt, 9, std::nullopt}));
  BOOST_TEST((mlm_targets({7, 8}, {}) == Targets{std::nullopt, std::nullopt}));
  BOOST_TEST((targets_from_labels({-100, 5, 0}) == Targets{std::nullopt, 5, 0}));
  BOOST_TEST((targets_from_labels({-100, 5, 0}, 0) == Targets{-100, 5, std::nullopt}));
}

BOOST_AUTO_TEST_CASE(the_loss_is_the_mean_over_the_selected_positions) {
  BOOST_TEST(mlm_loss(logits(), original, selected) == (std::log(2.0) + 1000) / 2);
}

BOOST_AUTO_TEST_CASE(only_selected_positions_have_a_gradient) {
  Matrix<double> expected(4, 2);  // share = 2/2; p - target
  expected << 0, 0, 0.5, -0.5, 0, 0, -1, 1;
  BOOST_TEST((mlm_loss_grad(logits(), original, selected, 2.0) == expected));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const auto loss = [](const std::vector<int>& tokens, const std::vector<int>& chosen) {
    return [=](const auto& zero) {
      mlm_loss(zeros<std::remove_cvref_t<decltype(zero)>>(2, 3), tokens, chosen);
    };
  };
  expect_refused("selected is -1; expected a position of a token", loss({0, 1}, {-1}));
  expect_refused("selected is 2; expected a position of a token", loss({0, 1}, {0, 2}));
  expect_refused("selected is 0; expected a position not selected before", loss({0, 1}, {0, 0}));
  expect_refused("the number of targets is 0; expected at least 1", loss({0, 1}, {}));
  expect_refused("targets.size() is 3; expected the rows of the logits", loss({0, 1, 1}, {0}));
  expect_refused("target is 3; expected a column of the logits", loss({0, 3}, {1}));
  expect_refused("selected is 5; expected a position of a token", [](const auto& zero) {
    mlm_loss_grad(zeros<std::remove_cvref_t<decltype(zero)>>(2, 3), {0, 1}, {5}, zero);
  });
}

BOOST_AUTO_TEST_CASE(readings_and_adjoint_agree) {
  const std::vector<int> tokens = {2, 0, 1}, chosen = {2, 0};
  const auto equation = [&](const auto& x) {
    using R = ScalarOf<decltype(x)>;
    Reader<R> reader(x);
    Writer<R> results;
    results.number(mlm_loss(reader.matrix(3, 3), tokens, chosen));
    return results.result();
  };
  const auto adjoint = [&](const auto& x, const auto& dy) {
    using R = ScalarOf<decltype(x)>;
    Reader<R> reader(x);
    Writer<R> results;
    results.matrix(mlm_loss_grad(reader.matrix(3, 3), tokens, chosen, dy[0]));
    return results.result();
  };
  expect_readings_and_adjoint(equation, adjoint, Numbers(1).between(-3, 3, 9), 1);
}

BOOST_AUTO_TEST_SUITE_END()
