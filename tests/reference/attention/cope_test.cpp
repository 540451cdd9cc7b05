// SPDX-License-Identifier: Apache-2.0
#include "reference/attention/cope.hpp"

#include "tests/reference/weighted.hpp"

BOOST_AUTO_TEST_SUITE(cope_test)

using namespace plumbline::reference;

namespace {

// Keys of zeros: every gate is logistic(0) = 1/2, so three keys stand at positions 3/2, 1 and 1/2.
// With q = 2, the table's rows give z = (2, 6, 14).
const Vector<double> q = lifted<double>({2});
const Matrix<double> keys = zeros<double>(3, 1);
const std::vector<int> all = {0, 1, 2};

Matrix<double> table(int rows) {
  Matrix<double> E(3, 1);
  E << 1, 3, 7;
  return E.topRows(rows);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_hat_interpolates_between_its_neighbours) {
  const double values[] = {0, 0, 0.25, 1, 0.75, 0, 0}, slopes[] = {0, 0, 1, 0, -1, 0, 0};
  const double at[] = {-2, -1, -0.75, 0, 0.25, 1, 2};
  for (int n = 0; n < 7; ++n) {
    BOOST_TEST(hat(at[n]) == values[n]);
    BOOST_TEST(hat_derivative(at[n]) == slopes[n]);
  }
}

BOOST_AUTO_TEST_CASE(positions_count_the_gates_from_the_key_to_the_query) {
  const auto row_i = cope_row(q, keys, all, 1.0, table(3));
  BOOST_TEST(row_i.position == lifted<double>({1.5, 1, 0.5}));
  BOOST_TEST(row_i.logits == lifted<double>({10, 6, 4}));
  const auto without_middle = cope_row(q, keys, {0, 2}, 1.0, table(3));
  BOOST_TEST(without_middle.position == lifted<double>({1, 0.5}));
  BOOST_TEST(without_middle.logits == lifted<double>({6, 4}));
}

BOOST_AUTO_TEST_CASE(positions_end_at_the_table_s_last_row) {
  BOOST_TEST(cope_row(q, keys, all, 1.0, table(2)).logits == lifted<double>({6, 6, 4}));
  BOOST_TEST(cope_row(q, keys, all, 1.0, table(1)).logits == lifted<double>({2, 2, 2}));
}

BOOST_AUTO_TEST_CASE(gates_see_the_scaled_scores_and_embeddings_the_plain_query) {
  // s = (0.5 * 2 * 200) = 200: gates of 1 and z = q . E. Positions 2 and 1, logits 200 + (14, 6).
  Matrix<double> K(2, 1);
  K << 200, 200;
  BOOST_TEST(cope_row(q, K, {0, 1}, 0.5, table(3)).logits == lifted<double>({214, 206}));
}

BOOST_AUTO_TEST_CASE(the_gradient_by_hand) {
  // dl on key 0, p = 3/2: dz = (0, 1/2, 1/2), dp = 14 - 6, ds = (1, 0, 0) + 8/4.
  const auto first = cope_row_grad(q, keys, all, 1.0, table(3), lifted<double>({1, 0, 0}));
  BOOST_TEST(first.q[0] == 0.5 * 3 + 0.5 * 7);
  BOOST_TEST((first.k.col(0) == lifted<double>({6, 4, 4})));
  BOOST_TEST((first.table.col(0) == lifted<double>({0, 1, 1})));
  // On key 2, p = 1/2: dp = 6 - 2, which only its own gate counts into: ds = 1 + 4/4.
  const auto last = cope_row_grad(q, keys, all, 1.0, table(3), lifted<double>({0, 0, 1}));
  BOOST_TEST((last.k.col(0) == lifted<double>({0, 0, 4})));
}

BOOST_AUTO_TEST_CASE(at_an_integer_and_beyond_the_table_the_gates_have_no_gradient) {
  // Key 1 stands at p = 1; slopes to either side are 4 and 8, and the published code takes 0.
  const auto integer = cope_row_grad(q, keys, all, 1.0, table(3), lifted<double>({0, 1, 0}));
  BOOST_TEST((integer.k.col(0) == lifted<double>({0, 2, 0})));
  BOOST_TEST((integer.table.col(0) == lifted<double>({0, 2, 0})));
  const auto clamped = cope_row_grad(q, keys, all, 1.0, table(2), lifted<double>({1, 0, 0}));
  BOOST_TEST((clamped.k.col(0) == lifted<double>({2, 0, 0})));
  BOOST_TEST((clamped.table.col(0) == lifted<double>({0, 2})));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const Matrix<double> wide = zeros<double>(2, 2), none = zeros<double>(0, 1);
  const Vector<double> two = zeros<double>(2);
  BOOST_CHECK_THROW(cope_row(q, keys, all, 1.0, wide), std::invalid_argument);
  BOOST_CHECK_THROW(cope_row(q, keys, all, 1.0, none), std::invalid_argument);
  BOOST_CHECK_THROW(cope_row(q, keys, {3}, 1.0, table(3)), std::invalid_argument);
  BOOST_CHECK_THROW(cope_row(q, wide, {0}, 1.0, table(3)), std::invalid_argument);
  BOOST_CHECK_THROW(cope_row_grad(q, keys, all, 1.0, table(3), two), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(readings_and_adjoint_agree) {
  const int count = 6, width = 3;
  for (int rows : {8, 3}) {  // 3 rows: about half of the positions are clamped
    for (const std::vector<int>& visible : {std::vector{0, 1, 2, 3, 4, 5}, std::vector{1, 4, 5}}) {
      const auto equation = [&](const auto& x) {
        using R = ScalarOf<decltype(x)>;
        Reader<R> reader(x);
        const Vector<R> q_i = reader.vector(width);
        const Matrix<R> K = reader.matrix(count, width);
        return cope_row(q_i, K, visible, R(0.75), reader.matrix(rows, width)).logits;
      };
      const auto adjoint = [&](const auto& x, const auto& grad_logits) {
        using R = ScalarOf<decltype(x)>;
        Reader<R> reader(x);
        const Vector<R> q_i = reader.vector(width);
        const Matrix<R> K = reader.matrix(count, width);
        const auto grad =
            cope_row_grad(q_i, K, visible, R(0.75), reader.matrix(rows, width), grad_logits);
        Writer<R> results;
        results.vector(grad.q);
        results.matrix(grad.k);
        results.matrix(grad.table);
        return results.result();
      };
      for (std::uint64_t seed : {1, 2, 3}) {
        const auto inputs = Numbers(seed).between(-1, 1, (1 + count + rows) * width);
        expect_readings_and_adjoint(equation, adjoint, inputs, seed);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
