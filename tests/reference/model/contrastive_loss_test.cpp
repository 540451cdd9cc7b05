// SPDX-License-Identifier: Apache-2.0
#include "reference/model/contrastive_loss.hpp"

#include "tests/reference/refused.hpp"
#include "tests/reference/weighted.hpp"

BOOST_AUTO_TEST_SUITE(contrastive_loss_test)

using namespace plumbline::reference;

namespace {

constexpr Similarity kinds[] = {Similarity::cosine, Similarity::dot};

template <Real R>
ContrastiveBatch<R> read_batch(Reader<R>& reader, int pairs, int negatives, int width) {
  const Matrix<R> queries = reader.matrix(pairs, width), positives = reader.matrix(pairs, width);
  return {queries, positives, reader.matrix(negatives, width)};
}

// Two pairs and one hard negative of width 2. Cosines: query 1 with its positive 1, with the
// other's 0, with the negative 0; query 2: 0, 1, -1.
ContrastiveBatch<double> by_hand() {
  const Vector<double> numbers = lifted<double>({2, 0, 0, 1, /**/ 4, 0, 0, 8, /**/ 0, -1});
  Reader<double> reader(numbers);
  return read_batch(reader, 2, 1, 2);
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_query_meets_all_positives_and_all_hard_negatives) {
  Matrix<double> cosines(2, 3), dots(2, 3);
  cosines << 1, 0, 0, 0, 1, -1;
  dots << 8, 0, 0, 0, 8, -1;
  BOOST_TEST((contrastive_logits(by_hand(), 1.0, Similarity::cosine) == cosines));
  BOOST_TEST((contrastive_logits(by_hand(), 0.5, Similarity::cosine) == 2 * cosines));
  BOOST_TEST((contrastive_logits(by_hand(), 0.5, Similarity::dot) == 2 * dots));
}

BOOST_AUTO_TEST_CASE(the_loss_is_that_of_telling_the_own_positive_from_the_rest) {
  // Temperature 1/ln 2 makes e^z a power of 2: with cosines 2/(2 + 1 + 1) and 2/(1 + 2 + 1/2).
  using E = RunningError;
  ContrastiveBatch<E> batch;
  batch.queries = by_hand().queries.unaryExpr([](double x) { return E(x); });
  batch.positives = by_hand().positives.unaryExpr([](double x) { return E(x); });
  batch.hard_negatives = by_hand().hard_negatives.unaryExpr([](double x) { return E(x); });
  const E temperature = E(1.0) / plumbline::reference::log(E(2.0));
  const E loss = contrastive_loss(batch, temperature, Similarity::cosine);
  const double expected = (std::log(2.0) + std::log(1.75)) / 2;
  BOOST_TEST(std::fabs(loss.value() - expected) <= loss.error() + 0x1p-52);  // two logarithms
  BOOST_TEST(loss.error() < 1e-13);
}

BOOST_AUTO_TEST_CASE(without_hard_negatives_the_other_positives_are_the_negatives) {
  // One pair alone: nothing to tell apart, nothing to learn.
  const Vector<double> numbers = lifted<double>({1, 2, /**/ 3, -4});
  Reader<double> reader(numbers);
  const ContrastiveBatch<double> alone = read_batch(reader, 1, 0, 2);
  for (Similarity similarity : kinds) {
    BOOST_TEST(contrastive_loss(alone, 0.05, similarity) == 0.0);
    const auto grad = contrastive_loss_grad(alone, 0.05, similarity, 1.0);
    BOOST_TEST((grad.embeddings.queries == zeros<double>(1, 2)));
    BOOST_TEST(grad.embeddings.hard_negatives.rows() == 0);
    BOOST_TEST(grad.embeddings.hard_negatives.cols() == 2);
  }
}

BOOST_AUTO_TEST_CASE(the_gradient_by_hand) {
  // One pair, one negative, width 1: q = 0, d+ = 3, d- = 5. Both similarities are 0, p = (1/2,
  // 1/2); ds = 2 / (1/2) (-1/2, 1/2) = (-2, 2), dq = -2 3 + 2 5, dd = ds q = 0, and z = 0.
  const Vector<double> numbers = lifted<double>({0, 3, 5});
  Reader<double> reader(numbers);
  const ContrastiveBatch<double> batch = read_batch(reader, 1, 1, 1);
  const auto grad = contrastive_loss_grad(batch, 0.5, Similarity::dot, 2.0);
  BOOST_TEST(grad.embeddings.queries(0, 0) == 4.0);
  BOOST_TEST(grad.embeddings.positives(0, 0) == 0.0);
  BOOST_TEST(grad.embeddings.hard_negatives(0, 0) == 0.0);
  BOOST_TEST(grad.temperature == 0.0);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  struct Shapes {
    int rows = 2, columns = 3, positive_rows = 2, positive_columns = 3, negative_columns = 3;
    double temperature = 0.05;
  };
  const auto expect = [](const std::string& message, const Shapes& s) {
    const auto batch = [&]<Real R>(const R&) {
      return ContrastiveBatch<R>{zeros<R>(s.rows, s.columns),
                                 zeros<R>(s.positive_rows, s.positive_columns),
                                 zeros<R>(1, s.negative_columns)};
    };
    expect_refused(message, [&](const auto& zero) {
      using R = std::remove_cvref_t<decltype(zero)>;
      contrastive_loss(batch(zero), R(s.temperature), Similarity::dot);
    });
    expect_refused(message, [&](const auto& zero) {
      using R = std::remove_cvref_t<decltype(zero)>;
      contrastive_loss_grad(batch(zero), R(s.temperature), Similarity::dot, zero);
    });
  };
  expect("queries.rows() is 0; expected at least 1", {.rows = 0, .positive_rows = 0});
  expect("queries.cols() is 0; expected at least 1",
         {.columns = 0, .positive_columns = 0, .negative_columns = 0});
  expect("positives.rows() is 1; expected the rows of the queries", {.positive_rows = 1});
  expect("positives.cols() is 2; expected the columns of the queries", {.positive_columns = 2});
  expect("hard_negatives.cols() is 4; expected the columns of the queries",
         {.negative_columns = 4});
  const double infinity = std::numeric_limits<double>::infinity();
  expect("temperature is 0; expected finite and above 0", {.temperature = 0});
  expect("temperature is nan; expected finite and above 0", {.temperature = std::nan("")});
  expect("temperature is inf; expected finite and above 0", {.temperature = infinity});
}

BOOST_AUTO_TEST_CASE(readings_and_adjoint_agree) {
  const int pairs = 2, negatives = 1, width = 2;
  for (Similarity similarity : kinds) {
    const auto equation = [&](const auto& x) {
      using R = ScalarOf<decltype(x)>;
      Reader<R> reader(x);
      const R temperature = reader.number();
      Writer<R> results;
      results.number(
          contrastive_loss(read_batch(reader, pairs, negatives, width), temperature, similarity));
      return results.result();
    };
    const auto adjoint = [&](const auto& x, const auto& dy) {
      using R = ScalarOf<decltype(x)>;
      Reader<R> reader(x);
      const R temperature = reader.number();
      const ContrastiveGrad<R> grad = contrastive_loss_grad(
          read_batch(reader, pairs, negatives, width), temperature, similarity, dy[0]);
      Writer<R> results;
      results.number(grad.temperature);
      results.matrix(grad.embeddings.queries);
      results.matrix(grad.embeddings.positives);
      results.matrix(grad.embeddings.hard_negatives);
      return results.result();
    };
    std::vector<double> inputs = {0.4};
    for (double x : Numbers(1).between(-2, 2, (2 * pairs + negatives) * width)) inputs.push_back(x);
    expect_readings_and_adjoint(equation, adjoint, inputs, 1);
  }
}

BOOST_AUTO_TEST_SUITE_END()
