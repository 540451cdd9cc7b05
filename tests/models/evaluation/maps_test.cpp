// SPDX-License-Identifier: Apache-2.0
// Attention and bias maps against ALiBi's slopes, GGD's exponents, and what inference costs.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "inference/device_memory.hpp"
#include "model/initial_values.hpp"
#include "model/parameters.hpp"
#include "models/evaluation/cost.hpp"
#include "models/evaluation/maps.hpp"
#include "support/error.hpp"
#include "support/pictures/svg.hpp"

BOOST_AUTO_TEST_SUITE(maps_test)

using namespace plumbline::evaluation;
using plumbline::BadInput;
namespace gpu = plumbline::gpu;

namespace {

std::vector<float> values_of(const gpu::ModelConfiguration& model) {
  const gpu::ParameterLayout layout(model);
  std::vector<float> values(layout.size());
  gpu::set_initial_values(layout, 1, values);
  return values;
}

/// Two layers of four heads of 32, each pair of which shares its keys: more keys than a head has
/// numbers.
gpu::ModelConfiguration grouped(const std::string& position) {
  gpu::ModelConfiguration model = gpu::preset("nano");
  model.architecture = gpu::Architecture::llama_style;
  model.heads = 4;
  model.kv_heads = 2;
  model.width = 128;
  model.position = position;
  return model;
}

std::vector<plumbline::text::Token> tokens(int count) {
  std::vector<plumbline::text::Token> all;
  for (int n = 0; n < count; ++n) all.push_back(static_cast<plumbline::text::Token>(37 * n % 256));
  return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(alibis_bias_is_its_slope_times_the_distance_and_rows_sum_to_1) {
  const gpu::ModelConfiguration model = grouped("alibi");
  std::vector<float> values = values_of(model);
  for (float& value : values) value *= 2;  // content that is not near 0
  const auto maps = head_maps(model, values, tokens(40));
  BOOST_REQUIRE(maps.size() == 8u);
  // With |q k| / sqrt(32) summed over absolute values at most 16 and |b| at most 10: the score has
  // 35 roundings, p's exponential and quotient 12 and that of its argument, lse 40 + 8.
  const double bound = 0x1p-24 * (35 * 16 + 12 + 26 + 48 + 26);
  double content = 0.0;
  for (const HeadMaps& head : maps) {
    const double slope = std::exp2(-2.0 * (head.head + 1));  // official, 4 heads
    BOOST_REQUIRE(head.bias.size() == 40u);
    for (std::size_t i = 0; i < 40; ++i) {
      BOOST_REQUIRE(head.attention[i].size() == i + 1);
      double sum = 0.0;
      for (std::size_t j = 0; j <= i; ++j) {
        const double expected = -slope * static_cast<double>(i - j);
        BOOST_TEST(std::fabs(head.bias[i][j] - expected) <= bound,
                   head.layer << " " << head.head << " " << i << " " << j << ": " << head.bias[i][j]
                              << " " << expected);
        sum += head.attention[i][j];
        content = std::fmax(
            content, std::fabs(std::log(head.attention[i][j] / head.attention[i][i]) - expected));
      }
      BOOST_TEST(std::fabs(sum - 1) <= 0x1p-24 * 64);
    }
  }
  BOOST_TEST(content > 0.1);  // the wrong head's keys would be seen
  BOOST_TEST(content < 16);
}

BOOST_AUTO_TEST_CASE(berts_maps_are_square_and_scalable_softmax_has_no_bias_map) {
  gpu::ModelConfiguration model = gpu::preset("nano");
  model.architecture = gpu::Architecture::bert;
  model.position = "alibi";
  model.ssmax = true;
  const auto maps = head_maps(model, values_of(model), tokens(5));
  BOOST_TEST(maps[0].attention[0].size() == 5u);
  BOOST_TEST(maps[0].bias.empty());
}

BOOST_AUTO_TEST_CASE(a_key_without_weight_has_the_lowest_shade) {
  const std::vector<HeadMaps> one{{0, 0, {{1}, {0, 1}}, {{0}, {-INFINITY, -2}}}};
  const auto drawn = picture_of(one, 0, MapKind::bias);
  BOOST_REQUIRE(drawn.maps.size() == 1u);
  BOOST_TEST(drawn.maps[0].rows[1][0] == -2.0);
  BOOST_TEST(to_json(one, {})["heads"][0]["bias"].dump() == "[[0.0],[null,-2.0]]");
}

BOOST_AUTO_TEST_CASE(priors_begin_with_the_logarithm_of_the_slopes) {
  gpu::ModelConfiguration model = gpu::preset("nano");
  model.position = "ggd";
  const auto priors = prior_exponents(model, values_of(model));
  BOOST_REQUIRE(priors.size() == 2u);
  BOOST_REQUIRE(priors[1].theta_alpha.size() == 2u);
  // 2 heads: slopes 2^-4 and 2^-8, rounded to float once.
  for (int head = 0; head < 2; ++head) {
    const double expected = -4.0 * (head + 1) * std::log(2.0);
    BOOST_TEST(std::fabs(priors[1].theta_alpha[head] - expected) <= 0x1p-24 * -expected);
    BOOST_TEST(priors[1].theta_beta[head] == 1.0);
  }
  BOOST_TEST(picture_of(priors).curves[0].x.size() == 2u);
  model.position = "alibi";
  BOOST_TEST(prior_exponents(model, values_of(model)).empty());
}

BOOST_AUTO_TEST_CASE(maps_of_nothing_are_refused) {
  const gpu::ModelConfiguration model = gpu::preset("nano");
  BOOST_CHECK_THROW(head_maps(model, values_of(model), {}), BadInput);
  BOOST_CHECK_THROW(head_maps(model, values_of(model), {60000}), BadInput);
}

BOOST_AUTO_TEST_CASE(maps_that_memory_does_not_hold_are_refused) {
  gpu::ModelConfiguration model = gpu::preset("gpt2_medium");
  model.position = "nope";
  // 24 layers of 16 heads: 384 x 295^2 = 33,417,600 <= 2^25 < 384 x 296^2.
  BOOST_CHECK_NO_THROW(validate(model, tokens(295)));
  BOOST_CHECK_EXCEPTION(validate(model, tokens(296)), BadInput, [](const BadInput& error) {
    return std::string(error.what()).starts_with("length is 296; expected at most 295 tokens");
  });
  model.position = "learnable";
  model.context = 8;
  BOOST_CHECK_THROW(validate(model, tokens(9)), BadInput);
}

BOOST_AUTO_TEST_CASE(cost_is_measured_and_compared_with_the_first_method) {
  gpu::ModelConfiguration model = gpu::preset("nano");
  model.layers = 1;
  model.context = 8;
  // A turn begins with no other method's decoder in memory.
  const auto nothing_held = [before = gpu::device_memory_used()](const std::string& turn) {
    BOOST_TEST(gpu::device_memory_used() == before, turn);
  };
  const auto all =
      measure_cost(model, {{"nope", "cable", "learnable"}, {8, 16}, 2, 2}, nothing_held);
  BOOST_REQUIRE(all.size() == 3u);
  for (const CostPoint& point : all[1].points) {
    BOOST_TEST(point.prompt_seconds > 0);
    BOOST_TEST(point.token_seconds > 0);
  }
  // 8 more places of the cache: keys and values of 64 numbers and two heads' prefix sums, at least.
  BOOST_TEST(all[1].points[1].bytes >= all[1].points[0].bytes + 8 * (2 * 64 + 2) * 4);
  BOOST_TEST(all[2].points[0].refused == "");
  BOOST_TEST(all[2].points[1].refused == "its table of positions has 8 rows");
}

BOOST_AUTO_TEST_CASE(cost_is_told_as_ratios) {
  const std::vector<MethodCost> all{{"nope", {{8, 0.5, 0.25, 1 << 20, ""}}},
                                    {"cable", {{8, 1.0, 0.5, 2 << 20, ""}}},
                                    {"learnable", {{8, 0, 0, 0, "no rows"}}}};
  const auto json = to_json(all);
  BOOST_TEST(json["methods"][1]["points"][0]["prompt_ratio"].get<double>() == 2.0);
  BOOST_TEST(json["methods"][1]["points"][0]["token_ratio"].get<double>() == 2.0);
  BOOST_TEST(json["methods"][2]["points"][0]["refused"] == "no rows");
  BOOST_TEST(table(all).find("not measured: no rows") != std::string::npos);
  const auto drawn = picture_of(all, CostKind::memory, "here");
  BOOST_REQUIRE(drawn.curves.size() == 2u);
  BOOST_TEST(drawn.curves[1].y[0] == 2.0);

  // Without the first method's numbers there is nothing to compare with, or to draw.
  const std::vector<MethodCost> alone{all[2], all[1]};
  BOOST_TEST(!to_json(alone)["methods"][1]["points"][0].contains("prompt_ratio"));
  BOOST_TEST(to_json(alone)["methods"][1]["points"][0]["prompt_seconds"].get<double>() == 1.0);
  BOOST_TEST(plumbline::pictures::svg_file(picture_of({all[2]}, CostKind::token, "here"))
                 .find("no values") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(costs_that_cannot_be_measured_are_refused) {
  const gpu::ModelConfiguration model = gpu::preset("nano");
  const auto refused = [&](const CostSettings& settings) {
    BOOST_CHECK_THROW(measure_cost(model, settings, [](const std::string&) {}), BadInput);
  };
  refused({{}, {16}, 2, 1});
  refused({{"nope"}, {}, 2, 1});
  refused({{"nope"}, {2}, 2, 1});
  refused({{"nope"}, {16}, 0, 1});
  refused({{"nope"}, {16}, 2, 0});
  refused({{"no such method"}, {16}, 2, 1});
}

BOOST_AUTO_TEST_SUITE_END()
