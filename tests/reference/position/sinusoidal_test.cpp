// SPDX-License-Identifier: Apache-2.0
#include "reference/position/sinusoidal.hpp"

#include "tests/reference/parameters.hpp"
#include "tests/reference/readings.hpp"

BOOST_AUTO_TEST_SUITE(sinusoidal_test)

using namespace plumbline::reference;

namespace {

const SinusoidalCosine shared = SinusoidalCosine::shared_frequency;
const SinusoidalCosine own = SinusoidalCosine::own_frequency;

}  // namespace

BOOST_AUTO_TEST_CASE(position_zero_has_sines_of_zero_and_cosines_of_one) {
  for (SinusoidalCosine cosine : {shared, own}) {
    const Matrix<double> table = sinusoidal_table(1, 4, 10000.0, cosine, 1.0);
    BOOST_TEST((table.row(0).transpose() == lifted<double>({0, 1, 0, 1})));
  }
}

BOOST_AUTO_TEST_CASE(even_columns_are_sines_and_odd_ones_cosines) {
  // C = 4 and base 16: the pairs rotate by 1 and 16^(-1/2) = 1/4 a position.
  const Matrix<double> table = sinusoidal_table(4, 4, 16.0, shared, 1.0);
  for (int t = 0; t < 4; ++t) {
    BOOST_TEST(table(t, 0) == std::sin(1.0 * t));
    BOOST_TEST(table(t, 1) == std::cos(1.0 * t));
    BOOST_TEST(table(t, 2) == std::sin(0.25 * t));
    BOOST_TEST(table(t, 3) == std::cos(0.25 * t));
  }
}

BOOST_AUTO_TEST_CASE(cosines_of_their_own_frequency_turn_by_their_column) {
  // 16^(-1/4) = 1/2 and 16^(-3/4) = 1/8 in columns 1 and 3.
  const Matrix<double> table = sinusoidal_table(4, 4, 16.0, own, 1.0);
  for (int t = 0; t < 4; ++t) {
    BOOST_TEST(table(t, 0) == std::sin(1.0 * t));
    BOOST_TEST(table(t, 1) == std::cos(0.5 * t));
    BOOST_TEST(table(t, 2) == std::sin(0.25 * t));
    BOOST_TEST(table(t, 3) == std::cos(0.125 * t));
  }
}

BOOST_AUTO_TEST_CASE(cable_s_table_is_a_tenth) {
  const Matrix<double> whole = sinusoidal_table(3, 2, 10000.0, shared, 1.0);
  const Matrix<double> tenth = sinusoidal_table(3, 2, 10000.0, shared, 0.1);
  for (Eigen::Index n = 0; n < whole.size(); ++n) {
    BOOST_TEST(tenth.data()[n] == 0.1 * whole.data()[n]);
  }
}

BOOST_AUTO_TEST_CASE(readings_agree) {
  for (SinusoidalCosine cosine : {shared, own}) {
    expect_readings_agree(
        [cosine](const auto& x) {
          using R = ScalarOf<decltype(x)>;
          Writer<R> results;
          results.matrix(sinusoidal_table<R>(40, 6, x[0], cosine, x[1]));
          return results.result();
        },
        {10000.0, 0.1});
  }
  BOOST_CHECK_THROW(sinusoidal_table(1, 3, 1e4, shared, 1.0), std::invalid_argument);
  BOOST_CHECK_THROW(sinusoidal_table(1, 0, 1e4, shared, 1.0), std::invalid_argument);
  BOOST_CHECK_THROW(sinusoidal_table(-1, 2, 1e4, shared, 1.0), std::invalid_argument);
  BOOST_CHECK_THROW(sinusoidal_table(1, 2, -1.0, shared, 1.0), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
