// SPDX-License-Identifier: Apache-2.0
#include "reference/model/loss.hpp"

#include "tests/reference/weighted.hpp"

BOOST_AUTO_TEST_SUITE(loss_test)

using namespace plumbline::reference;

namespace {

// -ln p of the targets: ln 2, none, and 1000 - 0.
Matrix<double> logits() {
  Matrix<double> Z(3, 2);
  Z << 0, 0, 7, 8, 1000, 0;
  return Z;
}
const Targets targets = {0, std::nullopt, 1};

}  // namespace

BOOST_AUTO_TEST_CASE(the_loss_is_the_mean_over_the_tokens_with_a_target) {
  BOOST_TEST(cross_entropy(logits(), targets) == (std::log(2.0) + 1000) / 2);
}

BOOST_AUTO_TEST_CASE(the_gradient_by_hand) {
  // share = 3/2; p - target: (1/2 - 1, 1/2), nothing, (1, 0 - 1).
  Matrix<double> expected(3, 2);
  expected << -0.75, 0.75, 0, 0, 1.5, -1.5;
  BOOST_TEST((cross_entropy_grad(logits(), targets, 3.0) == expected));
}

BOOST_AUTO_TEST_CASE(targets_that_do_not_fit_are_refused) {
  for (const Targets& bad : {Targets{0, 1}, Targets{0, 1, 2}, Targets{0, 1, -1},
                             Targets{std::nullopt, std::nullopt, std::nullopt}}) {
    BOOST_CHECK_THROW(cross_entropy(logits(), bad), std::invalid_argument);
    BOOST_CHECK_THROW(cross_entropy_grad(logits(), bad, 1.0), std::invalid_argument);
  }
}

BOOST_AUTO_TEST_CASE(readings_and_adjoint_agree) {
  const int count = 4, vocabulary = 5;
  const auto under = [](const Targets& chosen) {
    return [chosen](const auto& x) {
      using R = ScalarOf<decltype(x)>;
      Reader<R> reader(x);
      Writer<R> results;
      results.number(cross_entropy(reader.matrix(count, vocabulary), chosen));
      return results.result();
    };
  };
  for (const Targets& chosen : {Targets{0, 4, 2, 2}, Targets{std::nullopt, 3, std::nullopt, 0}}) {
    const auto adjoint = [&](const auto& x, const auto& dy) {
      using R = ScalarOf<decltype(x)>;
      Reader<R> reader(x);
      Writer<R> results;
      results.matrix(cross_entropy_grad(reader.matrix(count, vocabulary), chosen, dy[0]));
      return results.result();
    };
    for (std::uint64_t seed : {1, 2}) {
      const auto inputs = Numbers(seed).between(-3, 3, count * vocabulary);
      expect_readings_and_adjoint(under(chosen), adjoint, inputs, seed);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
