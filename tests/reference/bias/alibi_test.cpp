// SPDX-License-Identifier: Apache-2.0
#include "reference/bias/alibi.hpp"

#include "reference/attention/softmax.hpp"
#include "reference/bias/nope.hpp"
#include "tests/reference/parameters.hpp"
#include "tests/reference/readings.hpp"

BOOST_AUTO_TEST_SUITE(alibi_test)

using namespace plumbline::reference;

BOOST_AUTO_TEST_CASE(nope_adds_nothing) { BOOST_TEST(Nope<double>{}(3, 0) == 0.0); }

BOOST_AUTO_TEST_CASE(the_bias_is_minus_the_slope_times_the_distance) {
  const Alibi<double> bias{0.5};
  const double expected[4][4] = {
      {0, -0.5, -1, -1.5}, {-0.5, 0, -0.5, -1}, {-1, -0.5, 0, -0.5}, {-1.5, -1, -0.5, 0}};
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) BOOST_TEST(bias(i, j) == expected[i][j]);
  }
}

BOOST_AUTO_TEST_CASE(the_other_forms_are_the_same_softmax_under_a_causal_mask) {
  for (int i = 0; i < 4; ++i) {
    Vector<double> plain(i + 1), with_sign(i + 1), by_key(i + 1);
    for (int j = 0; j <= i; ++j) {
      plain[j] = Alibi<double>{0.5}(i, j);
      with_sign[j] = AlibiSigned<double>{0.5}(i, j);
      by_key[j] = AlibiKeyPosition<double>{0.5}(i, j);
      BOOST_TEST(by_key[j] == 0.5 * j);
    }
    BOOST_TEST(plain == with_sign);
    // Logits that are multiples of 1/2 and their shift are exact, so the softmax is bit for bit.
    BOOST_TEST(softmax(plain).probability == softmax(by_key).probability);
    BOOST_TEST((softmax(by_key).lse - softmax(plain).lse) == 0.5 * i,
               boost::test_tools::tolerance(4 * 0x1p-53));  // two additions of numbers below 4
  }
  BOOST_TEST(AlibiSigned<double>{0.5}(0, 3) == 1.5);  // beyond the causal part it is a reward
}

BOOST_AUTO_TEST_CASE(slopes_of_a_power_of_two_are_geometric) {
  BOOST_TEST(alibi_slopes<double>(1) == (std::vector{0x1p-8}));
  BOOST_TEST(alibi_slopes<double>(4) == (std::vector{0x1p-2, 0x1p-4, 0x1p-6, 0x1p-8}));
  BOOST_TEST(alibi_slopes<double>(8) ==
             (std::vector{0x1p-1, 0x1p-2, 0x1p-3, 0x1p-4, 0x1p-5, 0x1p-6, 0x1p-7, 0x1p-8}));
  BOOST_TEST(alibi_slopes<double>(8) == alibi_slopes_geometric<double>(8));
}

BOOST_AUTO_TEST_CASE(official_slopes_of_other_counts_append_every_second_of_twice_as_many) {
  // H = 3: the slopes of 2 heads, 2^-4 and 2^-8, then the first of 4 heads, 2^-2.
  BOOST_TEST(alibi_slopes<double>(3) == (std::vector{0x1p-4, 0x1p-8, 0x1p-2}));
  // H = 6: those of 4, then the first and third of 8.
  BOOST_TEST(alibi_slopes<double>(6) ==
             (std::vector{0x1p-2, 0x1p-4, 0x1p-6, 0x1p-8, 0x1p-1, 0x1p-3}));
  // H = 12: exponents 1 to 8, then 0.5, 1.5, 2.5, 3.5; each from one pow, within 1 ulp.
  const std::vector<double> slopes = alibi_slopes<double>(12);
  BOOST_TEST_REQUIRE(slopes.size() == 12u);
  for (int k = 0; k < 8; ++k) BOOST_TEST(slopes[k] == std::ldexp(1.0, -(k + 1)));
  for (int k = 0; k < 4; ++k) BOOST_TEST(slopes[8 + k] == std::pow(2.0, -(k + 0.5)));
}

BOOST_AUTO_TEST_CASE(the_article_s_schedule_differs_for_other_counts) {
  const std::vector<double> slopes = alibi_slopes_geometric<double>(3);
  BOOST_TEST(slopes[2] == 0x1p-8);
  BOOST_TEST(slopes[0] == std::pow(2.0, -8.0 / 3));
  BOOST_TEST(slopes != alibi_slopes<double>(3));
}

BOOST_AUTO_TEST_CASE(slopes_and_biases_agree_in_every_reading) {
  for (int heads : {1, 2, 3, 5, 12, 20}) {
    expect_readings_agree(
        [heads](const auto& x) {
          using R = ScalarOf<decltype(x)>;
          Writer<R> results;
          for (const auto& slopes : {alibi_slopes<R>(heads), alibi_slopes_geometric<R>(heads)}) {
            for (const R& slope : slopes) {
              results.number(slope);
              results.number(Alibi<R>{slope * x[0]}(7, 2));
              results.number(AlibiSigned<R>{slope * x[0]}(7, 2));
              results.number(AlibiKeyPosition<R>{slope * x[0]}(7, 2));
            }
          }
          return results.result();
        },
        {1.1});
  }
}

BOOST_AUTO_TEST_SUITE_END()
