// SPDX-License-Identifier: Apache-2.0
// Gradients of parameters, summed over pairs of a query and a key.
#pragma once

#include <array>
#include <vector>

#include "verdict/bounds/backward.hpp"
#include "verdict/bounds/bias_gradient.hpp"
#include "verdict/cases/case.hpp"
#include "verdict/oracle/oracle.hpp"

namespace plumbline::verdict {

/// A sum of RunningErrors with what a kernel may lose in it.
struct ParameterSum {
  double value = 0, radius = 0;  ///< radius of the terms alone
  double size = 0;               ///< sum of |terms|
  double error = 0;              ///< bound of the kernel's terms
  double magnitude = 0;          ///< and of their sizes
  double lost = 0;               ///< underflows on the way to the terms (RowDerivative::lost)
  double terms = 0;
  void add(const ParameterSum& part);
};

/// What the kernel's two sums for a prefix sum's gradient lose besides (docs/bounds-backward.md):
/// indexed by position.
struct PrefixSums {
  std::vector<double> inner;      ///< of pairs that cancel, by the smaller position
  std::vector<double> by_query;   ///< accumulation errors of a query's sum
  std::vector<double> by_key;     ///< magnitudes that a key's sum adds up
  std::vector<double> queries;    ///< how many queries add to it
  std::vector<double> magnitude;  ///< of all terms, by query
};

/// Everything that one head of one sequence adds to the gradients of parameters. Parts are added
/// up in a fixed order.
class ParameterSums {
 public:
  explicit ParameterSums(const cases::Case& the_case)
      : ParameterSums(the_case, 0, the_case.spec.queries) {}
  /// What these query rows add: of a bias tensor that has a row a query the numbers of no other.
  ParameterSums(const cases::Case& the_case, int first_query, int queries);

  /// One query row. All spans are over its visible keys.
  /// @param grad_s dS_j; @param logits z_j before SSMax's factor, with the error of the kernel's
  /// own.
  struct Row {
    int position = 0;
    const std::vector<int>& visible;
    const reference::Vector<reference::RunningError>&probability, &grad_s, &grad_z;
    const BackwardRowErrors& errors;
    double factor = 1.0;
    const RowDerivatives& derivatives;
    const reference::Vector<reference::RunningError>* logits = nullptr;
    const std::vector<double>* logit_error = nullptr;
    /// dL/db_ij is one number in memory, which the query's and the key's side of a prefix sum read:
    /// there nothing is left of the pairs that cancel.
    bool in_memory = false;
  };
  void add(const Contract& contract, const Row& row);
  /// More of one parameter's number.
  void add(plumbline_parameter p, std::size_t element, const ParameterSum& sum) {
    sums_[p][element].add(sum);
  }
  /// Of a row that sees no key but its sink.
  void add_sink_alone(std::size_t element, const ParameterSum& sum);
  void add(const ParameterSums& part);

  const std::vector<ParameterSum>& of(plumbline_parameter p) const { return sums_[p]; }
  const PrefixSums& prefix() const { return prefix_; }
  double largest_row() const { return largest_row_; }
  double rows() const { return rows_; }

 private:
  void add_prefix(const Contract& contract, const Row& row);

  std::array<std::vector<ParameterSum>, PLUMBLINE_PARAMETER_COUNT> sums_;
  std::size_t first_pair_ = 0;  ///< the first number of a bias tensor that is there
  PrefixSums prefix_;
  double largest_row_ = 0, rows_ = 0;
};

/// The gradients of all parameters from the heads' sums, [batch * heads].
std::array<std::vector<OracleNumber>, PLUMBLINE_PARAMETER_COUNT> parameter_gradients(
    const cases::Case& the_case, const Contract& contract, const std::vector<ParameterSums>& heads);

}  // namespace plumbline::verdict
