// SPDX-License-Identifier: Apache-2.0
#include "models/inference/sampling.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <string>

#include "support/error.hpp"

BOOST_AUTO_TEST_SUITE(sampling_test)

using namespace plumbline::inference;

namespace {

/// Probabilities 1/8, 1/4, 1/2, 1/8 at temperature 1.
const std::vector<float> kLogits{0.0f, std::log(2.0f), std::log(4.0f), 0.0f};

/// A logit is at most ln 4 and off by 2^-24 of that at most, the quotient of two exponentials by
/// twice as much over the temperature; what is done in double is far below.
void check(const SamplingSettings& settings, const std::vector<Candidate>& expected) {
  const auto got = candidates(kLogits, settings);
  const double bound = 1.001 * 2 * std::log(4.0) * 0x1p-24 / settings.temperature;
  BOOST_REQUIRE_EQUAL(got.size(), expected.size());
  for (std::size_t n = 0; n < got.size(); ++n) {
    BOOST_TEST(got[n].token == expected[n].token);
    const double error = std::fabs(got[n].probability - expected[n].probability);
    BOOST_TEST(error <= bound * expected[n].probability, "candidate " << n << ": " << error);
  }
}

template <class Body>
std::string refusal(Body body) {
  try {
    body();
  } catch (const plumbline::BadInput& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// Pearson's statistic of counts against probabilities.
double chi_square(const std::vector<double>& counts, const std::vector<double>& probabilities) {
  double all = 0.0, sum = 0.0;
  for (const double count : counts) all += count;
  for (std::size_t n = 0; n < counts.size(); ++n) {
    const double expected = all * probabilities[n];
    sum += (counts[n] - expected) * (counts[n] - expected) / expected;
  }
  return sum;
}

/// What a chi-square variable of `freedom` degrees exceeds with a probability of at most e^-21,
/// 8e-10: d + 2 sqrt(d t) + 2 t (Laurent, Massart, Ann. Statist. 28, 2000, lemma 1).
double most(double freedom) { return freedom + 2 * std::sqrt(freedom * 21) + 2 * 21; }

const std::vector<double> kProbabilities{0.125, 0.25, 0.5, 0.125};

}  // namespace

BOOST_AUTO_TEST_CASE(probabilities_are_those_computed_by_hand) {
  check({}, {{2, 1 / 2.}, {1, 1 / 4.}, {0, 1 / 8.}, {3, 1 / 8.}});
  check({.temperature = 0.5}, {{2, 16 / 22.}, {1, 4 / 22.}, {0, 1 / 22.}, {3, 1 / 22.}});
  check({.top_k = 2}, {{2, 2 / 3.}, {1, 1 / 3.}});
  check({.top_k = 3}, {{2, 4 / 7.}, {1, 2 / 7.}, {0, 1 / 7.}});  // of 0 and 3 the lower one
  check({.top_k = 9}, {{2, 1 / 2.}, {1, 1 / 4.}, {0, 1 / 8.}, {3, 1 / 8.}});
  check({.top_p = 0.49}, {{2, 1.}});
  check({.top_p = 0.6}, {{2, 2 / 3.}, {1, 1 / 3.}});
  check({.top_p = 0.8}, {{2, 4 / 7.}, {1, 2 / 7.}, {0, 1 / 7.}});
  // top_p is of what top_k left: 2/3 and 1/3, not 1/2 and 1/4.
  check({.top_k = 2, .top_p = 0.6}, {{2, 1.}});
  check({.temperature = 0.5, .top_p = 0.8}, {{2, 4 / 5.}, {1, 1 / 5.}});
}

BOOST_AUTO_TEST_CASE(temperature_0_takes_the_most_likely) {
  BOOST_TEST(next_token(kLogits, {.temperature = 0}, 3, 5) == 2);
  const std::vector<float> alike{1.0f, 7.0f, 7.0f};
  BOOST_TEST(next_token(alike, {.temperature = 0}, 0, 0) == 1);
}

BOOST_AUTO_TEST_CASE(extreme_logits_are_no_matter) {
  const std::vector<float> huge{-3e38f, 3e38f, -INFINITY};
  const auto got = candidates(huge, {.temperature = 1e-300});
  BOOST_REQUIRE_EQUAL(got.size(), 2u);  // -infinity is no candidate
  BOOST_TEST(got[0].token == 1);
  BOOST_TEST(got[0].probability == 1.0);
  BOOST_TEST(got[1].probability == 0.0);
}

BOOST_AUTO_TEST_CASE(draws_have_the_distribution) {
  const int draws = 40000;
  std::vector<double> of_steps(4), of_sequences(4), of_pairs(16), of_neighbours(16), by_pair;
  for (const double p : kProbabilities)
    for (const double q : kProbabilities) by_pair.push_back(p * q);
  for (int n = 0; n < draws; ++n) {
    const int token = next_token(kLogits, {}, 0, n);
    ++of_steps[token];
    ++of_sequences[next_token(kLogits, {}, n, 0)];
    ++of_neighbours[4 * token + next_token(kLogits, {}, 1, n)];
    if (n % 2 == 0) ++of_pairs[4 * token + next_token(kLogits, {}, 0, n + 1)];
  }
  BOOST_TEST(chi_square(of_steps, kProbabilities) <= most(3));
  BOOST_TEST(chi_square(of_sequences, kProbabilities) <= most(3));
  BOOST_TEST(chi_square(of_pairs, by_pair) <= most(15));       // a step and the next
  BOOST_TEST(chi_square(of_neighbours, by_pair) <= most(15));  // two sequences
  std::vector<double> of_two(2);
  for (int n = 0; n < draws; ++n) ++of_two[next_token(kLogits, {.top_k = 2, .seed = 9}, 7, n) - 1];
  BOOST_TEST(chi_square(of_two, {1 / 3., 2 / 3.}) <= most(1));
}

BOOST_AUTO_TEST_CASE(a_draw_is_a_function_of_seed_sequence_and_step) {
  int differ_by_seed = 0;
  for (int n = 0; n < 100; ++n) {
    BOOST_TEST(next_token(kLogits, {}, 4, n) == next_token(kLogits, {}, 4, n));
    differ_by_seed += next_token(kLogits, {}, 4, n) != next_token(kLogits, {.seed = 2}, 4, n);
  }
  BOOST_TEST(differ_by_seed > 30);  // 1 - (1/4 + 1/16 + 2/64) = 66 of 100 are expected
}

BOOST_AUTO_TEST_CASE(settings_and_logits_of_no_use_are_refused) {
  const auto settings = [](const SamplingSettings& s) { return refusal([&] { validate(s); }); };
  BOOST_TEST(settings({.temperature = NAN}) ==
             "temperature is nan; expected a finite number of at least 0");
  BOOST_TEST(settings({.temperature = -1}).starts_with("temperature is -1;"));
  BOOST_TEST(settings({.temperature = INFINITY}).starts_with("temperature is inf;"));
  BOOST_TEST(settings({.top_k = -1}) == "top_k is -1; expected at least 0");
  BOOST_TEST(settings({.top_p = 0}) == "top_p is 0; expected above 0 and at most 1");
  BOOST_TEST(settings({.top_p = NAN}).starts_with("top_p is nan;"));
  BOOST_TEST(settings({}) == "nothing was thrown");
  const auto logits = [](const std::vector<float>& l) {
    return refusal([&] { candidates(l, {.temperature = 0}); });
  };
  BOOST_TEST(logits({1.0f, NAN}).starts_with("the logit of token 1 is nan;"));
  BOOST_TEST(logits({INFINITY, 0.0f}).starts_with("the logit of token 0 is inf;"));
  BOOST_TEST(logits({-INFINITY}).starts_with("the next token is impossible;"));
}

BOOST_AUTO_TEST_SUITE_END()
