// SPDX-License-Identifier: Apache-2.0
#include "model/initial_values.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

namespace plumbline::gpu {

BOOST_AUTO_TEST_SUITE(initial_values_test)

namespace {

struct Model {
  ParameterLayout layout;
  std::vector<float> values;

  explicit Model(const ModelConfiguration& c, std::uint64_t seed = 1)
      : layout(c), values(layout.size(), -1.0f) {
    set_initial_values(layout, seed, values);
  }
  std::span<const float> operator[](const std::string& name) const {
    const Parameter& p = layout[name];
    return std::span(values).subspan(p.offset, p.size());
  }
};

/// Mean of x^power.
double moment(std::span<const float> x, int power) {
  double sum = 0;
  for (const float value : x) sum += std::pow(static_cast<double>(value), power);
  return sum / static_cast<double>(x.size());
}

/// N(0, s^2) by its first four moments: the mean of n numbers is off by 6 of its standard
/// deviations with a probability of 2e-9. Of the moments 1, 2 and 4 of a normal x these are s,
/// sqrt(2) s^2 and sqrt(96) s^4 over sqrt(n); the fourth of a sum of twelve uniforms is 2.9 s^4,
/// not 3 s^4.
void check_normal(std::span<const float> x, double s) {
  const double far = 6 / std::sqrt(static_cast<double>(x.size()));
  BOOST_TEST(std::fabs(moment(x, 1)) <= far * s);
  BOOST_TEST(std::fabs(moment(x, 2) - s * s) <= far * std::sqrt(2.0) * s * s);
  BOOST_TEST(std::fabs(moment(x, 4) - 2.9 * std::pow(s, 4)) <=
             far * std::sqrt(96.0) * std::pow(s, 4));
}

bool all(std::span<const float> x, float value) {
  return std::ranges::all_of(x, [&](float number) { return number == value; });
}

ModelConfiguration nano(const char* position) {
  ModelConfiguration c = preset("nano");
  c.position = position;
  return c;
}

}  // namespace

BOOST_AUTO_TEST_CASE(gpt2_begins_as_published) {
  const Model model(nano("learnable"));
  check_normal(model["transformer.wte.weight"], 0.02);
  check_normal(model["transformer.wpe.weight"], 0.02);
  check_normal(model["transformer.h.1.attn.c_attn.weight"], 0.02);
  check_normal(model["transformer.h.1.mlp.c_fc.weight"], 0.02);
  // 2 layers: 0.02 / sqrt(4)
  check_normal(model["transformer.h.0.attn.c_proj.weight"], 0.01);
  check_normal(model["transformer.h.1.mlp.c_proj.weight"], 0.01);
  BOOST_TEST(all(model["transformer.h.0.attn.c_attn.bias"], 0.0f));
  BOOST_TEST(all(model["transformer.h.0.ln_1.weight"], 1.0f));
  BOOST_TEST(all(model["transformer.ln_f.bias"], 0.0f));
}

BOOST_AUTO_TEST_CASE(the_same_weights_under_any_position_method) {
  const Model a(nano("learnable")), b(nano("cable")), c(nano("cable"), 2);
  for (const char* name : {"transformer.wte.weight", "transformer.h.1.mlp.c_proj.weight"}) {
    BOOST_TEST(std::ranges::equal(a[name], b[name]));
    BOOST_TEST(!std::ranges::equal(b[name], c[name]));
  }
  BOOST_TEST(!std::ranges::equal(a["transformer.h.0.mlp.c_fc.weight"],
                                 a["transformer.h.1.mlp.c_fc.weight"]));
}

BOOST_AUTO_TEST_CASE(padding_is_zero) {
  const Model model(nano("ggd"));
  std::vector<bool> named(model.values.size(), false);
  for (const Parameter& p : model.layout.all())
    for (std::size_t n = 0; n < p.size(); ++n) {
      BOOST_REQUIRE(!named[p.offset + n]);  // no two parameters share a place
      named[p.offset + n] = true;
    }
  for (std::size_t n = 0; n < named.size(); ++n)
    if (!named[n]) BOOST_TEST(model.values[n] == 0.0f);
}

BOOST_AUTO_TEST_CASE(bams_prior_begins_as_alibi_or_uniform) {
  ModelConfiguration c = preset("bam_120m");
  c.layers = 1;
  const std::string name = "model.layers.0.self_attn.position.theta_";
  const Model slope(c);
  // 16 heads: slopes 2^(-1/2), 2^-1, .. 2^-8
  for (int h = 0; h < 16; ++h) {
    const double expected = -0.5 * (h + 1) * std::log(2.0);
    BOOST_TEST(slope[name + "alpha"][h] == static_cast<float>(expected));
  }
  BOOST_TEST(all(slope[name + "beta"], 1.0f));
  BOOST_TEST(all(slope[name + "mu"], 0.0f));
  BOOST_TEST(!slope.layout[name + "mu"].trained);
  c.options.prior_start = PriorStart::uniform;
  const Model uniform(c);
  for (const char* theta : {"alpha", "beta", "mu"}) BOOST_TEST(all(uniform[name + theta], 0.0f));
}

BOOST_AUTO_TEST_CASE(other_methods_begin_as_published) {
  const std::string position = "transformer.h.0.attn.position.";
  const Model fire(nano("fire"));
  BOOST_TEST(fire[position + "c"][0] == 0.1f);
  BOOST_TEST(fire[position + "L"][0] == 1.0f);
  ModelConfiguration c = nano("kerple_power");
  c.ssmax = true;
  const Model kerple(c);
  for (int h = 0; h < 2; ++h) {
    BOOST_TEST((kerple[position + "p"][h] >= 0.01f && kerple[position + "p"][h] < 2.0f));
    BOOST_TEST((kerple[position + "a"][h] >= 0.01f && kerple[position + "a"][h] < 1.0f));
  }
  BOOST_TEST(kerple.layout[position + "p"].most == 2.0f);
  BOOST_TEST(all(kerple["transformer.h.1.attn.ssmax.scale"], 1.0f));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline::gpu
