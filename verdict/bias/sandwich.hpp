// SPDX-License-Identifier: Apache-2.0
// Sandwich.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "reference/bias/sandwich.hpp"
#include "verdict/bias/derivatives.hpp"

namespace plumbline::verdict::bias {

/// How far a correct fp32 kernel's sum of 64 cosines less 64 may be off at a distance x.
/// f_k = 10000^(-k/64), as a power or an exponential: its argument is at most 9.22, rounded twice
/// (19u), the power within 8 ulp (16u), a reciprocal (u); the product x f_k rounds, too: 37u x f_k,
/// and by as much the cosine moves, at most by 2. The cosine is within 2 ulp (4u each). The sum has
/// 64 terms of at most 1 in any order (63 64 u), the difference of 64 another rounding (128u).
inline double sandwich_sum_error(int distance) {
  static const auto frequency = [] {
    std::array<double, 64> all{};
    for (int k = 1; k <= 64; ++k) all[k - 1] = std::pow(10000.0, -k / 64.0);
    return all;
  }();
  if (distance == 0) return 0.0;  // the cosine of 0 is 1, and every partial sum a whole number
  double moved = 0;
  for (const double f : frequency) moved += std::min(2.0, 37 * u * distance * f);
  return second_order * (moved + (4 * 64 + 63 * 64 + 128) * u);
}

struct Sandwich : Unanswered {
  template <class R>
  static reference::Vector<R> prepare(const cases::Case& c) {
    return reference::Sandwich<R>::sums(c.spec.positions());
  }
  template <class R>
  static auto reading(const HeadOf<R>& of) {
    return reference::Sandwich<R>(of.parameter(PLUMBLINE_COMPRESSION),
                                  of.template prepared<reference::Vector<R>>());
  }
  /// The sum, a division or a reciprocal and a product, and perhaps log2 e (4u).
  static double error(const Pair& of, double bias) {
    return sandwich_sum_error(std::abs(of.i - of.j)) / of.parameter(PLUMBLINE_COMPRESSION) +
           4 * u * std::abs(bias);
  }
  static constexpr bool has_sizes = true;
  static BiasSizes sizes(const Query& q, const Contract&) {
    return {.constant = sandwich_sum_error(q.the_case.spec.positions()) /
                        q.parameter(PLUMBLINE_COMPRESSION),
            .relative = 4 * u};
  }
};

/// -b / c: the sum's error and five more roundings.
inline void derivatives(const DerivativeRow& row, const reference::Sandwich<RunningError>& bias) {
  RowDerivative by_compression{PLUMBLINE_COMPRESSION, 0, {}, {}, {}};
  const double c = row.parameter(PLUMBLINE_COMPRESSION);
  for (const int j : row.visible) {
    auto grad = bias.zero_grad();
    bias.accumulate_grad(grad, row.position, j, row.one());
    by_compression.value.push_back(grad.compression);
    by_compression.error.push_back(sandwich_sum_error(std::abs(row.position - j)) / (c * c) +
                                   6 * u * std::abs(grad.compression.value()));
  }
  row.result.parameters = {std::move(by_compression)};
}

}  // namespace plumbline::verdict::bias
