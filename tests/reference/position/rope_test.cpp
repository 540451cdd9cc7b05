// SPDX-License-Identifier: Apache-2.0
#include "reference/position/rope.hpp"

#include "reference/core/sum.hpp"
#include "reference/position/sliding_window.hpp"
#include "tests/reference/parameters.hpp"
#include "tests/reference/readings.hpp"

BOOST_AUTO_TEST_SUITE(rope_test)

using namespace plumbline::reference;

namespace {

const RopePairs both_pairings[] = {RopePairs::interleaved, RopePairs::half_split};

Matrix<double> numbered() {
  Matrix<double> X(2, 4);
  X << 1, 2, 3, 4, 5, 6, 7, 8;
  return X;
}

Matrix<double> with_columns(const Matrix<double>& X, const std::vector<int>& order) {
  Matrix<double> reordered(X.rows(), X.cols());
  for (std::size_t n = 0; n < order.size(); ++n) reordered.col(n) = X.col(order[n]);
  return reordered;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_frequencies_fall_from_one_by_powers_of_the_base) {
  BOOST_TEST(rope_frequency(10000.0, 0, 4) == 1.0);
  BOOST_TEST(rope_frequency(10000.0, 1, 4) == 0.01);  // 10000^(-1/2)
  BOOST_TEST(rope_frequency(16.0, 1, 8) == 0.5);      // 16^(-1/4)
  BOOST_TEST(rope_frequency(16.0, 3, 8) == 0.125);    // 16^(-3/4)
}

BOOST_AUTO_TEST_CASE(position_zero_is_not_rotated) {
  for (RopePairs pairs : both_pairings) {
    const Matrix<double> rotated = rope<double>(numbered(), 0, 10000.0, pairs);
    BOOST_TEST((rotated.row(0) == numbered().row(0)));
    BOOST_TEST((rotated.row(1) != numbered().row(1)));
  }
}

BOOST_AUTO_TEST_CASE(pairs_turn_by_their_angles) {
  // Base 16 and D = 4: theta = (1, 1/4). Row 1 stands at position 2: angles 2 and 1/2.
  const double c = std::cos(2.0), s = std::sin(2.0), C = std::cos(0.5), S = std::sin(0.5);
  const Matrix<double> a = rope<double>(numbered(), 1, 16.0, RopePairs::interleaved);
  BOOST_TEST(a(1, 0) == 5 * c - 6 * s);
  BOOST_TEST(a(1, 1) == 5 * s + 6 * c);
  BOOST_TEST(a(1, 2) == 7 * C - 8 * S);
  BOOST_TEST(a(1, 3) == 7 * S + 8 * C);
  const Matrix<double> b = rope<double>(numbered(), 1, 16.0, RopePairs::half_split);
  BOOST_TEST(b(1, 0) == 5 * c - 7 * s);
  BOOST_TEST(b(1, 2) == 5 * s + 7 * c);
  BOOST_TEST(b(1, 1) == 6 * C - 8 * S);
  BOOST_TEST(b(1, 3) == 6 * S + 8 * C);
}

BOOST_AUTO_TEST_CASE(the_first_components_alone_turn) {
  // Of four components the first two, at position 2 by the angle 2, in either pairing; six by
  // frequencies of six.
  const double c = std::cos(2.0), s = std::sin(2.0);
  for (RopePairs pairs : both_pairings) {
    const Matrix<double> a = rope<double>(numbered(), 1, 16.0, pairs, 2);
    BOOST_TEST(a(1, 0) == 5 * c - 6 * s);
    BOOST_TEST(a(1, 1) == 5 * s + 6 * c);
    BOOST_TEST((a(1, 2) == 7 && a(1, 3) == 8));
    const Matrix<double> back = rope_grad<double>(numbered(), 1, 16.0, pairs, 2);
    BOOST_TEST(back(1, 0) == 5 * c + 6 * s);
    BOOST_TEST(back(1, 1) == 6 * c - 5 * s);
    BOOST_TEST((back(1, 2) == 7 && back(1, 3) == 8));
    Matrix<double> wide(2, 7);
    wide << Matrix<double>::Constant(2, 7, 0.5);
    BOOST_TEST((rope<double>(wide, 3, 1e4, pairs, 6).leftCols(6) ==
                rope<double>(wide.leftCols(6), 3, 1e4, pairs)));
    for (const int refused : {3, 6, -2}) {
      BOOST_CHECK_THROW(rope<double>(numbered(), 1, 16.0, pairs, refused), std::invalid_argument);
      BOOST_CHECK_THROW(rope_grad<double>(numbered(), 1, 16.0, pairs, refused),
                        std::invalid_argument);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_gradient_turns_back) {
  // At position 2, d = (1, 0) in the first pair: da = cos 2, db = -sin 2.
  Matrix<double> g = zeros<double>(1, 4);
  g(0, 0) = 1;
  const Matrix<double> a = rope_grad<double>(g, 2, 16.0, RopePairs::interleaved);
  BOOST_TEST(a(0, 0) == std::cos(2.0));
  BOOST_TEST(a(0, 1) == -std::sin(2.0));
  const Matrix<double> b = rope_grad<double>(g, 2, 16.0, RopePairs::half_split);
  BOOST_TEST(b(0, 2) == -std::sin(2.0));
}

BOOST_AUTO_TEST_CASE(the_pairings_are_equal_under_a_permutation_of_components) {
  BOOST_TEST(half_split_order(6) == (std::vector{0, 2, 4, 1, 3, 5}));
  const std::vector<int> order = half_split_order(4);
  const Matrix<double> interleaved = rope<double>(numbered(), 3, 10000.0, RopePairs::interleaved);
  const Matrix<double> half_split =
      rope<double>(with_columns(numbered(), order), 3, 10000.0, RopePairs::half_split);
  BOOST_TEST((half_split == with_columns(interleaved, order)));  // the same operations
}

BOOST_AUTO_TEST_CASE(scores_depend_on_the_distance_alone) {
  // RoFormer, equation 16: q at i + n and k at j + n have the score of i and j, for every n.
  Numbers numbers(11);
  const std::vector<double> inputs = numbers.between(-1, 1, 8);
  const auto score = [&](int i, int j, RopePairs pairs) {
    const Vector<RunningError> x = lifted<RunningError>(inputs);
    Reader<RunningError> reader(x);
    const auto q = rope<RunningError>(reader.matrix(1, 4), i, RunningError(10000.0), pairs);
    const auto k = rope<RunningError>(reader.matrix(1, 4), j, RunningError(10000.0), pairs);
    return dot(row(q, 0), row(k, 0));
  };
  for (RopePairs pairs : both_pairings) {
    const RunningError near = score(5, 2, pairs), far = score(1005, 1002, pairs);
    const RunningError difference = near - far;  // its error covers both roundings
    BOOST_TEST(!!(std::fabs(difference.value()) <= difference.error()));
    const RunningError other = near - score(5, 3, pairs);
    BOOST_TEST(std::fabs(other.value()) > other.error());  // another distance is another score
  }
}

BOOST_AUTO_TEST_CASE(a_sliding_window_sees_w_plus_one_keys_or_w) {
  using Keys = std::vector<int>;
  const Mask distance = sliding_window(2, WindowCount::distance);
  BOOST_TEST(visible_keys(distance, 0, 3, 4) == (Keys{1, 2, 3}));
  const Mask keys = sliding_window(2, WindowCount::keys);
  BOOST_TEST(visible_keys(keys, 0, 3, 4) == (Keys{2, 3}));
  for (const Mask& mask : {distance, keys}) BOOST_TEST(visible_keys(mask, 0, 0, 4) == (Keys{0}));
  BOOST_TEST(visible_keys(sliding_window(0, WindowCount::distance), 0, 3, 4) == (Keys{3}));
  BOOST_TEST(visible_keys(sliding_window(1, WindowCount::keys), 0, 3, 4) == (Keys{3}));
  BOOST_CHECK_THROW(sliding_window(-1, WindowCount::distance), std::invalid_argument);
  BOOST_CHECK_THROW(sliding_window(0, WindowCount::keys), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(readings_agree) {
  Numbers numbers(12);
  for (RopePairs pairs : both_pairings) {
    for (double base : {10000.0, 500000.0}) {
      expect_readings_agree(
          [&](const auto& x) {
            using R = ScalarOf<decltype(x)>;
            Reader<R> reader(x);
            const Matrix<R> X = reader.matrix(3, 4);
            Writer<R> results;
            results.matrix(rope<R>(X, 1000, R(base), pairs));
            results.matrix(rope_grad<R>(X, -7, R(base), pairs));
            return results.result();
          },
          numbers.between(-1, 1, 12));
    }
  }
  const Matrix<double> odd = zeros<double>(1, 3), none = zeros<double>(1, 0), X = numbered();
  const auto pairs = RopePairs::interleaved;
  BOOST_CHECK_THROW(rope<double>(odd, 0, 1e4, pairs), std::invalid_argument);
  BOOST_CHECK_THROW(rope<double>(none, 0, 1e4, pairs), std::invalid_argument);
  BOOST_CHECK_THROW(rope<double>(X, 0, 0.0, pairs), std::invalid_argument);
  BOOST_CHECK_THROW(rope<double>(X, 0, std::nan(""), pairs), std::invalid_argument);
  BOOST_CHECK_THROW(rope_grad<double>(odd, 0, 1e4, pairs), std::invalid_argument);
  BOOST_CHECK_THROW(rope_grad<double>(X, 0, -1.0, pairs), std::invalid_argument);
  BOOST_CHECK_THROW(rope_frequency(1e4, 0, 3), std::invalid_argument);
  BOOST_CHECK_THROW(rope_frequency(1e4, 2, 4), std::invalid_argument);
  BOOST_CHECK_THROW(rope_frequency(1e4, -1, 4), std::invalid_argument);
  BOOST_CHECK_THROW(half_split_order(3), std::invalid_argument);
}

namespace {

// The scores of local RoPE: q and k rotated, under a sliding window.
const int tokens = 4, width = 4;
const Mask window = sliding_window(1, WindowCount::distance);

template <Real R>
struct Rotated {
  Rotated(const Vector<R>& x, RopePairs pairs, int rotary_dim) {
    Reader<R> reader(x);
    q = rope<R>(reader.matrix(tokens, width), 3, R(10000.0), pairs, rotary_dim);
    k = rope<R>(reader.matrix(tokens, width), 3, R(10000.0), pairs, rotary_dim);
  }
  Matrix<R> q, k;
};

}  // namespace

BOOST_AUTO_TEST_CASE(the_adjoint_is_the_derivative_of_the_scores) {
  Numbers numbers(13);
  const std::vector<double> inputs = numbers.between(-1, 1, 2 * tokens * width);
  const std::vector<double> weights = numbers.between(-1, 1, tokens * tokens);
  for (const auto& [pairs, rotary_dim] : {std::pair{RopePairs::interleaved, 0},
                                          {RopePairs::interleaved, 2},
                                          {RopePairs::half_split, 0},
                                          {RopePairs::half_split, 2}}) {
    expect_adjoint(
        [&, pairs = pairs, rotary_dim = rotary_dim](const auto& x) {
          using R = ScalarOf<decltype(x)>;
          const Rotated<R> rotated(x, pairs, rotary_dim);
          Vector<R> total = zeros<R>(1);
          for (int i = 0; i < tokens; ++i) {
            for (int j : visible_keys(window, 0, i, tokens)) {
              total[0] += R(weights[i * tokens + j]) * dot(row(rotated.q, i), row(rotated.k, j));
            }
          }
          return total;
        },
        [&, pairs = pairs, rotary_dim = rotary_dim](const auto& x) {
          using R = ScalarOf<decltype(x)>;
          const Rotated<R> rotated(x, pairs, rotary_dim);
          Matrix<R> grad_q = zeros<R>(tokens, width), grad_k = grad_q;
          for (int i = 0; i < tokens; ++i) {
            for (int j : visible_keys(window, 0, i, tokens)) {
              for (int d = 0; d < width; ++d) {
                grad_q(i, d) += R(weights[i * tokens + j]) * rotated.k(j, d);
                grad_k(j, d) += R(weights[i * tokens + j]) * rotated.q(i, d);
              }
            }
          }
          Writer<R> results;
          results.matrix(rope_grad<R>(grad_q, 3, R(10000.0), pairs, rotary_dim));
          results.matrix(rope_grad<R>(grad_k, 3, R(10000.0), pairs, rotary_dim));
          return results.result();
        },
        inputs);
  }
}

BOOST_AUTO_TEST_SUITE_END()
