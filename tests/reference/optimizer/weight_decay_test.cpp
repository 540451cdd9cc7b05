// SPDX-License-Identifier: Apache-2.0
#include "reference/optimizer/weight_decay.hpp"

#include "reference/optimizer/moments.hpp"
#include "tests/reference/refused.hpp"

BOOST_AUTO_TEST_SUITE(weight_decay_test)

using namespace plumbline::reference;

BOOST_AUTO_TEST_CASE(matrices_decay_and_vectors_do_not) {
  BOOST_TEST(weight_decay_of(rank<Matrix<double>>, PositionalPrior::no, 0.1) == 0.1);
  BOOST_TEST(weight_decay_of(rank<Vector<double>>, PositionalPrior::no, 0.1) == 0.0);
  BOOST_TEST(weight_decay_of(4, PositionalPrior::no, 0.1) == 0.1);  // DAPE's convolutions
  BOOST_TEST(weight_decay_of(0, PositionalPrior::no, 0.1) == 0.0);
}

BOOST_AUTO_TEST_CASE(a_positional_prior_never_decays) {
  BOOST_TEST(weight_decay_of(3, PositionalPrior::yes, 0.1) == 0.0);
}

BOOST_AUTO_TEST_CASE(a_negative_rank_is_refused) {
  expect_refused("rank is -1; expected at least 0",
                 [](const auto& zero) { weight_decay_of(-1, PositionalPrior::no, zero); });
}

BOOST_AUTO_TEST_SUITE_END()
