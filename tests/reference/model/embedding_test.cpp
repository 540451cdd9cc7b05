// SPDX-License-Identifier: Apache-2.0
#include "reference/model/embedding.hpp"

#include "reference/core/sum.hpp"
#include "tests/reference/parameters.hpp"
#include "tests/reference/readings.hpp"

BOOST_AUTO_TEST_SUITE(embedding_test)

using namespace plumbline::reference;

namespace {

const std::vector<int> ids = {2, 0, 2};

}  // namespace

BOOST_AUTO_TEST_CASE(each_number_gives_its_row) {
  Matrix<double> W(3, 2), expected(3, 2);
  W << 1, 2, 3, 4, 5, 6;
  expected << 5, 6, 1, 2, 5, 6;
  BOOST_TEST((embedding(W, ids) == expected));
  BOOST_TEST(embedding(W, {}).rows() == 0);
}

BOOST_AUTO_TEST_CASE(a_row_s_gradient_sums_over_where_it_was_read) {
  Matrix<double> g(3, 2), expected(4, 2);
  g << 1, 2, 10, 20, 100, 200;
  expected << 10, 20, 0, 0, 101, 202, 0, 0;
  BOOST_TEST((embedding_grad(4, ids, g) == expected));
}

BOOST_AUTO_TEST_CASE(numbers_that_are_no_rows_are_refused) {
  const Matrix<double> two = zeros<double>(2, 2), three = zeros<double>(3, 2);
  BOOST_CHECK_THROW(embedding(two, ids), std::invalid_argument);
  BOOST_CHECK_THROW(embedding(two, {-1}), std::invalid_argument);
  BOOST_CHECK_THROW(embedding_grad(2, ids, three), std::invalid_argument);
  BOOST_CHECK_THROW(embedding_grad(2, {-1, 0}, two), std::invalid_argument);
  BOOST_CHECK_THROW(embedding_grad(3, ids, two), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(readings_and_adjoint_agree) {
  Numbers numbers(15);
  const std::vector<double> inputs = numbers.between(-1, 1, 6);
  const std::vector<double> weights = numbers.between(-1, 1, 6);
  const auto read = [](const std::vector<int>& chosen) {
    return [chosen](const auto& x) {
      using R = ScalarOf<decltype(x)>;
      Reader<R> reader(x);
      Writer<R> results;
      results.matrix(embedding(reader.matrix(3, 2), chosen));
      return results.result();
    };
  };
  expect_readings_agree(read(ids), inputs);
  expect_adjoint(
      [&](const auto& x) {
        using R = ScalarOf<decltype(x)>;
        Vector<R> total = zeros<R>(1);
        total[0] = dot(read(ids)(x), lifted<R>(weights));
        return total;
      },
      [&](const auto& x) {
        using R = ScalarOf<decltype(x)>;
        const Vector<R> w = lifted<R>(weights);
        Reader<R> reader(w);
        Writer<R> results;
        results.matrix(embedding_grad(3, ids, reader.matrix(3, 2)));
        return results.result();
      },
      inputs);
}

BOOST_AUTO_TEST_SUITE_END()
