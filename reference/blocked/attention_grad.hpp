// SPDX-License-Identifier: Apache-2.0
// The backward pass at real size: reference/attention/attention_grad.hpp in double, tile by tile.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "reference/blocked/attention.hpp"

namespace plumbline::reference::blocked {

/// What comes from the rest of the model.
struct Upstream {
  std::vector<Stored> output;       ///< dL/do: [batch * heads], each [rows, head_dim]
  std::vector<Vector<double>> lse;  ///< dL/dlse: [batch * heads], each [rows]; or empty: 0
};

struct Gradients {
  std::vector<Matrix<double>> q;     ///< [batch * heads], each [queries, head_dim]
  std::vector<Matrix<double>> k, v;  ///< [batch * kv_heads]: summed over the heads of a group
  /// [batch * heads], for the head's bias (DifferentiableTileBias::grad); null where it has none.
  std::vector<std::unique_ptr<BiasSums>> bias;
  std::vector<double> ssmax_scale;  ///< [heads], summed over the batch; empty without SSMax
};

/// The gradients of all inputs, `attended` being attention(problem). Definition and sources:
/// attention_row_grad, attention/attention_grad.hpp. Memory besides the result: O(queries + keys)
/// numbers and up to 7 more copies of dq where there are few heads. Bits as for attention.
/// @throws std::invalid_argument as attention, and if `attended` or `upstream` do not fit.
Gradients attention_grad(const Problem& problem, const Attended& attended,
                         const Upstream& upstream);

/// dq for the chosen rows; `attended` and `upstream` have those rows, in that order.
std::vector<Matrix<double>> query_gradients(const Problem& problem, std::span<const int> rows,
                                            const Attended& attended, const Upstream& upstream);

struct KeyGradients {
  std::vector<Matrix<double>> k, v;  ///< [batch * kv_heads], each [chosen keys, head_dim]
};

/// What every row gives to the gradients of keys. p_j = e^(s_j - lse), ds_j = p_j (dp_j - shift).
struct RowSummaries {
  std::vector<Vector<double>> lse;    ///< [batch * heads], each [queries]
  std::vector<Vector<double>> shift;  ///< likewise: sum_d do_d o_d - dL/dlse
};
RowSummaries row_summaries(const Problem& problem, const Attended& attended,
                           const Upstream& upstream);

/// dk and dv for the chosen keys, ascending, from all query rows. `grad_output`: Upstream::output.
/// @throws std::invalid_argument also for keys that do not exist or do not ascend.
KeyGradients key_gradients(const Problem& problem, std::span<const int> keys,
                           const std::vector<Stored>& grad_output, const RowSummaries& rows);

}  // namespace plumbline::reference::blocked
