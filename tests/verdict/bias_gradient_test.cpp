// SPDX-License-Identifier: Apache-2.0
// Biases of every method and their derivatives, in plain fp32, within their bounds and near them.
#include "verdict/bounds/bias_gradient.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>

#include "float_bias.hpp"
#include "verdict/cases/case_file.hpp"

BOOST_AUTO_TEST_SUITE(bias_gradient_test)

using namespace plumbline;
using reference::RunningError;

namespace {

/// The largest |computed - exact| / bound of each name; a difference where the bound is 0 counts as
/// infinite.
using Ratios = std::map<std::string, double>;

void compare(Ratios& worst, const std::string& name, float computed, const RunningError& exact,
             double bound) {
  const double off = std::abs(computed - exact.value());
  double& ratio = worst[name];
  if (off > 0) ratio = std::max(ratio, off / (bound + exact.error()));
}

cases::Case one_head(cases::Bias bias, std::uint64_t seed) {
  cases::Spec spec;
  spec.pass = cases::Pass::backward;
  spec.bias = bias;
  spec.queries = spec.keys = 150;
  spec.mask.causal = bias == PLUMBLINE_FOX;
  spec.head_dim = 32;
  spec.seed = seed;
  return cases::generate(spec);
}

void compare_row(Ratios& worst, const cases::Case& c, int i) {
  const auto contract = cases::undeclared_contract();
  const verdict::CaseReading<RunningError> reading(c);
  const verdict::BiasError bias_error(c, contract);
  const verdict::BiasGradient gradient(c, contract, reading, bias_error);
  const auto visible = reading.visible(0, 0, i);
  std::vector<RunningError> exact;
  std::vector<double> bias;
  reading.with_bias(0, 0, i, [&](const auto& b) {
    for (const int j : visible) exact.push_back(b(i, j));
  });
  for (const auto& b : exact) bias.push_back(b.value());
  const auto bound = bias_error.row(0, 0, i, visible, bias);
  const auto derivatives = gradient.row(0, 0, i, visible, bias);
  for (std::size_t n = 0; n < visible.size(); ++n) {
    const test::FloatBias computed(c, 0, 0, i, visible[n]);
    compare(worst, "bias", computed.value(), exact[n], bound[n]);
    std::map<std::pair<int, int>, float> by_parameter;
    computed.derivatives([&](plumbline_parameter p, std::size_t element, float derivative) {
      by_parameter[{p, static_cast<int>(element)}] += derivative;
    });
    for (const auto& theta : derivatives.parameters) {
      if (!theta.keys.empty()) continue;
      compare(worst, cases::info(theta.parameter).name,
              by_parameter[{theta.parameter, theta.element}], theta.value[n], theta.error[n]);
    }
    const auto& prefix = derivatives.prefix;
    if (!prefix.used) continue;
    const float toward_i = visible[n] < i ? 1.0f : -1.0f;
    compare(worst, "prefix sum", toward_i * computed.prefix_derivative(), prefix.value[n],
            prefix.rounding[n] + prefix.kink[n]);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(plain_fp32_is_within_the_bound_of_every_bias_and_derivative_and_near_it) {
  // The least that must be reached. Not listed: what is exact here (an integer, a product by a
  // power of two). Powers are allowed 8 ulp, and this C library's are within 1.
  std::map<std::string, double> least{
      {"bias", 0.1}, {"gain", 0.2}, {"theta_beta", 0.1},    {"theta_mu", 0.1},
      {"c", 0.1},    {"L", 0.05},   {"output_weight", 0.3}, {"hidden_weight", 0.1},
      {"p", 0.1},    {"a", 0.2},    {"theta_alpha", 0.05}};
  for (const auto method : cases::all_biases()) {
    if (cases::needs_scores(method)) continue;
    least["bias"] = method == PLUMBLINE_GGD ? 0.05 : 0.1;
    // Of later ones a hundredth: sums of many terms seldom come nearer.
    if (method.method > PLUMBLINE_COPE) least["bias"] = 0.01;
    if (method == PLUMBLINE_KERPLE_POWER) least["bias"] = least["p"] = least["a"] = 0.03;
    Ratios worst;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      const auto c = one_head(method, seed);
      for (int i = static_cast<int>(seed % 4); i < c.spec.keys; i += 11) compare_row(worst, c, i);
    }
    for (const auto& [name, ratio] : worst) {
      BOOST_TEST_CONTEXT(cases::name(method) << ", " << name) {
        BOOST_TEST(ratio <= 1.0);
        if (least.contains(name) && ratio > 0) BOOST_TEST(ratio > least.at(name));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_slope_off_by_a_millionth_is_outside_of_its_bound) {
  // 1e-6 is 17 units u: more than any of these biases may lose far from the diagonal.
  for (const auto method : {PLUMBLINE_KERPLE_LOG, PLUMBLINE_T5, PLUMBLINE_FOX}) {
    const auto c = one_head(method, 3);
    const verdict::CaseReading<RunningError> reading(c);
    const verdict::BiasError bias_error(c, cases::undeclared_contract());
    const auto visible = reading.visible(0, 0, 140);
    std::vector<double> bias;
    reading.with_bias(0, 0, 140, [&](const auto& b) {
      for (const int j : visible) bias.push_back(b(140, j).value());
    });
    const auto bound = bias_error.row(0, 0, 140, visible, bias);
    BOOST_TEST_CONTEXT(cases::name(method)) { BOOST_TEST(1e-6 * std::abs(bias[0]) > bound[0]); }
  }
}

BOOST_AUTO_TEST_SUITE_END()
