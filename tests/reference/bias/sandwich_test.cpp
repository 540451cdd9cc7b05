// SPDX-License-Identifier: Apache-2.0
#include "reference/bias/sandwich.hpp"

#include "tests/reference/bias/bias_readings.hpp"

BOOST_AUTO_TEST_SUITE(sandwich_test)

using namespace plumbline::reference;

BOOST_AUTO_TEST_CASE(sums_of_cosines) {
  const Sandwich<double> one(1.0), quarter(4.0);
  BOOST_TEST(one(3, 3) == 0.0);
  // By mpmath, with 40 digits.
  BOOST_TEST(one(1, 0) == -1.44661850510051506, boost::test_tools::tolerance(1e-13));
  BOOST_TEST(one(2, 0) == -5.2019926306290947, boost::test_tools::tolerance(1e-13));
  BOOST_TEST(one(7, 0) == -16.9320718253151986, boost::test_tools::tolerance(1e-13));
  BOOST_TEST(one(40, 0) == -29.7542468717263438, boost::test_tools::tolerance(1e-13));
  BOOST_TEST(one(1000, 0) == -53.3896467788020311, boost::test_tools::tolerance(1e-13));
  BOOST_TEST(quarter(1, 0) == one(1, 0) / 4);
}

BOOST_AUTO_TEST_CASE(near_zero_it_falls_as_half_the_sum_of_squared_frequencies) {
  // cos t = 1 - t^2 / 2 + ..., within t^4 / 24: of x = 1, 10000^(-k/64) below 1.
  double squares = 0, fourths = 0;
  for (int k = 1; k <= 64; ++k) {
    const double f = std::pow(10000.0, -k / 64.0);
    squares += f * f;
    fourths += f * f * f * f;
  }
  BOOST_TEST(std::abs(Sandwich<double>(1.0)(1, 0) + squares / 2) <= fourths / 24 + 1e-12);
}

BOOST_AUTO_TEST_CASE(sums_that_were_taken_before_are_the_same) {
  const auto sums = Sandwich<double>::sums(9);
  const Sandwich<double> prepared(0.75, sums), plain(0.75);
  for (int j = 0; j < 9; ++j) BOOST_TEST(prepared(8, j) == plain(8, j));
}

BOOST_AUTO_TEST_CASE(the_authors_compression) {
  BOOST_TEST(Sandwich<double>::published(0, 4)[0] == 2.0);
  BOOST_TEST(Sandwich<double>::published(3, 4)[0] == 8.0);
  BOOST_TEST(Sandwich<double>::published(0, 12)[0] == 8.0 / 12);
}

BOOST_AUTO_TEST_CASE(a_compression_that_is_not_above_0_is_refused) {
  for (const double bad : {0.0, -1.0, std::nan("")}) {
    BOOST_CHECK_THROW(Sandwich<double>{bad}, std::invalid_argument);
  }
}

BOOST_AUTO_TEST_CASE(readings_and_adjoint_agree) {
  for (std::uint64_t seed : {1, 2, 3}) expect_bias_is_right(OfHeadsMethod<Sandwich>{}, seed);
}

BOOST_AUTO_TEST_SUITE_END()
