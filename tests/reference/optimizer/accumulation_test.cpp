// SPDX-License-Identifier: Apache-2.0
#include "reference/optimizer/accumulation.hpp"

#include "reference/model/loss.hpp"
#include "tests/reference/parameters.hpp"
#include "tests/reference/refused.hpp"

BOOST_AUTO_TEST_SUITE(accumulation_test)

using namespace plumbline::reference;

BOOST_AUTO_TEST_CASE(the_token_budget_is_met_exactly) {
  BOOST_TEST(micro_batches(524288, 64, 1024) == 8);
  BOOST_TEST(micro_batches(524288, 16, 1024) == 32);
  BOOST_TEST(micro_batches(12, 4, 3) == 1);
}

BOOST_AUTO_TEST_CASE(a_part_counts_as_much_as_it_has_tokens) {
  BOOST_TEST(micro_batch_share<double>(3, 4) == 0.75);
  BOOST_TEST(micro_batch_share<double>(0, 4) == 0.0);
  Matrix<double> total(1, 2), grad(1, 2);
  total << 1, 2;
  grad << 4, -8;
  accumulate(total, grad, 0.75);
  BOOST_TEST(total(0, 0) == 4.0);
  BOOST_TEST(total(0, 1) == -4.0);
}

// Micro-batches with 1 and 3 counted tokens of 2 and 4: ours is the whole batch's loss and
// gradient, the mean over micro-batches is not.
BOOST_AUTO_TEST_CASE(losses_and_gradients_of_the_parts_are_those_of_the_whole) {
  using E = RunningError;
  const int vocabulary = 3;
  const Vector<E> numbers = lifted<E>(Numbers(5).between(-2, 2, 6 * vocabulary));
  Reader<E> reader(numbers);
  const Matrix<E> whole = reader.matrix(6, vocabulary);
  const Targets first = {std::nullopt, 2}, second = {0, 1, std::nullopt, 1};
  Targets all = first;
  all.insert(all.end(), second.begin(), second.end());

  const E share = micro_batch_share<E>(1, 4), rest = micro_batch_share<E>(3, 4);
  const Matrix<E> top = whole.topRows(2), bottom = whole.bottomRows(4);
  const E loss = cross_entropy(whole, all);
  const E by_parts = share * cross_entropy(top, first) + rest * cross_entropy(bottom, second);
  BOOST_TEST(std::fabs(loss.value() - by_parts.value()) <= loss.error() + by_parts.error());
  const double unweighted =
      (cross_entropy(top, first).value() + cross_entropy(bottom, second).value()) / 2;
  BOOST_TEST(std::fabs(loss.value() - unweighted) > 0.01);

  const Matrix<E> grad = cross_entropy_grad(whole, all, E(1.0));
  Matrix<E> total = zeros<E>(6, vocabulary), of_first = total, of_second = total;
  of_first.topRows(2) = cross_entropy_grad(top, first, E(1.0));
  of_second.bottomRows(4) = cross_entropy_grad(bottom, second, E(1.0));
  accumulate(total, of_first, share);
  accumulate(total, of_second, rest);
  for (Eigen::Index n = 0; n < grad.size(); ++n) {
    const E ours = total.data()[n], expected = grad.data()[n];
    BOOST_TEST(std::fabs(ours.value() - expected.value()) <= ours.error() + expected.error());
    BOOST_TEST(ours.error() + expected.error() < 1e-13);
  }
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const auto batches = [](int budget, int sequences, int length) {
    return [=](const auto&) { micro_batches(budget, sequences, length); };
  };
  expect_refused("token_budget is 0; expected at least 1", batches(0, 1, 1));
  expect_refused("sequences is 0; expected at least 1", batches(8, 0, 2));
  expect_refused("length is -2; expected at least 1", batches(8, 2, -2));
  expect_refused("token_budget is 9; expected a multiple of the tokens of a micro-batch",
                 batches(9, 2, 2));
  expect_refused("token_budget is 8; expected a multiple of the tokens of a micro-batch",
                 batches(8, 1 << 20, 1 << 12));  // 2^32 tokens: no overflow
  const auto share = [](int counted, int all) {
    return [=](const auto& zero) {
      micro_batch_share<std::remove_cvref_t<decltype(zero)>>(counted, all);
    };
  };
  expect_refused("all_counted_tokens is 0; expected at least 1", share(0, 0));
  const std::string range = "; expected at least 0 and at most all_counted_tokens";
  expect_refused("counted_tokens is -1" + range, share(-1, 4));
  expect_refused("counted_tokens is 5" + range, share(5, 4));
  const auto add = [](int rows, int columns) {
    return [=](const auto& zero) {
      using R = std::remove_cvref_t<decltype(zero)>;
      Matrix<R> total = zeros<R>(2, 3);
      accumulate(total, zeros<R>(rows, columns), zero);
    };
  };
  expect_refused("grad.rows() is 1; expected the rows of the total", add(1, 3));
  expect_refused("grad.cols() is 4; expected the columns of the total", add(2, 4));
}

BOOST_AUTO_TEST_CASE(readings_agree) {
  expect_readings_agree(
      [](const auto& x) {
        using R = ScalarOf<decltype(x)>;
        Reader<R> reader(x);
        Vector<R> total = reader.vector(2);
        accumulate(total, reader.vector(2), micro_batch_share<R>(1, 3));
        accumulate(total, reader.vector(2), micro_batch_share<R>(2, 3));
        return total;
      },
      Numbers(1).between(-1, 1, 6));
}

BOOST_AUTO_TEST_SUITE_END()
