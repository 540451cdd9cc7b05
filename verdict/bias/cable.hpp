// SPDX-License-Identifier: Apache-2.0
// CABLE in its forms, and FoX: biases of prefix sums.
#pragma once

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "reference/bias/cable.hpp"
#include "reference/bias/cable_nw.hpp"
#include "reference/bias/fox.hpp"
#include "reference/bias/k_cable.hpp"
#include "reference/bias/k_cable_nw.hpp"
#include "verdict/bias/derivatives.hpp"

namespace plumbline::verdict::bias {

/// b = -+g (S_i - S_j): the difference's error times g, and up to four roundings of products.
struct OfDifference : Unanswered {
  static double error(const Pair& of, double bias) {
    return of.gain() * of.distance().error + 4 * u * std::abs(bias);
  }
  static constexpr ZeroQuery of_zero_query = ZeroQuery::with_its_own_key_alone;
};

/// Bound of the error of S_i - S_j for all keys of a row: the sums' own, and of tiles that are
/// recentred.
inline double prefix_error(const cases::Case& c, const Contract& contract, std::size_t row) {
  const std::vector<float>& increments = c.summed();
  const std::size_t keys = c.spec.keys;
  double total = 0;
  for (std::size_t n = row * keys; n < (row + 1) * keys; ++n) {
    total += std::abs(double{increments[n]});
  }
  const double n = static_cast<double>(keys);
  if (contract.prefix_sum == PLUMBLINE_PREFIX_SUM_FP32) return 2 * gamma(n, u) * total;
  const double in_tile =
      std::min(total, (contract.prefix_tile + 1.0) * largest_size(increments, row * keys, keys));
  return 2 * gamma(n, 0x1p-53) * total + (contract.prefix_tile > 0 ? 2 * u * in_tile : 0.0);
}

/// And what the identities need, where the bias never rewards.
struct WithSizes : OfDifference {
  static constexpr bool has_sizes = true;
  static BiasSizes sizes(const Query& q, const Contract& contract) {
    return {.constant = q.gain() * prefix_error(q.the_case, contract, q.head_row()),
            .relative = 6 * u};
  }
  /// S_i - S_j, from all sums of the row.
  static std::function<double(int)> difference(const Query& q) {
    const auto& increments = q.the_case.summed();
    const int keys = q.the_case.spec.keys;
    std::vector<double> sums(keys);
    double sum = 0;
    for (int j = 0; j < keys; ++j) sums[j] = sum += increments[q.head_row() * keys + j];
    return [i = q.position(), sums = std::move(sums)](int j) { return sums[i] - sums[j]; };
  }
  static std::function<double(int)> plain(const Query& q) {
    return [g = q.gain(), d = difference(q)](int j) { return -g * std::abs(d(j)); };
  }
};

struct Cable : WithSizes {
  template <class R>
  static auto reading(const HeadOf<R>& of) {
    return reference::Cable<R>{of.prefix_sum(), of.gains(), of.first_position()};
  }
};
struct CableNw : WithSizes {
  template <class R>
  static auto reading(const HeadOf<R>& of) {
    return reference::CableNw<R>{of.prefix_sum()};
  }
};
struct Fox : WithSizes {
  template <class R>
  static auto reading(const HeadOf<R>& of) {
    return reference::Fox<R>{of.prefix_sum()};
  }
  static std::function<double(int)> plain(const Query& q) { return difference(q); }
};
struct CablePaper : OfDifference {
  template <class R>
  static auto reading(const HeadOf<R>& of) {
    return reference::CablePaper<R>{of.prefix_sum(), of.gains(), of.first_position()};
  }
};
struct CableNwPaper : OfDifference {
  template <class R>
  static auto reading(const HeadOf<R>& of) {
    return reference::CableNwPaper<R>{of.prefix_sum()};
  }
};

/// b = -g ln(1 + d^2): ln(1 + x) moves by the error of x = d^2 over 1 + x; the sum 1 + x rounds
/// once (u); the logarithm is within 1 ulp (2u), or off by more as the contract says, and its
/// products within 2u.
struct OfSquare : Unanswered {
  static double error(const Pair& of, double bias) {
    const auto [d, e] = of.distance();
    const SquareError square = square_error(d, e);
    const double g = of.gain(), size = std::abs(bias);
    return g * (square.error / square.lowest + u) + 4 * u * size +
           (of.i == of.j ? 0.0 : of.contract.log_error * std::max(g, size));
  }
};
struct KCable : OfSquare {
  template <class R>
  static auto reading(const HeadOf<R>& of) {
    return reference::KCable<R>{of.prefix_sum(), of.gains(), of.first_position()};
  }
};
struct KCableNw : OfSquare {
  template <class R>
  static auto reading(const HeadOf<R>& of) {
    return reference::KCableNw<R>{of.prefix_sum()};
  }
};
/// b = -ln(1 + t^2), t = g d: as above with t for d.
struct KCablePaper : Unanswered {
  template <class R>
  static auto reading(const HeadOf<R>& of) {
    return reference::KCablePaper<R>{of.prefix_sum(), of.gains(), of.first_position()};
  }
  static double error(const Pair& of, double bias) {
    const auto [t, e] = of.weighted_distance();
    const SquareError square = square_error(t, e);
    const double size = std::abs(bias);
    return square.error / square.lowest + u + 4 * u * size +
           (of.i == of.j ? 0.0 : of.contract.log_error * std::max(1.0, size));
  }
};

struct CableRow : DerivativeRow {
  /// Gain: the bias of gain 1, off as bias_error says. Prefix sums: g sign(d), whose sign is
  /// certain unless d is 0 or below its error.
  void operator()(const reference::Cable<RunningError>& cable) const {
    gain_and_prefix(cable, [&](double d, double e, std::size_t) { return e + 2 * u * d; });
    result.prefix.own = bias_error.gain(batch, head, position);
    for (std::size_t n = 0; n < visible.size(); ++n) kink_of_distance(n);
  }
  void operator()(const reference::CableNw<RunningError>& cable) const {
    prefix(cable);
    result.prefix.own = 1.0;
    for (std::size_t n = 0; n < visible.size(); ++n) kink_of_distance(n);
  }
  /// Gain: ln(1 + d^2), off as in bias_error. Prefix sums: g k(d), k = 2d / (1 + d^2), with
  /// |k(d + e) - k(d)| = 2 |e (1 - d (d + e))| / ((1 + d^2)(1 + (d + e)^2)), and six roundings.
  void operator()(const reference::KCable<RunningError>& cable) const {
    gain_and_prefix(cable, [&](double d, double e, std::size_t) {
      const SquareError square = square_error(d, e);
      const double log = std::log1p(d * d);
      return square.error / square.lowest + u + 4 * u * log + log_error(log);
    });
    smooth_slopes([&](int j) { return distance(j); });
  }
  void operator()(const reference::KCableNw<RunningError>& cable) const {
    prefix(cable);
    smooth_slopes([&](int j) { return distance(j); });
  }
  /// b = g (S_i - S_j), as printed, g = 1 in the form without and in FoX. Gain: the difference.
  /// Prefix sums: g, exactly.
  void operator()(const reference::CablePaper<RunningError>& cable) const {
    gain_and_prefix(cable, [&](double d, double e, std::size_t) { return e + 2 * u * d; });
    result.prefix.own = bias_error.gain(batch, head, position);
  }
  void operator()(const reference::CableNwPaper<RunningError>& cable) const {
    prefix(cable);
    result.prefix.own = 1.0;
  }
  /// b = -ln(1 + t^2), t = g d. Gain: d k(t), off by what d and k are, and eight roundings. Prefix
  /// sums: g k(t), as K-CABLE's with t for d.
  void operator()(const reference::KCablePaper<RunningError>& cable) const {
    const auto weighted = [&](int j) {
      return bias_error.weighted_distance(batch, head, position, j);
    };
    gain_and_prefix(cable, [&](double d, double e, std::size_t n) {
      const auto [t, t_error] = weighted(visible[n]);
      const double slope = 2 * t / (1 + t * t);
      return (d + e) * slope_error(t, t_error) + (e + 8 * u * d) * slope;
    });
    smooth_slopes(weighted);
  }
};
inline void derivatives(const DerivativeRow& row, const reference::Cable<RunningError>& bias) {
  CableRow{row}(bias);
}
inline void derivatives(const DerivativeRow& row, const reference::CableNw<RunningError>& bias) {
  CableRow{row}(bias);
}
inline void derivatives(const DerivativeRow& row, const reference::KCable<RunningError>& bias) {
  CableRow{row}(bias);
}
inline void derivatives(const DerivativeRow& row, const reference::KCableNw<RunningError>& bias) {
  CableRow{row}(bias);
}
inline void derivatives(const DerivativeRow& row, const reference::CablePaper<RunningError>& bias) {
  CableRow{row}(bias);
}
inline void derivatives(const DerivativeRow& row,
                        const reference::CableNwPaper<RunningError>& bias) {
  CableRow{row}(bias);
}
inline void derivatives(const DerivativeRow& row,
                        const reference::KCablePaper<RunningError>& bias) {
  CableRow{row}(bias);
}

}  // namespace plumbline::verdict::bias
