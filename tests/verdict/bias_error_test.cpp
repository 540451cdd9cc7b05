// SPDX-License-Identifier: Apache-2.0
// fp32 biases computed in several ways, against long double, within their bound and near it.
#include "verdict/bounds/bias_error.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <numeric>

#include "verdict/cases/case_file.hpp"

BOOST_AUTO_TEST_SUITE(bias_error_test)

using namespace plumbline;

namespace {

constexpr float log2e = 1.44269504f;

cases::Case one_head(cases::Bias bias, std::uint64_t seed) {
  cases::Spec spec;
  spec.bias = bias;
  spec.queries = spec.keys = 300;
  spec.head_dim = 32;
  spec.seed = seed;
  return cases::generate(spec);
}

/// fp32 and long double biases of query i, key j.
struct Ways {
  std::function<float(const cases::Case&, int, int)> computed;
  std::function<long double(const cases::Case&, int, int)> exact;
};

/// Largest |computed - exact| / bound over all pairs of some cases; every pair must be at most 1.
double worst_ratio(cases::Bias bias, const verdict::Contract& contract, const Ways& ways) {
  double worst = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const auto c = one_head(bias, seed);
    const verdict::BiasError error(c, contract);
    std::vector<int> visible(c.spec.keys);
    std::iota(visible.begin(), visible.end(), 0);
    for (int i = 0; i < c.spec.keys; i += 7) {
      std::vector<double> exact;
      for (int j : visible) exact.push_back(static_cast<double>(ways.exact(c, i, j)));
      const auto bound = error.row(0, 0, i, visible, exact);
      for (int j : visible) {
        const double off =
            static_cast<double>(std::abs(ways.computed(c, i, j) - ways.exact(c, i, j)));
        if (off > 0) worst = std::max(worst, off / bound[j]);
      }
    }
  }
  return worst;
}

long double prefix(const cases::Case& c, int i) {
  return std::accumulate(c[PLUMBLINE_INCREMENTS].begin(), c[PLUMBLINE_INCREMENTS].begin() + i + 1,
                         0.0L);
}

/// log2(x), x >= 1, as far off as `log_error` allows: up for odd keys j, down for even ones.
float approximate_log2(double x, double log_error, int j) {
  const double exact = std::log2(x);
  const double off = log_error * std::max(1.0, exact) * (1 - 0x1p-10);
  return static_cast<float>(exact + (j % 2 ? off : -off));
}

/// `ways` uses approximate_log2: too far off where the contract is silent, and within the bound, by
/// more than `near` of it, where the contract gives `log_error`.
void check_approximate_logarithm(cases::Bias bias, double log_error, double near,
                                 const Ways& ways) {
  auto contract = cases::undeclared_contract();
  BOOST_TEST(worst_ratio(bias, contract, ways) > 1.0);
  contract.log_error = log_error;
  const double worst = worst_ratio(bias, contract, ways);
  BOOST_TEST(worst <= 1.0);
  BOOST_TEST(worst > near);
}

}  // namespace

BOOST_AUTO_TEST_CASE(alibi_with_log2_e_folded_into_the_slope) {
  // In the exponent of base 2: the constant, the folded slope and the product are each rounded.
  const double worst =
      worst_ratio(PLUMBLINE_ALIBI, cases::undeclared_contract(),
                  {[](const auto& c, int i, int j) {
                     return -(c[PLUMBLINE_SLOPES][0] * log2e) * static_cast<float>(std::abs(i - j));
                   },
                   [](const auto& c, int i, int j) {
                     return -c[PLUMBLINE_SLOPES][0] * std::abs(i - j) / std::log(2.0L);
                   }});
  BOOST_TEST(worst <= 1.0);
  BOOST_TEST(worst > 0.1);
}

BOOST_AUTO_TEST_CASE(cable_differenced_in_double) {
  const double worst = worst_ratio(
      PLUMBLINE_CABLE, cases::undeclared_contract(),
      {[](const auto& c, int i, int j) {
         return -c[PLUMBLINE_GAIN][i] *
                static_cast<float>(std::abs(static_cast<double>(prefix(c, i) - prefix(c, j))));
       },
       [](const auto& c, int i, int j) {
         return -c[PLUMBLINE_GAIN][i] * std::abs(prefix(c, i) - prefix(c, j));
       }});
  BOOST_TEST(worst <= 1.0);
  BOOST_TEST(worst > 0.2);
}

BOOST_AUTO_TEST_CASE(cable_recentred_per_tile) {
  auto contract = cases::undeclared_contract();
  contract.prefix_tile = 64;
  const double worst = worst_ratio(
      PLUMBLINE_CABLE_NW, contract,
      {[](const auto& c, int i, int j) {
         const long double base = prefix(c, j / 64 * 64);
         const float query = static_cast<float>(prefix(c, i) - base);
         const float key = static_cast<float>(prefix(c, j) - base);
         return -std::abs(query - key);
       },
       [](const auto& c, int i, int j) { return -std::abs(prefix(c, i) - prefix(c, j)); }});
  BOOST_TEST(worst <= 1.0);
  BOOST_TEST(worst > 0.1);
}

BOOST_AUTO_TEST_CASE(cable_with_float_prefix_sums_needs_the_contract_to_say_so) {
  const Ways in_float{
      [](const auto& c, int i, int j) {
        const auto sum = [&](int n) {
          float total = 0;
          for (int t = 0; t <= n; ++t) total += c[PLUMBLINE_INCREMENTS][t];
          return total;
        };
        return -std::abs(sum(i) - sum(j));
      },
      [](const auto& c, int i, int j) { return -std::abs(prefix(c, i) - prefix(c, j)); }};
  auto contract = cases::undeclared_contract();
  BOOST_TEST(worst_ratio(PLUMBLINE_CABLE_NW, contract, in_float) > 1.0);
  contract.prefix_sum = PLUMBLINE_PREFIX_SUM_FP32;
  BOOST_TEST(worst_ratio(PLUMBLINE_CABLE_NW, contract, in_float) <= 1.0);
}

BOOST_AUTO_TEST_CASE(k_cable_with_one_plus_the_square_rounded) {
  const double worst = worst_ratio(PLUMBLINE_K_CABLE, cases::undeclared_contract(),
                                   {[](const auto& c, int i, int j) {
                                      const float d =
                                          static_cast<float>(prefix(c, i) - prefix(c, j));
                                      return -c[PLUMBLINE_GAIN][i] * std::log(1.0f + d * d);
                                    },
                                    [](const auto& c, int i, int j) {
                                      const long double d = prefix(c, i) - prefix(c, j);
                                      return -c[PLUMBLINE_GAIN][i] * std::log1p(d * d);
                                    }});
  BOOST_TEST(worst <= 1.0);
  BOOST_TEST(worst > 0.2);
}

BOOST_AUTO_TEST_CASE(ggd_through_base_two_exponentials_and_logarithms) {
  const double worst = worst_ratio(
      PLUMBLINE_GGD, cases::undeclared_contract(),
      {[](const auto& c, int i, int j) {
         const float mu = std::exp(c[PLUMBLINE_THETA_MU][0]) - std::exp(-c[PLUMBLINE_THETA_MU][0]);
         const float base = std::abs(static_cast<float>(j - i) - mu) +
                            static_cast<float>(c.options[PLUMBLINE_EPSILON]);
         const float amplitude = std::exp2(c[PLUMBLINE_THETA_ALPHA][0] * log2e);
         return -amplitude * std::exp2(c[PLUMBLINE_THETA_BETA][0] * std::log2(base));
       },
       [](const auto& c, int i, int j) {
         const long double theta_mu = c[PLUMBLINE_THETA_MU][0];
         const long double mu = std::exp(theta_mu) - std::exp(-theta_mu);
         const long double base =
             std::abs(j - i - mu) + static_cast<long double>(c.options[PLUMBLINE_EPSILON]);
         return -std::exp(static_cast<long double>(c[PLUMBLINE_THETA_ALPHA][0])) *
                std::pow(base, static_cast<long double>(c[PLUMBLINE_THETA_BETA][0]));
       }});
  BOOST_TEST(worst <= 1.0);
  BOOST_TEST(worst > 0.1);
}

BOOST_AUTO_TEST_CASE(large_sums_of_which_small_differences_are_left) {
  // S is near 10^9 and S_i - S_j near 10^-3: the double sums' own rounding is what counts.
  auto c = one_head(PLUMBLINE_CABLE, 1);
  c[PLUMBLINE_INCREMENTS][0] = 1e9f;
  for (std::size_t t = 1; t < c[PLUMBLINE_INCREMENTS].size(); ++t)
    c[PLUMBLINE_INCREMENTS][t] = 1e-3f * (1 + t % 7) / 7;
  std::fill(c[PLUMBLINE_GAIN].begin(), c[PLUMBLINE_GAIN].end(), 1000.0f);
  const verdict::BiasError error(c, cases::undeclared_contract());
  std::vector<double> sum(c[PLUMBLINE_INCREMENTS].size());
  double total = 0;
  for (std::size_t t = 0; t < sum.size(); ++t) sum[t] = total += c[PLUMBLINE_INCREMENTS][t];
  double worst = 0;
  for (int i = 1; i < c.spec.keys; ++i) {
    std::vector<int> visible(i + 1);
    std::iota(visible.begin(), visible.end(), 0);
    std::vector<double> exact;
    for (int j : visible)
      exact.push_back(-1000.0 * static_cast<double>(prefix(c, i) - prefix(c, j)));
    const auto bound = error.row(0, 0, i, visible, exact);
    for (int j : visible) {
      const float computed = -c[PLUMBLINE_GAIN][i] * static_cast<float>(sum[i] - sum[j]);
      if (i != j) worst = std::max(worst, std::abs(computed - exact[j]) / bound[j]);
    }
  }
  BOOST_TEST(worst <= 1.0);
}

// lg2.approx may be off by 2^-22 where 1 + d^2 is below 2, and by 2^-22 of itself beyond.
BOOST_AUTO_TEST_CASE(k_cable_with_an_approximate_logarithm_needs_the_contract_to_say_so) {
  check_approximate_logarithm(PLUMBLINE_K_CABLE, 0x1p-22, 0.5,
                              {[](const auto& c, int i, int j) {
                                 if (i == j) return 0.0f;  // ln 1
                                 const auto d = static_cast<float>(prefix(c, i) - prefix(c, j));
                                 const float factor = c[PLUMBLINE_GAIN][i] * 0.693147181f;
                                 return -factor * approximate_log2(1.0 + static_cast<double>(d) * d,
                                                                   0x1p-22, j);
                               },
                               [](const auto& c, int i, int j) {
                                 const long double d = prefix(c, i) - prefix(c, j);
                                 return -c[PLUMBLINE_GAIN][i] * std::log1p(d * d);
                               }});
}

BOOST_AUTO_TEST_CASE(k_cable_as_printed_with_an_approximate_logarithm) {
  check_approximate_logarithm(
      PLUMBLINE_K_CABLE_PAPER, 0x1p-22, 0.4,
      {[](const auto& c, int i, int j) {
         if (i == j) return 0.0f;  // ln 1
         const auto d = static_cast<float>(prefix(c, i) - prefix(c, j));
         const float t = c[PLUMBLINE_GAIN][i] * d;
         return -0.693147181f * approximate_log2(1.0 + static_cast<double>(t) * t, 0x1p-22, j);
       },
       [](const auto& c, int i, int j) {
         const long double t = c[PLUMBLINE_GAIN][i] * (prefix(c, i) - prefix(c, j));
         return -std::log1p(t * t);
       }});
}

BOOST_AUTO_TEST_CASE(kerple_with_an_approximate_logarithm_needs_the_contract_to_say_so) {
  check_approximate_logarithm(
      PLUMBLINE_KERPLE_LOG, 0x1p-18, 0.4,
      {[](const auto& c, int i, int j) {
         if (i == j) return 0.0f;  // ln 1
         const double x = 1.0 + double{c[PLUMBLINE_A][0]} * std::abs(i - j);
         return -c[PLUMBLINE_P][0] * 0.693147181f * approximate_log2(x, 0x1p-18, j);
       },
       [](const auto& c, int i, int j) {
         return -c[PLUMBLINE_P][0] *
                std::log1p(static_cast<long double>(c[PLUMBLINE_A][0]) * std::abs(i - j));
       }});
}

namespace {

/// FIRE's y, by the reciprocal of M.
template <class Real>
Real fire_y(const cases::Case& c, int i, int j) {
  const Real rate = std::abs(c[PLUMBLINE_C][0]), L0 = c.options[PLUMBLINE_L0];
  const Real m = std::max<Real>(i, std::abs(c[PLUMBLINE_L][0] * L0));
  const auto M = static_cast<long double>(std::log1p(rate * m)) + c.options[PLUMBLINE_EPSILON];
  return std::log1p(rate * static_cast<Real>(std::abs(i - j))) * static_cast<Real>(1 / M);
}

long double fire(const cases::Case& c, int i, int j) {
  const auto y = fire_y<long double>(c, i, j);
  long double sum = c[PLUMBLINE_OUTPUT_BIAS][0];
  for (std::size_t w = 0; w < c[PLUMBLINE_HIDDEN_WEIGHT].size(); ++w)
    sum += c[PLUMBLINE_OUTPUT_WEIGHT][w] *
           std::max(0.0L, c[PLUMBLINE_HIDDEN_WEIGHT][w] * y + c[PLUMBLINE_HIDDEN_BIAS][w]);
  return sum;
}

/// The units with a kink within `reach` of y one by one, all others as one line, whose two numbers
/// are sums in double.
float fire_by_lines(const cases::Case& c, int i, int j, float reach) {
  const auto y = fire_y<float>(c, i, j);
  double slope = 0, intercept = c[PLUMBLINE_OUTPUT_BIAS][0];
  std::vector<std::size_t> kinked;
  for (std::size_t w = 0; w < c[PLUMBLINE_HIDDEN_WEIGHT].size(); ++w) {
    const double weight = c[PLUMBLINE_HIDDEN_WEIGHT][w], bias = c[PLUMBLINE_HIDDEN_BIAS][w];
    if (std::abs(weight * y + bias) <= std::abs(weight) * reach) {
      kinked.push_back(w);
    } else if (weight * y + bias > 0) {
      slope += c[PLUMBLINE_OUTPUT_WEIGHT][w] * weight;
      intercept += c[PLUMBLINE_OUTPUT_WEIGHT][w] * bias;
    }
  }
  float sum = std::fma(static_cast<float>(slope), y, static_cast<float>(intercept));
  for (const std::size_t w : kinked)
    sum += c[PLUMBLINE_OUTPUT_WEIGHT][w] *
           std::max(0.0f, c[PLUMBLINE_HIDDEN_WEIGHT][w] * y + c[PLUMBLINE_HIDDEN_BIAS][w]);
  return sum;
}

}  // namespace

BOOST_AUTO_TEST_CASE(fire_by_a_line_and_the_units_with_a_kink_near_by) {
  for (const float reach : {0.0f, 0.01f, 0.3f}) {
    const double worst = worst_ratio(
        PLUMBLINE_FIRE, cases::undeclared_contract(),
        {[&](const auto& c, int i, int j) { return fire_by_lines(c, i, j, reach); }, fire});
    BOOST_TEST(worst <= 1.0);
    BOOST_TEST(worst > 0.1);
  }
}

BOOST_AUTO_TEST_CASE(a_tile_of_any_declared_size_stays_within_the_keys) {
  auto contract = cases::undeclared_contract();
  contract.prefix_tile = std::numeric_limits<std::int32_t>::max();
  const auto c = one_head(PLUMBLINE_CABLE_NW, 1);
  const verdict::BiasError error(c, contract);
  const std::vector<int> visible{0, 150, 299};
  const std::vector<double> bias{-1, -1, -1};
  for (const double bound : error.row(0, 0, 150, visible, bias)) BOOST_TEST(std::isfinite(bound));
  BOOST_TEST(error.row(0, 0, 150, visible, bias)[1] <= 0x1p-22);  // the query's own key
}

BOOST_AUTO_TEST_SUITE_END()
