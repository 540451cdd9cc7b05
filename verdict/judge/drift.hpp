// SPDX-License-Identifier: Apache-2.0
// The statistics gate: whether the errors of an output drift with its values, as truncation or a
// factor slightly off makes them, while each stays within its bound. Derived in docs/bounds.md.
#pragma once

#include <array>
#include <span>
#include <string>

#include "verdict/bounds/forward.hpp"
#include "verdict/bounds/random_rounding.hpp"
#include "verdict/cases/spec.hpp"
#include "verdict/judge/contract.hpp"

namespace plumbline::verdict {

/// Of the elements of an output, with a weight w for each: sum_e w_e (got_e - exact_e), and what a
/// correct kernel's may be.
struct Drift {
  double moment = 0;     ///< the sum
  double allowance = 0;  ///< what all errors can add that are not roundings to 8 or 11 bits
  double variance = 0;   ///< bound of the variance that those roundings add
  void add(const Drift&);
  /// By how many standard deviations |moment| exceeds its allowance; 0 where no rounding is random.
  double deviations() const;
};

/// What moves all LSEs of a case together: LSE's derivative by it is the trend's direction.
enum class Trend { scale, bias, constant };
inline constexpr int trend_count = 3;
/// The same sum with the derivatives for values, and how it grows with what moves them.
struct TrendSum {
  Drift drift;
  double response = 0;  ///< sum_e w_e derivative_e
  void add(const TrendSum&);
};
using Trends = std::array<TrendSum, trend_count>;

/// How large the errors of an output are together: sum_e (max(0, |got_e - exact_e| - systematic_e)
/// / random_e)^2, where random_e is the root of the sum of squares that the random errors of the
/// element are bounded by.
struct ErrorSize {
  double squares = 0;
  double groups = 0;      ///< independent of one another
  double group_size = 1;  ///< elements of a group at most
  /// Of the largest sum that correct roundings reach; 0 where nothing is random.
  double part_of_largest() const;
};

/// The weight of an element: value / bound^2, so that the sum is that of a regression of the errors
/// on the values. 0 where the element is stored with few bits (a subnormal of the format) or the
/// bound is not finite.
double drift_weight(double value, double bound, cases::Format format);

/// Whether a format rounds to so few bits that the errors of many numbers of a smooth distribution
/// have mean 0 and are independent; tf32 does not count, for tensor cores cut to it.
bool rounds_at_random(cases::Format format);
/// And P and dS on their way into a product.
bool rounds_at_random(const Contract& contract);

/// How the kernel's rounding of a number to P's format errs: at random, within u_P |y|; or, where y
/// is a subnormal of the format or so near 1 that 1 bounds it, to the same side each time.
struct OperandRounding {
  double random = 0, systematic = 0;
};
/// @param unnormalised the number as a kernel may hold it: of P relative to the largest one.
/// @param underflow_factor as in rounded_operand().
OperandRounding operand_rounding(const Contract& contract, double magnitude, double unnormalised,
                                 double underflow_factor = 1.0);

/// Of o in one row. @param weight of each component; 0 for all where one key takes nearly
/// everything, whose values have few bits themselves.
Drift output_drift(const Contract& contract, cases::Format format, const ForwardRow& row,
                   const ForwardRowBounds& bounds, std::span<const double> weight);
/// Whether the errors of a row's o count: no key takes nearly everything, and the weights are
/// known.
bool counts(const ForwardRow& row, const ForwardRowBounds& bounds);

/// Whether one number p of a sum may be so near 1 that the sum stands on the grid of its format.
inline constexpr double nearly_all = 1 - 0x1p-4;

/// Whether the gate has something to say of an output in this format: the case's numbers are
/// independent and of a smooth distribution, and the kernel rounds P or the output to 16 bits, but
/// no operand.
bool has_statistics(const cases::Spec& spec, const Contract& contract, cases::Format format);

}  // namespace plumbline::verdict
