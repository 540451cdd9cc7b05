// SPDX-License-Identifier: Apache-2.0
// What a case's gradients should be, and how far a correct kernel may be from that.
#pragma once

#include <array>
#include <vector>

#include "cases/case.hpp"
#include "verdict/contract.hpp"
#include "verdict/oracle.hpp"

namespace plumbline::verdict {

/// Gradients of sum(grad_o * o), laid out like the tensors that they belong to.
struct OracleGradients {
  std::vector<OracleNumber> q, k, v;
  /// Of the parameters that get one (cases::has_gradient); the others are empty.
  std::array<std::vector<OracleNumber>, PLUMBLINE_PARAMETER_COUNT> parameters;
};

/// The formats that q's, k's and v's gradients, and the o that a kernel took, are stored in.
struct GradientFormats {
  cases::Format o, q, k, v;
};

/// The adjoint of reference/attention/attention_grad.hpp, in double with certified errors: what is
/// nonlinear is read in RunningError, the products with matrices are bounded as a whole. The same
/// bits for any number of threads. Memory: 72 bytes for each pair of a query and a key of the query
/// heads that share a key head.
/// @param the_case of the backward pass.
OracleGradients gradient_oracle(const cases::Case& the_case, const Contract& contract,
                                const GradientFormats& formats, int threads);

}  // namespace plumbline::verdict
