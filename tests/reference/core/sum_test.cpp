// SPDX-License-Identifier: Apache-2.0
#include "reference/core/sum.hpp"

#include "tests/reference/parameters.hpp"
#include "tests/reference/readings.hpp"

BOOST_AUTO_TEST_SUITE(sum_test)

using namespace plumbline::reference;

BOOST_AUTO_TEST_CASE(sums_go_from_left_to_right) {
  // In double 1 + 2^-53 is 1, so the order decides: left to right loses both small terms, any
  // pairing of them keeps 2^-52.
  const Vector<double> terms = lifted<double>({1.0, 0x1p-53, 0x1p-53});
  const Vector<double> reversed = lifted<double>({0x1p-53, 0x1p-53, 1.0});
  const Vector<double> ones = lifted<double>({1.0, 1.0, 1.0});
  BOOST_TEST(sum(terms) == 1.0);
  BOOST_TEST(sum(reversed) == 1.0 + 0x1p-52);
  BOOST_TEST(dot(terms, ones) == 1.0);
  BOOST_TEST(dot(reversed, ones) == 1.0 + 0x1p-52);
  Matrix<double> rows(4, 1);
  rows << 1.0, 9.0, 1.0, 1.0;
  BOOST_TEST(weighted_sum(terms, rows, {0, 2, 3})[0] == 1.0);
  BOOST_TEST(weighted_sum(reversed, rows, {0, 2, 3})[0] == 1.0 + 0x1p-52);
}

BOOST_AUTO_TEST_CASE(sums_by_hand) {
  BOOST_TEST(sum(lifted<double>({1, 2, 4})) == 7.0);
  BOOST_TEST(sum(Vector<double>()) == 0.0);
  BOOST_TEST(dot(lifted<double>({1, 2, 3}), lifted<double>({4, -5, 6})) == 12.0);
  Matrix<double> rows(3, 2);
  rows << 1, 2, 3, 4, 5, 6;
  BOOST_TEST(weighted_sum(lifted<double>({10, 1}), rows, {2, 0}) == lifted<double>({51, 62}));
}

BOOST_AUTO_TEST_CASE(sums_agree_in_every_reading) {
  Numbers numbers(1);
  for (double size : {1.0, 0x1p-540, 0x1p300}) {
    const std::vector<double> inputs = numbers.between(-size, size, 12);
    expect_readings_agree(
        [](const auto& x) {
          using R = ScalarOf<decltype(x)>;
          Reader<R> reader(x);
          const Vector<R> a = reader.vector(4), b = reader.vector(4);
          const Matrix<R> rows = reader.matrix(2, 2);
          Writer<R> results;
          results.number(sum(a));
          results.number(dot(a, b));
          results.vector(weighted_sum(Vector<R>(a.head(2)), rows, {1, 0}));
          return results.result();
        },
        inputs);
  }
}

BOOST_AUTO_TEST_CASE(sizes_that_differ_are_refused) {
  BOOST_CHECK_THROW(dot(lifted<double>({1}), lifted<double>({1, 2})), std::invalid_argument);
  BOOST_CHECK_THROW(weighted_sum(lifted<double>({1}), Matrix<double>(1, 1), {0, 0}),
                    std::invalid_argument);
  BOOST_CHECK_THROW(weighted_sum(lifted<double>({1}), Matrix<double>(1, 1), {1}),
                    std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
