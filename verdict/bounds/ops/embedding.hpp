// SPDX-License-Identifier: Apache-2.0
// How far an embedding in fp32, its gradient and a table of sinusoidal positions may be from the
// exact result. docs/bounds-ops.md derives it.
#pragma once

#include <functional>
#include <vector>

#include "verdict/bounds/ops/computed.hpp"

namespace plumbline::op_bounds {

/// Limit of an element that is the sum, one after the other, of the tables' `parts`.
double embedding_limit(const std::vector<Computed>& parts, const Storage& storage);

/// Limits of a table's gradient, [rows, C]: row r sums the rows of grad_x, [tokens, C], whose id is
/// r, and what was there: [rows, C], or empty. chain(n) is the longest chain of additions in the
/// sum of n tokens' rows and of what was there.
std::vector<double> embedding_grad_limits(int rows, int width, const std::vector<int>& ids,
                                          const std::vector<double>& grad_x,
                                          const std::vector<double>& previous,
                                          const std::function<int(int)>& chain);

/// Limit of an element of the sinusoidal table: `angle` = t w, `value` exact. Domain: a base below
/// e^12.
double sinusoidal_limit(double angle, double amplitude, double value);

}  // namespace plumbline::op_bounds
