// SPDX-License-Identifier: Apache-2.0
// How a row's biases depend on the parameters of its method, and how far a correct kernel's
// derivatives may be from the exact ones. Derived in docs/bounds-backward.md.
#pragma once

#include <vector>

#include "verdict/bias/derivatives.hpp"
#include "verdict/oracle/case_reading.hpp"

namespace plumbline::verdict {

/// How many numbers of the parameter belong to one head of one sequence.
std::size_t elements_of_head(const cases::Case& the_case, plumbline_parameter parameter);
/// Which of those parts is that of a head, counted over the batch: sequences, heads or all of both
/// may share one.
std::size_t part_of_head(const cases::Case& the_case, plumbline_parameter parameter, int head);

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
