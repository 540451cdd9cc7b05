// SPDX-License-Identifier: Apache-2.0
#include "verdict/bounds/random_rounding.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "verdict/bounds/roundoff.hpp"

namespace plumbline::verdict {
namespace {

/// Of docs/bounds.md: P(sum of errors > 40 u sqrt(n sum x^2)) and P(sum of |partial sums|^2 > 88 n
/// sum x^2) are below 4e-15 where the terms' signs are random.
constexpr double of_roundings = 40, of_partial_sums = 88;

}  // namespace

bool has_random_signs(const cases::Spec& spec) {
  return spec.softcap == 0 && !spec.sinks && spec.dropout == 0 && !spec.values_in_keys &&
         (spec.family == cases::Family::generic || spec.family == cases::Family::diffuse);
}

bool sums_to_nearest(const Contract& contract) { return contract.unit_roundoff <= u; }

double signed_sum_error(const Contract& contract, double additions, double magnitude,
                        double root_sum_square) {
  const double worst = gamma(additions, contract.unit_roundoff), u = contract.unit_roundoff;
  if (!(worst < 0x1p-6)) return worst * magnitude;
  // The computed partial sums are off by gamma_n of their terms.
  const double small = root_sum_square + worst * magnitude;
  double error =
      std::min(worst * magnitude, std::sqrt(of_partial_sums) * worst * small + u * magnitude);
  if (sums_to_nearest(contract)) {
    const double random = u * std::sqrt(additions) * (1 + worst);
    error =
        std::min({error, largest_deviation * random * magnitude, of_roundings * random * small});
  }
  return error;
}

SumError weight_sum_error(const Contract& contract, std::span<const double> probability,
                          double spread) {
  const double u = contract.unit_roundoff;
  const auto n = static_cast<double>(probability.size());
  const SumError worst{gamma(n, u), 0.0};
  if (!sums_to_nearest(contract) || contract.sums_rounded_p || !(worst.systematic < 0x1p-6)) {
    return worst;
  }
  std::vector<double> largest_first(probability.begin(), probability.end());
  std::sort(largest_first.begin(), largest_first.end(), std::greater<>());
  // A partial sum's neighbours are 2u of it apart at most, and it is below 1.
  double squares = 0.0, sum = 0.0, alike = 0.0, number_alike = 0.0;
  for (const double p : largest_first) {
    sum += p;
    squares += sum * sum;
    if (!(p * spread >= 4 * u)) {
      alike += p;
      ++number_alike;
    }
  }
  const double grown = 1 + worst.systematic;
  const SumError random{grown * (std::min(alike, number_alike * u) + worst.systematic * alike),
                        grown * u * std::sqrt(squares)};
  const bool helps = random.systematic + largest_deviation * random.random < worst.systematic;
  return helps ? random : worst;
}

double largest_sum_of_squares(double groups, double group_size) {
  // P(chi^2_K > K + 2 sqrt(K x) + 2x) <= e^-x (Laurent, Massart 2000); x = t^2 / 2.
  constexpr double x = largest_deviation * largest_deviation / 2;
  return group_size * (groups + 2 * std::sqrt(groups * x) + 2 * x);
}

}  // namespace plumbline::verdict
