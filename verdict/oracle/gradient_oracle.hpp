// SPDX-License-Identifier: Apache-2.0
// What a case's gradients should be, and how far a correct kernel may be from that.
#pragma once

#include <array>
#include <vector>

#include <functional>
#include <vector>
#include "verdict/cases/case.hpp"
#include "verdict/judge/contract.hpp"

#include "verdict/oracle/oracle.hpp"
#include "verdict/oracle/sample.hpp"

namespace plumbline::verdict {

/// Gradients of sum(grad_o * o), laid out like the tensors that they belong to. Of key heads
/// outside of the case's sample (sample.hpp) there is nothing.
struct OracleGradients {
  std::vector<OracleNumber> q, k, v;
  Drift q_drift, k_drift, v_drift;
  /// Of the parameters that get one (cases::has_gradient); the others are empty.
  std::array<std::vector<OracleNumber>, PLUMBLINE_PARAMETER_COUNT> parameters;
};

/// The formats that q's, k's and v's gradients, and o, are stored in.
struct GradientFormats {
  cases::Format o, q, k, v;
};

/// Rows that are read otherwise than the case has them; a function that is empty changes nothing.
struct OtherRows {
  /// The keys that a row sees, of those that it sees by the case.
  std::function<std::vector<int>(int batch, int head, int query, std::vector<int> visible)> visible;
  /// The bias of a key, of what the case adds at any key. For kernels that are given lse.
  std::function<double(const std::function<double(int)>& of_key, int batch, int head, int query,
                       int key)>
      bias;
};

/// The adjoint of reference/attention/attention_grad.hpp, in double with certified errors: what is
/// nonlinear is read in RunningError, the products with matrices are bounded as a whole. The same
/// bits for any number of threads. Memory: 72 bytes for each pair of a query and a key of the query
/// heads that share a key head.
/// @param the_case of the backward pass.
/// @param given whose o and lse the kernel was given: p_ij = exp(s_ij - lse_i) and D_i = dO_i . o_i
/// are of these very numbers. Where the contract has no lse, p is the exact one, for a kernel that
/// keeps its lse to itself. Without: p and D = sum_j p_j dP_j are the exact ones, for a kernel
/// that recomputes both. Where o or lse is not finite every bound that depends on the row is
/// infinite.
OracleGradients gradient_oracle(const cases::Case& the_case, const Contract& contract,
                                const GradientFormats& formats, const cases::Outputs* given,
                                int threads);
/// The same of the sample's key heads, and of rows that are read otherwise.
OracleGradients gradient_oracle(const cases::Case& the_case, const Contract& contract,
                                const GradientFormats& formats, const cases::Outputs* given,
                                int threads, const Sample& sample, const OtherRows& other = {});

}  // namespace plumbline::verdict
