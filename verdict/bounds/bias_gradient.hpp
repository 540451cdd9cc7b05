// SPDX-License-Identifier: Apache-2.0
// How a row's biases depend on the parameters of its method, and how far a correct kernel's
// derivatives may be from the exact ones. Derived in docs/bounds-backward.md.
#pragma once

#include <vector>

#include "reference/scalars/running_error.hpp"
#include "verdict/bounds/bias_error.hpp"
#include "verdict/oracle/case_reading.hpp"

namespace plumbline::verdict {

/// d b_ij / d theta of one query row for one number theta.
struct RowDerivative {
  plumbline_parameter parameter;
  int element = 0;        ///< theta's place among those that the head (and sequence) has
  std::vector<int> keys;  ///< places among the visible keys; empty: all of them
  std::vector<reference::RunningError> value;
  std::vector<double> error;
};

/// The same for increments or log_forget: theta_k changes b_ij by x_ij where k lies in (j, i] or
/// (i, j], and not elsewhere.
struct PrefixDerivative {
  bool used = false;
  plumbline_parameter parameter{};
  std::vector<reference::RunningError> value;  ///< x_ij for each visible key
  std::vector<double> rounding;                ///< bound of its error
  std::vector<double> kink;  ///< how much more where the kernel may be on either side of d = 0
  /// Largest |x| that a kernel may take for the query's own key, with both signs: b_ii is 0 and has
  /// no gradient, but a kernel that adds and takes away computes dZ_ii twice.
  double own = 0.0;
};

struct RowDerivatives {
  std::vector<RowDerivative> parameters;
  PrefixDerivative prefix;
};

/// How many numbers of the parameter belong to one head of one sequence.
int elements_of_head(const cases::Case& the_case, plumbline_parameter parameter);

class BiasGradient {
 public:
  using Reading = CaseReading<reference::RunningError>;

  /// The arguments must outlive this.
  BiasGradient(const cases::Case& the_case, const Contract& contract, const Reading& reading,
               const BiasError& bias_error)
      : case_(the_case), contract_(contract), reading_(reading), bias_error_(bias_error) {}

  /// @param visible keys, ascending; @param bias exact b_ij for those.
  RowDerivatives row(int batch, int head, int position, const std::vector<int>& visible,
                     const std::vector<double>& bias) const;

 private:
  const cases::Case& case_;
  const Contract& contract_;
  const Reading& reading_;
  const BiasError& bias_error_;
};

}  // namespace plumbline::verdict
