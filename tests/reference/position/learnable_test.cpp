// SPDX-License-Identifier: Apache-2.0
#include "reference/position/learnable.hpp"

#include "tests/reference/weighted.hpp"

BOOST_AUTO_TEST_SUITE(learnable_test)

using namespace plumbline::reference;

namespace {

Matrix<double> table() {
  Matrix<double> W(3, 2);
  W << 1, 2, 3, 4, 5, 6;
  return W;
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_position_has_its_row) {
  BOOST_TEST((learnable_positions(table(), 0, 3) == table()));
  BOOST_TEST((learnable_positions(table(), 1, 2) == table().bottomRows(2)));
  BOOST_TEST(learnable_positions(table(), 3, 0).rows() == 0);
}

BOOST_AUTO_TEST_CASE(beyond_the_table_there_is_nothing) {
  BOOST_CHECK_THROW(learnable_positions(table(), 0, 4), std::invalid_argument);
  BOOST_CHECK_THROW(learnable_positions(table(), 2, 2), std::invalid_argument);
  BOOST_CHECK_THROW(learnable_positions(table(), 4, 0), std::invalid_argument);
  BOOST_CHECK_THROW(learnable_positions(table(), -1, 0), std::invalid_argument);
  BOOST_CHECK_THROW(learnable_positions(table(), 0, -1), std::invalid_argument);
  BOOST_CHECK_THROW(learnable_positions_grad(3, 2, table()), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(the_gradient_goes_to_the_rows_that_were_read) {
  Matrix<double> g(1, 2), expected(3, 2);
  g << 7, 8;
  expected << 0, 0, 7, 8, 0, 0;
  BOOST_TEST((learnable_positions_grad(3, 1, g) == expected));
}

BOOST_AUTO_TEST_CASE(readings_and_adjoint_agree) {
  const auto read = [](int length) {
    return [length](const auto& x) {
      using R = ScalarOf<decltype(x)>;
      Reader<R> reader(x);
      Writer<R> results;
      results.matrix(learnable_positions(reader.matrix(4, 2), 1, length));
      return results.result();
    };
  };
  const auto adjoint = [](const auto& x, const auto& upstream) {
    using R = ScalarOf<decltype(x)>;
    Reader<R> reader(upstream);
    Writer<R> results;
    results.matrix(learnable_positions_grad(4, 1, reader.matrix(2, 2)));
    return results.result();
  };
  const std::vector<double> inputs = Numbers(14).between(-1, 1, 8);
  expect_readings_and_adjoint(read(2), adjoint, inputs, 15);
}

BOOST_AUTO_TEST_SUITE_END()
