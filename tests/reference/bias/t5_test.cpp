// SPDX-License-Identifier: Apache-2.0
#include "reference/bias/t5.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>

#include "tests/reference/bias/bias_readings.hpp"

BOOST_AUTO_TEST_SUITE(t5_test)

using namespace plumbline::reference;

namespace {

/// The formula of the original code, for one direction, evaluated in F.
template <class F>
int bucket_by_formula(int n, int buckets, int max_distance) {
  const int exact = buckets / 2;
  if (n < exact) return n;
  const F quotient = std::log(F(n) / F(exact)) / std::log(F(max_distance) / F(exact));
  return std::min(buckets - 1, exact + static_cast<int>(quotient * F(buckets - exact)));
}

/// Whether the formula's quotient is an integer k, (n/E)^K = (D/E)^k: where rounding decides.
bool quotient_is_an_integer(int n, int buckets, int max_distance) {
  using boost::multiprecision::cpp_int, boost::multiprecision::pow;
  const int E = buckets / 2, K = buckets - E;
  for (int k = 0; n >= E && k <= K; ++k) {
    if (pow(cpp_int(n), K) == pow(cpp_int(max_distance), k) * pow(cpp_int(E), K - k)) return true;
  }
  return false;
}

}  // namespace

BOOST_AUTO_TEST_CASE(causal_buckets_by_hand) {
  // B = 4, D = 8: E = 2, so 0, 1, then 2 + floor(2 ln(n/2) / ln 4) = 2 + floor(log2(n/2)), up to 3.
  const T5Buckets bucket(4, 8, false);
  const int by_distance[] = {0, 1, 2, 2, 3, 3, 3, 3, 3, 3};
  for (int n = 0; n < 10; ++n) BOOST_TEST(bucket(n, 0) == by_distance[n]);
  BOOST_TEST(bucket(0, 3) == 0);  // max(i - j, 0)
  BOOST_TEST(bucket.rows() == 4);
}

BOOST_AUTO_TEST_CASE(bidirectional_buckets_by_hand) {
  // 8 buckets, 4 for a direction, as above; keys after the query have the other 4.
  const T5Buckets bucket(8, 8, true);
  const int expected[4][4] = {{0, 5, 6, 6}, {1, 0, 5, 6}, {2, 1, 0, 5}, {2, 2, 1, 0}};
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) BOOST_TEST(bucket(i, j) == expected[i][j]);
  }
  BOOST_TEST(bucket(0, 100) == 7);
  BOOST_TEST(bucket(100, 0) == 3);
  BOOST_TEST(bucket.rows() == 8);
}

BOOST_AUTO_TEST_CASE(the_default_buckets_begin_where_they_should) {
  // ceil(16 * 8^(k/16)), k = 0..15, for 32 buckets and D = 128.
  const T5Buckets bucket(32, 128, false);
  const int begins[] = {16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113};
  for (int k = 0; k < 16; ++k) {
    BOOST_TEST(bucket(begins[k], 0) == 16 + k);
    BOOST_TEST(bucket(begins[k] - 1, 0) == 15 + k);
  }
  BOOST_TEST(bucket(1 << 30, 0) == 31);
}

BOOST_AUTO_TEST_CASE(buckets_are_those_of_the_formula_but_where_rounding_decides) {
  int borders = 0, lower = 0;
  for (const auto& [buckets, max_distance] : std::vector<std::pair<int, int>>{{2, 2},
                                                                              {3, 9},
                                                                              {4, 8},
                                                                              {5, 40},
                                                                              {10, 160},
                                                                              {16, 128},
                                                                              {20, 13},
                                                                              {32, 128},
                                                                              {32, 256},
                                                                              {40, 640}}) {
    const T5Buckets bucket(buckets, max_distance, false);
    for (int n = 0; n < max_distance + 5; ++n) {
      const int exact = bucket(n, 0),
                in_double = bucket_by_formula<double>(n, buckets, max_distance);
      BOOST_TEST_CONTEXT("B = " << buckets << ", D = " << max_distance << ", n = " << n) {
        if (quotient_is_an_integer(n, buckets, max_distance)) {
          // The quotient in double is within a few units of its last place of the integer.
          BOOST_TEST((in_double == exact || in_double == exact - 1));
          ++borders;
          lower += in_double != exact;
        } else {
          BOOST_TEST(in_double == exact);
        }
      }
    }
  }
  BOOST_TEST(borders > 20);
  BOOST_TEST(lower > 0);
}

BOOST_AUTO_TEST_CASE(a_quotient_in_double_can_fall_short_of_its_integer) {
  // E = 5, D/E = 32: n = 10 has the quotient 5 ln 2 / ln 32 = 1, n = 20 has 2 and n = 80 has 4.
  const T5Buckets bucket(10, 160, false);
  const int distances[] = {10, 20, 80}, expected[] = {6, 7, 9};
  for (int c = 0; c < 3; ++c) {
    BOOST_TEST(bucket(distances[c], 0) == expected[c]);
    BOOST_TEST(bucket_by_formula<double>(distances[c], 10, 160) == expected[c] - 1);
  }
}

BOOST_AUTO_TEST_CASE(with_t5_s_own_sizes_float_and_double_agree_with_the_exact_buckets) {
  const T5Buckets causal(32, 128, false), bidirectional(32, 128, true);
  for (int n = 0; n < 200; ++n) {
    BOOST_TEST(causal(n, 0) == bucket_by_formula<float>(n, 32, 128));
    BOOST_TEST(causal(n, 0) == bucket_by_formula<double>(n, 32, 128));
    BOOST_TEST(bidirectional(n, 0) == bucket_by_formula<float>(n, 16, 128));
    BOOST_TEST(bidirectional(n, 0) == bucket_by_formula<double>(n, 16, 128));
  }
}

BOOST_AUTO_TEST_CASE(clipped_distances_by_hand) {
  const Vector<double> r = lifted<double>({5, 6, 7});
  const T5Clipped<double> bias(r, ClippedDistance(2));
  const double expected[4][4] = {{5, 5, 5, 5}, {6, 5, 5, 5}, {7, 6, 5, 5}, {7, 7, 6, 5}};
  const Vector<double> both = lifted<double>({-7, -6, 5, 6, 7});
  const T5ClippedOffset<double> offset(both, ClippedOffset(2));
  const double expected_offset[4][4] = {
      {5, -6, -7, -7}, {6, 5, -6, -7}, {7, 6, 5, -6}, {7, 7, 6, 5}};
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      BOOST_TEST(bias(i, j) == expected[i][j]);
      BOOST_TEST(offset(i, j) == expected_offset[i][j]);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_gradient_adds_up_in_the_rows) {
  const T5<double> bias(lifted<double>({10, 20, 30, 40}), T5Buckets(4, 8, false));
  BOOST_TEST(bias(3, 1) == 30.0);
  auto grad = bias.zero_grad();
  bias.accumulate_grad(grad, 3, 1, 2.0);
  bias.accumulate_grad(grad, 3, 0, 1.0);
  bias.accumulate_grad(grad, 3, 2, 4.0);
  BOOST_TEST(grad.table == lifted<double>({0, 4, 3, 0}));
}

BOOST_AUTO_TEST_CASE(sizes_without_buckets_and_tables_of_another_size_are_refused) {
  BOOST_CHECK_NO_THROW(T5Buckets(2, 2, false));
  BOOST_CHECK_THROW(T5Buckets(1, 8, false), std::invalid_argument);
  BOOST_CHECK_THROW(T5Buckets(3, 8, true), std::invalid_argument);
  BOOST_CHECK_THROW(T5Buckets(9, 8, true), std::invalid_argument);
  BOOST_CHECK_THROW(T5Buckets(32, 16, false), std::invalid_argument);
  BOOST_CHECK_NO_THROW(T5Buckets(32, 16, true));
  BOOST_CHECK_THROW(T5Buckets(32, 8, true), std::invalid_argument);
  BOOST_CHECK_THROW(ClippedDistance(-1), std::invalid_argument);
  BOOST_CHECK_THROW(ClippedOffset(-1), std::invalid_argument);
  const auto look_up = [](const auto& x) {
    using R = ScalarOf<decltype(x)>;
    Writer<R> results;
    results.number(T5Clipped<R>(x, ClippedDistance(1))(3, 0));
    return results.result();
  };
  expect_readings_agree(look_up, {1, 2});
  BOOST_CHECK_THROW(look_up(lifted<double>({1, 2, 3})), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(readings_and_adjoints_agree) {
  for (std::uint64_t seed : {1, 2, 3}) {
    expect_bias_is_right(T5CausalMethod{}, seed);
    expect_bias_is_right(T5BidirectionalMethod{}, seed);
    expect_bias_is_right(T5ClippedMethod{}, seed);
    expect_bias_is_right(T5ClippedOffsetMethod{}, seed);
  }
}

BOOST_AUTO_TEST_SUITE_END()
