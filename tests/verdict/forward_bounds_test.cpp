// SPDX-License-Identifier: Apache-2.0
// The bounds of one row: by hand, and against correct kernels that are as unlucky as their contract
// lets them be.
#include "verdict/bounds/forward.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <random>

#include "verdict/bounds/random_rounding.hpp"
#include "verdict/cases/case_file.hpp"

BOOST_AUTO_TEST_SUITE(forward_bounds_test)

using namespace plumbline;
using cases::Format;

namespace {

/// A row with values of one component, and its exact softmax.
struct Row {
  std::vector<double> score, score_error, probability, output;
  std::vector<float> v;
  double lse = 0;
  bool random_signs = false;

  Row(std::vector<double> scores, std::vector<float> values, double sigma)
      : score(std::move(scores)), score_error(score.size(), sigma), v(std::move(values)) {
    double total = 0, o = 0;
    const double maximum = *std::max_element(score.begin(), score.end());
    for (double s : score) total += std::exp(s - maximum);
    lse = maximum + std::log(total);
    for (std::size_t j = 0; j < score.size(); ++j) {
      probability.push_back(std::exp(score[j] - lse));
      o += probability[j] * v[j];
    }
    output = {o};
  }

  verdict::ForwardRowBounds bounds(const verdict::Contract& contract, Format format) const {
    verdict::ForwardRow row;
    row.score = score;
    row.score_error = score_error;
    row.probability = probability;
    for (const float& value : v) row.value.push_back(&value);
    row.output = output;
    row.lse = lse;
    row.random_signs = random_signs;
    return verdict::forward_row_bounds(contract, format, row);
  }
};

Row random_row(std::mt19937& random, int keys, double spread) {
  std::normal_distribution<double> normal;
  std::vector<double> score;
  std::vector<float> value;
  for (int j = 0; j < keys; ++j) {
    score.push_back(spread * normal(random));
    value.push_back(static_cast<float>(normal(random)));
  }
  return Row(score, value, 1e-6);
}

struct Result {
  double o, lse;
};

/// An online softmax over [first, last), in double but for the errors that its contract allows:
/// each exponential off by +-exp_error, each score by +-score_error, P rounded to bf16 where
/// declared.
struct Unlucky {
  const Row& row;
  const verdict::Contract& contract;
  std::mt19937& random;

  double exponential(double x) {
    if (x == 0) return 1.0;
    return std::exp(x) * (random() % 2 ? 1 + contract.exp_error : 1 - contract.exp_error);
  }
  double rounded_p(double p) const {
    return contract.probability_format == PLUMBLINE_BF16
               ? cases::from_bf16(cases::to_bf16(static_cast<float>(p)))
               : p;
  }

  Result run(std::size_t first, std::size_t last, bool descending) {
    double maximum = -INFINITY, sum = 0, weighted = 0;
    for (std::size_t n = 0; n < last - first; ++n) {
      const std::size_t j = descending ? last - 1 - n : first + n;
      const double s = row.score[j] + (random() % 2 ? 1 : -1) * row.score_error[j];
      if (s > maximum) {
        const double rescale = std::isinf(maximum) ? 0.0 : exponential(maximum - s);
        sum *= rescale;
        weighted *= rescale;
        maximum = s;
      }
      const double p = exponential(s - maximum);
      sum += contract.sums_rounded_p ? rounded_p(p) : p;
      weighted += rounded_p(p) * row.v[j];
    }
    return {weighted / sum, maximum + std::log(sum)};
  }

  /// Splits of equal length, merged one after the other.
  Result split_run() {
    const std::size_t n = row.score.size();
    const std::size_t length = (n + contract.splits - 1) / contract.splits;
    Result merged = run(0, std::min(length, n), false);
    for (std::size_t first = length; first < n; first += length) {
      const Result next = run(first, std::min(first + length, n), random() % 2 == 0);
      const double maximum = std::max(merged.lse, next.lse);
      const double a = exponential(merged.lse - maximum), b = exponential(next.lse - maximum);
      merged = {(a * merged.o + b * next.o) / (a + b), maximum + std::log(a + b)};
    }
    return merged;
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(kernels_at_the_edge_of_their_contract_stay_within_the_bound_and_come_near_it) {
  std::mt19937 random(7);
  for (const int splits : {1, 4}) {
    for (const int p_format : {PLUMBLINE_FP32, PLUMBLINE_BF16}) {
      for (const int sums_rounded : {0, 1}) {
        for (const double exp_error : {0x1p-20, 0x1p-10}) {
          auto contract = cases::undeclared_contract();
          contract.splits = splits;
          contract.probability_format = p_format;
          contract.sums_rounded_p = sums_rounded;
          contract.exp_error = exp_error;
          double worst_o = 0, worst_lse = 0;
          for (int n = 0; n < 400; ++n) {
            const Row row = random_row(random, 1 + n % 40, 0.1 + n % 5);
            const auto bounds = row.bounds(contract, Format::fp32);
            Unlucky kernel{row, contract, random};
            const Result result =
                splits > 1 ? kernel.split_run() : kernel.run(0, row.score.size(), n % 2 == 0);
            worst_o = std::max(worst_o, std::abs(result.o - row.output[0]) / bounds.output[0]);
            worst_lse = std::max(worst_lse, std::abs(result.lse - row.lse) / bounds.lse);
          }
          BOOST_TEST_CONTEXT("splits " << splits << ", P " << p_format << ", summed rounded "
                                       << sums_rounded << ", exp error " << exp_error) {
            BOOST_TEST(worst_o <= 1.0);
            BOOST_TEST(worst_lse <= 1.0);
            BOOST_TEST(worst_o > 0.05);
            BOOST_TEST(worst_lse > 0.02);
          }
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(one_key_whose_only_exponential_is_as_wrong_as_declared) {
  auto contract = cases::undeclared_contract();
  contract.exp_error = 0x1p-10;
  const Row row({0.0}, {1.0f}, 0.0);
  // exp(0) = 1 - 2^-10: lse = ln(1 - 2^-10), a little more than 2^-10 below 0.
  BOOST_TEST(-std::log1p(-0x1p-10) <= row.bounds(contract, Format::fp32).lse);
}

BOOST_AUTO_TEST_CASE(a_faint_key_that_carries_the_value_and_an_uncertain_score) {
  // p = 2^-20 on the key with v = 1, its score off by 0.99, P rounded to bf16 (off by 2^-8).
  auto contract = cases::undeclared_contract();
  contract.probability_format = PLUMBLINE_BF16;
  Row row({-20 * std::log(2.0), 0.0}, {1.0f, 0.0f}, 0.0);
  row.score_error[0] = 0.99;
  const double p = row.probability[0] * std::exp(0.99);
  const double o = p * (1 + 0x1p-8) / (1 + p - row.probability[0]);
  BOOST_TEST(o - row.output[0] <= row.bounds(contract, Format::fp32).output[0]);
}

BOOST_AUTO_TEST_CASE(bf16_rounding_of_a_single_value_uses_up_its_share) {
  // One key: o = v exactly, so rounding v to bf16 is the only error, at most 2^-8 |v|.
  const Row row({1.0}, {1.0f}, 0.0);
  const double bound = row.bounds(cases::undeclared_contract(), Format::bf16).output[0];
  BOOST_TEST(bound >= 0x1p-8);
  BOOST_TEST(bound <= 1.01 * 0x1p-8);
}

BOOST_AUTO_TEST_CASE(a_row_that_fp32_does_not_determine_is_held_to_the_hull_of_its_values) {
  const Row row({0.0, 0.1, 0.2}, {-1.0f, 2.0f, 3.0f}, 5.0);
  const auto bounds = row.bounds(cases::undeclared_contract(), Format::fp32);
  BOOST_TEST(bounds.ill_conditioned);
  const double hull = std::max(3.0 - row.output[0], row.output[0] + 1.0);
  BOOST_TEST(bounds.output[0] >= hull);
  BOOST_TEST(bounds.output[0] <= 1.001 * hull);
  BOOST_TEST(bounds.lse >= 5.0);  // 1-Lipschitz in the scores
  BOOST_TEST(bounds.lse <= 5.001);
}

BOOST_AUTO_TEST_CASE(scores_that_overflow_fp32_have_no_bound) {
  const auto contract = cases::undeclared_contract();
  const std::vector<double> score{1e39}, products{1e39}, bias_error{0.0};
  BOOST_TEST(std::isinf(
      verdict::score_errors(contract, 64, 0.125, false, 1.0, score, products, bias_error)[0]));
}

BOOST_AUTO_TEST_CASE(keys_left_out_use_up_what_the_contract_allows) {
  // As many keys as may be left out, from the faintest; the others are exact.
  auto contract = cases::undeclared_contract();
  contract.skipped_mass = 0x1p-10;
  contract.exp_error = 0;
  std::mt19937 random(3);
  double worst_o = 0, worst_lse = 0;
  for (int n = 0; n < 300; ++n) {
    Row row = random_row(random, 30, 4.0);
    std::fill(row.score_error.begin(), row.score_error.end(), 0.0);
    const auto bounds = row.bounds(contract, Format::fp32);
    std::vector<double> order = row.probability;
    std::sort(order.begin(), order.end());
    double mass = 0, limit = 0;
    for (const double p : order) {
      if (mass + p > contract.skipped_mass) break;
      mass += p;
      limit = p;
    }
    double sum = 0, weighted = 0;
    for (std::size_t j = 0; j < row.score.size(); ++j) {
      if (row.probability[j] <= limit) continue;
      sum += row.probability[j];
      weighted += row.probability[j] * row.v[j];
    }
    worst_o = std::max(worst_o, std::abs(weighted / sum - row.output[0]) / bounds.output[0]);
    worst_lse = std::max(worst_lse, std::abs(std::log(sum)) / bounds.lse);
  }
  BOOST_TEST(worst_o <= 1.0);
  BOOST_TEST(worst_lse <= 1.0);
  BOOST_TEST(worst_o > 0.5);
  BOOST_TEST(worst_lse > 0.9);
}

BOOST_AUTO_TEST_CASE(operands_cut_to_tf32_use_up_what_the_contract_allows) {
  // P and V each off by r, towards the sign of v: relative (1 + r)^2 - 1 of sum p |v|.
  auto contract = cases::undeclared_contract();
  contract.operand_roundoff = 0x1p-10;
  const double r = contract.operand_roundoff;
  const Row row({0.0, 0.5, 1.0}, {1.0f, 2.0f, 0.5f}, 0.0);
  const double bound = row.bounds(contract, Format::fp32).output[0];
  const double error = ((1 + r) * (1 + r) - 1) * row.output[0];
  BOOST_TEST(error <= bound);
  BOOST_TEST(bound <= 1.01 * error);
  // Scores: both operands of every product.
  const std::vector<double> score{0.5}, products{2.0}, bias_error{0.0};
  const double sigma =
      verdict::score_errors(contract, 64, 0.125, false, 1.0, score, products, bias_error)[0];
  BOOST_TEST(((1 + r) * (1 + r) - 1) * products[0] <= sigma);
  BOOST_TEST(sigma <= 1.01 * ((1 + r) * (1 + r) - 1) * products[0]);
}

BOOST_AUTO_TEST_CASE(an_output_beyond_the_largest_fp16_number_has_no_bound) {
  const Row fits({0.0}, {65000.0f}, 0.0), beyond({0.0}, {65500.0f}, 0.0);
  BOOST_TEST(std::isfinite(fits.bounds(cases::undeclared_contract(), Format::fp16).output[0]));
  BOOST_TEST(std::isinf(beyond.bounds(cases::undeclared_contract(), Format::fp16).output[0]));
}

BOOST_AUTO_TEST_CASE(a_tf32_output_is_stored_as_a_float) {
  const Row row({1.0}, {1.0f}, 0.0);
  BOOST_TEST(row.bounds(cases::undeclared_contract(), Format::tf32).output[0] ==
             row.bounds(cases::undeclared_contract(), Format::fp32).output[0]);
}

BOOST_AUTO_TEST_CASE(roundings_of_p_that_know_nothing_of_v_stay_within_the_random_bound) {
  // Each P off by all of 2^-8, to any side that does not follow v. The sum of 300 keys is near
  // normal with the standard deviation that the bound has eight of: among 4000 some pass 3 of it.
  auto contract = cases::undeclared_contract();
  contract.probability_format = PLUMBLINE_BF16;
  contract.exp_error = 0;
  std::mt19937 random(11);
  double largest = 0, of_worst = 0;
  for (int n = 0; n < 4000; ++n) {
    Row row = random_row(random, 300, 0.1);
    std::fill(row.score_error.begin(), row.score_error.end(), 0.0);
    const double worst = row.bounds(contract, Format::fp32).output[0];
    row.random_signs = true;
    const auto bounds = row.bounds(contract, Format::fp32);
    double error = 0, chosen = 0;
    for (std::size_t j = 0; j < row.v.size(); ++j) {
      const double most = 0x1p-8 * row.probability[j] * row.v[j];
      error += (j % 3 ? 1 : -1) * most;
      chosen += std::abs(most);  // to the side of v: no kernel can
    }
    largest = std::max(largest, std::abs(error) / bounds.random[0]);
    BOOST_TEST(std::abs(error) <= bounds.output[0]);
    BOOST_TEST(chosen <= worst);
    of_worst = std::max(of_worst, bounds.output[0] / worst);
    BOOST_TEST(chosen > bounds.output[0]);
  }
  BOOST_TEST(largest > 3.0);
  BOOST_TEST(of_worst < 0.75);
}

BOOST_AUTO_TEST_CASE(float_sums_stay_within_the_random_bounds) {
  const auto contract = cases::undeclared_contract();
  std::mt19937 random(13);
  std::normal_distribution<double> normal;
  double of_signed = 0, of_weights = 0;
  for (int n = 0; n < 200; ++n) {
    const int keys = 2000;
    std::vector<double> p;
    float sum = 0, products = 0;
    double exact_sum = 0, exact = 0, size = 0, squares = 0;
    for (int j = 0; j < keys; ++j) {
      const auto weight = static_cast<float>(std::exp(normal(random) / 64));
      const auto x = static_cast<float>(weight * normal(random));
      p.push_back(weight);
      sum += weight;
      exact_sum += weight;
      products += x;
      exact += x;
      size += std::abs(x);
      squares += double{x} * x;
    }
    for (double& weight : p) weight /= exact_sum;
    const auto error = verdict::weight_sum_error(contract, p, 1.0 / 64);
    BOOST_TEST(error.systematic == 0);
    of_weights = std::max(of_weights, std::abs(sum - exact_sum) / exact_sum / error.random);
    of_signed = std::max(of_signed,
                         std::abs(products - exact) /
                             verdict::signed_sum_error(contract, keys, size, std::sqrt(squares)));
  }
  // Half of the units in the last place are smaller by up to a half, and their errors are uniform.
  BOOST_TEST(of_weights <= verdict::largest_deviation);
  BOOST_TEST(of_weights > 0.5);
  BOOST_TEST(of_signed <= 1.0);
  BOOST_TEST(of_signed > 0.01);
  // 2000 equal weights: all additions of a binade may round to the same side, and nothing is
  // random.
  const std::vector<double> equal(2000, 1.0 / 2000);
  BOOST_TEST(verdict::weight_sum_error(contract, equal, 0.0).random == 0);
  BOOST_TEST(verdict::weight_sum_error(contract, equal, 0.0).systematic ==
             verdict::gamma(2000, 0x1p-24));
  auto cut = contract;
  cut.unit_roundoff = 0x1p-23;
  BOOST_TEST(verdict::weight_sum_error(cut, equal, 1.0).random == 0);
}

BOOST_AUTO_TEST_CASE(sums_of_squares_stay_below_the_limit_of_chi_squared) {
  // All of a group alike, each of size 1: K times its size exactly, the limit a little more.
  BOOST_TEST(verdict::largest_sum_of_squares(1e6, 3) < 1.012 * 3e6);
  BOOST_TEST(verdict::largest_sum_of_squares(1e6, 3) > 3e6);
  // One number: P(z^2 > 76.3) for a normal z is 2.5e-18, below e^-32.
  BOOST_TEST(verdict::largest_sum_of_squares(1, 1) > 64.0);
  BOOST_TEST(verdict::largest_sum_of_squares(1, 1) < 77.0);
}

BOOST_AUTO_TEST_CASE(values_have_random_signs_only_where_they_are_drawn_apart_from_the_scores) {
  cases::Spec spec;
  BOOST_TEST(verdict::has_random_signs(spec));
  spec.value_dim = 32;
  BOOST_TEST(verdict::has_random_signs(spec));
  spec.values_in_keys = true;
  BOOST_TEST(!verdict::has_random_signs(spec));
}

BOOST_AUTO_TEST_SUITE_END()
