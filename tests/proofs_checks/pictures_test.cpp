// SPDX-License-Identifier: Apache-2.0
// The pictures: their numbers against <cmath>, and how they are drawn.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>

#include "proofs_checks/claim.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "support/pictures/svg.hpp"

BOOST_AUTO_TEST_SUITE(pictures_test)

using namespace plumbline::proofs_checks;

namespace {

/// The curve's value at x, which must be one of its samples.
double at(const Curve& curve, double x) {
  const auto found = std::find(curve.x.begin(), curve.x.end(), x);
  if (found == curve.x.end()) throw std::logic_error(curve.label + ": no such x");
  return curve.y[static_cast<std::size_t>(found - curve.x.begin())];
}

const Curve& curve(const Picture& picture, const std::string& label) {
  for (const Curve& one : picture.curves) {
    if (one.label == label) return one;
  }
  throw std::logic_error(picture.name + " has no curve " + label);
}

/// Equal up to a few roundings of sums over at most 2048 terms.
bool close(double a, double b) { return std::fabs(a - b) <= 1e-12 * std::fabs(b); }

}  // namespace

BOOST_AUTO_TEST_CASE(the_priors_are_those_of_64_keys) {
  const Picture picture = pictures::prior_curves();
  for (const Curve& prior : picture.curves) {
    BOOST_TEST(close(std::accumulate(prior.y.begin(), prior.y.end(), 0.0), 1.0), prior.label);
  }
  BOOST_TEST(close(at(picture.curves[0], 17), 1.0 / 64));
  const double q = std::exp(-0.125);
  BOOST_TEST(close(at(picture.curves[1], 60), std::pow(q, 4) * (1 - q) / (1 - std::pow(q, 64))));
  BOOST_TEST(close(at(picture.curves[2], 64) / at(picture.curves[2], 62), std::exp(1.0)));
  BOOST_TEST(at(picture.curves[3], 64) == 0.0);
  BOOST_TEST(close(at(picture.curves[3], 48) / at(picture.curves[3], 32), std::exp(-0.5)));
}

BOOST_AUTO_TEST_CASE(the_shapes_meet_at_alpha_and_the_laplace_sum_is_its_closed_form) {
  for (const Curve& shape : pictures::ggd_shapes().curves) {
    BOOST_TEST(close(at(shape, 1), std::exp(-1.0)), shape.label);
    BOOST_TEST(at(shape, 0) == 1.0);
  }
  BOOST_TEST(close(at(curve(pictures::ggd_shapes(), "β = 2"), 3), std::exp(-9.0)));
  BOOST_TEST(close(at(pictures::laplace_sum().curves[0], 4), 2 / std::tanh(2.0)));
}

BOOST_AUTO_TEST_CASE(the_drawn_and_the_defined_bias_of_figure_5) {
  const Picture picture = pictures::figure_5_bias();
  BOOST_TEST(close(at(picture.curves[0], -16), 2.0 + 2.0));
  BOOST_TEST(at(picture.curves[1], -2) == 0.0);
  BOOST_TEST(close(at(picture.curves[1], -18), -2.0));
}

BOOST_AUTO_TEST_CASE(epsilon_keeps_the_own_key) {
  const Curve own = pictures::own_key_weight().curves[0];
  BOOST_TEST(close(own.y.back(), 1.0));  // theta_beta = 0
  BOOST_TEST(close(own.y.front(), std::exp(std::pow(1 + 1e-5, -0.4) - std::pow(1e-5, -0.4))));
}

BOOST_AUTO_TEST_CASE(the_ratio_of_theorem_2_is_a_power_of_the_distance) {
  const Picture picture = pictures::theorem_2_ratio();
  BOOST_TEST(close(at(curve(picture, "β = 0.5"), 4), 0.5));
  BOOST_TEST(close(at(curve(picture, "β = 0.25"), 16), 0.125));
  BOOST_TEST(at(curve(picture, "β = 1"), 1024) == 1.0);
  BOOST_TEST(close(at(curve(picture, "β = 0: 1/(m d)"), 1), 4.0));
}

BOOST_AUTO_TEST_CASE(a_smaller_bias_gets_less_weight_up_to_distance_8_and_more_mass_beyond) {
  const Picture weights = pictures::theorem_2_weights();
  for (int d = 0; d < 64; ++d) {
    BOOST_TEST((at(weights.curves[1], d) < at(weights.curves[0], d)) == (d <= 8));
  }
  const double q = std::exp(-0.25);
  BOOST_TEST(close(at(weights.curves[0], 3), std::pow(q, 3) * (1 - q) / (1 - std::pow(q, 64))));
  const Picture mass = pictures::theorem_2_mass();
  for (int w = 1; w < 256; ++w) BOOST_TEST(at(mass.curves[1], w) >= at(mass.curves[0], w));
  BOOST_TEST(
      close(at(mass.curves[0], 8), (std::pow(q, 8) - std::pow(q, 256)) / (1 - std::pow(q, 256))));
}

BOOST_AUTO_TEST_CASE(the_weights_of_lemmas_3_and_4_and_of_theorem_4) {
  const Picture alibi = pictures::alibi_decay();
  BOOST_TEST(close(at(alibi.curves[0], 1), 1 / (1 + std::exp(0.0625))));
  BOOST_TEST(close(at(alibi.curves[1], 1), 1 / (1 + std::exp(0.0625 - 4))));
  BOOST_TEST(at(alibi.curves[3], 1024) > 0.05);
  for (double d : {1.0, 16.0, 256.0}) BOOST_TEST(at(alibi.curves[1], d) < at(alibi.curves[2], d));
  const Picture ggd = pictures::ggd_decay();
  BOOST_TEST(
      close(at(curve(ggd, "β = 1"), 2), std::exp(-2.0) / (1 + std::exp(-1.0) + std::exp(-2.0))));
  const Picture negative = pictures::negative_beta_decay();
  BOOST_TEST(at(negative.curves[0], 1) == 1.0);
  BOOST_TEST(close(at(negative.curves[0], 2), 1 / (1 + std::exp(-0.5))));
  BOOST_TEST(at(negative.curves[0], 1024) < 0.002);
}

BOOST_AUTO_TEST_CASE(scalable_softmax_keeps_one_half_where_scale_times_margin_is_1) {
  const Picture picture = pictures::fading();
  const double n = 65536;
  BOOST_TEST(close(at(picture.curves[0], n), 1 / (1 + (n - 1) * std::exp(-2.0))));
  BOOST_TEST(close(at(picture.curves[2], n), 1 / (1 + (n - 1) / n)));
  BOOST_TEST(at(picture.curves[1], n) > 0.99);
  BOOST_TEST(at(picture.curves[3], n) < 0.01);
}

BOOST_AUTO_TEST_CASE(the_two_expressions_of_z_are_reciprocals_at_every_point) {
  const Curve pairs = pictures::z_random_pairs().curves[0];
  BOOST_TEST(pairs.x.size() >= 60u);
  for (std::size_t k = 0; k < pairs.x.size(); ++k) BOOST_TEST(close(pairs.x[k] * pairs.y[k], 1.0));
  BOOST_TEST(pairs.x[0] == 0.5);  // two keys, all scores 0
  BOOST_TEST(close(pairs.x[2], 2 * M_E / std::pow(1 + M_E, 2)));
  const Picture overlap = pictures::overlap_of_mixtures();
  BOOST_TEST(close(overlap.curves[2].y[0], (M_E * M_E + 1) / std::pow(M_E + 1, 2)));
  BOOST_TEST(close(at(overlap.curves[1], 1), 1.0));
  BOOST_TEST(at(overlap.curves[0], 6) > overlap.curves[2].y[0] + 0.1);
}

BOOST_AUTO_TEST_CASE(twelve_heads_have_the_official_slopes_and_two_formulas) {
  const Picture picture = pictures::slopes_of_12_heads();
  BOOST_TEST(at(picture.curves[0], 8) == 0.00390625);
  BOOST_TEST(close(at(picture.curves[0], 9), std::sqrt(0.5)));
  BOOST_TEST(close(at(picture.curves[1], 6), 0.0625));
  BOOST_TEST(at(picture.curves[2], 12) == 1.0 / 4096);
}

BOOST_AUTO_TEST_CASE(a_gentle_head_needs_1171_keys_for_99_percent) {
  const Picture picture = pictures::steep_and_gentle();
  BOOST_TEST(at(picture.curves[2], 1170) < 0.99);
  BOOST_TEST(at(picture.curves[2], 1171) >= 0.99);
  BOOST_TEST(at(picture.curves[0], 10) > 0.99);
  const Picture weights = pictures::exponential_weights();
  BOOST_TEST(at(weights.curves[0], 32) == -4.0);
  BOOST_TEST(close(at(weights.curves[1], 8), std::exp(-1.0)));
}

BOOST_AUTO_TEST_CASE(the_maps_hold_the_biases) {
  const Picture picture = pictures::bias_maps();
  BOOST_TEST(picture.maps[0].rows[2] == (std::vector<double>{-0.5, -0.25, 0}),
             boost::test_tools::per_element());
  // Tokens 1..5 have 0 + 0.5 + 0.25 + 0 + 2, the query 5 has the weight 0.75.
  BOOST_TEST(picture.maps[1].rows[5][0] == -2.0625);
  BOOST_TEST(picture.maps[2].rows[5][0] == 2.0625);
  BOOST_TEST(close(picture.maps[3].rows[9][5], -std::sqrt(4 + 1e-5)));
  const Picture both = pictures::bidirectional_maps();
  BOOST_TEST(both.maps[0].rows[0][5] == 2.0625);
  BOOST_TEST(both.maps[1].rows[0][5] == -2.0625);
}

BOOST_AUTO_TEST_CASE(k_cable_penalises_less_and_reaches_farther) {
  const Picture kernel = pictures::k_cable_kernel();
  BOOST_TEST(close(at(kernel.curves[1], 10), std::log(101.0)));
  BOOST_TEST(at(kernel.curves[0], 10) == 10.0);
  const Picture window = pictures::k_cable_window();
  const double q = std::exp(-0.25);
  BOOST_TEST(
      close(at(window.curves[0], 4), (std::pow(q, 4) - std::pow(q, 256)) / (1 - std::pow(q, 256))));
  for (int w = 1; w < 256; ++w) BOOST_TEST(at(window.curves[1], w) >= at(window.curves[0], w));
}

BOOST_AUTO_TEST_CASE(rope_turns_by_one_radian_a_step) {
  const Curve rope = pictures::rope_mixed_difference().curves[0];
  double largest = 0;
  for (const double d : rope.x) {
    const double expected = (std::cos(d) - std::sin(d)) - (std::cos(d + 1) - std::sin(d + 1));
    BOOST_TEST(std::fabs(at(rope, d) - expected) <= 1e-12);
    largest = std::max(largest, std::fabs(expected));
  }
  BOOST_TEST(largest > 1.3);
}

BOOST_AUTO_TEST_CASE(every_claims_picture_can_be_drawn_twice_alike) {
  std::set<std::string> names;
  for (const Claim& claim : all_claims()) {
    for (const auto draw : claim.pictures) {
      const Picture picture = draw();
      names.insert(picture.name);
      BOOST_TEST(svg(picture) == svg(draw()), claim.id);
      BOOST_TEST(svg(picture).find("nan") == std::string::npos, picture.name);
      BOOST_TEST(picture.curves.size() <= 5u);  // the page has five colours
    }
  }
  BOOST_TEST(names.size() == 22u);
}

BOOST_AUTO_TEST_SUITE_END()
