// SPDX-License-Identifier: Apache-2.0
// Constants of every bound.
#pragma once

#include <limits>

namespace plumbline::verdict {

/// Unit roundoff of one elementwise fp32 operation, rounding to nearest.
inline constexpr double u = 0x1p-24;
/// Covers second-order products of single roundings (u or a few u) and a bound's own rounding.
inline constexpr double second_order = 1.0 + 0x1p-16;
inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// NaN is infinity, too.
inline double or_infinity(double x) { return x < infinity ? x : infinity; }

}  // namespace plumbline::verdict
