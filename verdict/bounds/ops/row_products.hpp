// SPDX-License-Identifier: Apache-2.0
// Maps of one row as fp32 computes them, f(w . n + b) + residual. Derived in docs/bounds-ops.md,
// section "Maps of one row".
#pragma once

#include <vector>

#include "verdict/bounds/ops/computed.hpp"
#include "verdict/bounds/ops/gelu.hpp"
#include "verdict/bounds/ops/linear.hpp"
#include "verdict/bounds/ops/logistic.hpp"

namespace plumbline::op_bounds {

/// sum_c w_c n_c in any order, n being known to its error.
inline Computed row_product(const std::vector<Computed>& n, const double* w) {
  std::vector<Computed> products;
  for (std::size_t c = 0; c < n.size(); ++c) products.push_back(n[c] * Computed{w[c]});
  return sum(products, static_cast<int>(n.size()));
}

/// gelu(z), the tanh form.
inline Computed gelu_of(const Computed& z) { return through_gelu(gelu_tanh(z.value), z.error); }

/// silu(gate) z.
inline Computed swiglu_of(const Computed& gate, const Computed& z) {
  return gate * LogisticGate(gate).open * z;
}

}  // namespace plumbline::op_bounds
