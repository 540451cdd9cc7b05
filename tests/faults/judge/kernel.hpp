// SPDX-License-Identifier: Apache-2.0
// The campaign's kernel behind the interface that every kernel has (plumbline_kernel.h), so that
// verify's own entry runs and judges it.
#pragma once

#include <memory>

#include "tests/faults/judge/attention.hpp"
#include "verdict/cases/case.hpp"
#include "verdict/process/kernel_library.hpp"

namespace plumbline::bench {

/// What the calling thread's next calls of the kernel compute with.
struct Setting {
  Variant variant;
  Fault fault;
  Formula formula = Formula::none;  ///< of the cases' custom bias, where they have one
};

/// A kernel of the setting, to be run by the thread that asked for it, before it asks for another.
verdict::Kernel kernel_of(const Setting& setting);

/// The formats that it has.
inline constexpr cases::Format kernel_formats[] = {cases::Format::fp32, cases::Format::bf16,
                                                   cases::Format::fp16, cases::Format::tf32,
                                                   cases::Format::e4m3, cases::Format::e5m2};

/// The same computed in double, nothing rounded: what other suites compare with.
Results<double> in_double(const cases::Case& the_case);

/// The problem of a case, for readings that do not go through the interface.
/// The result points into the case. @param fault of prefix sums
Problem problem_of(const cases::Case& the_case, const Fault& fault = {});

/// The parameters that have a gradient.
std::array<bool, PLUMBLINE_PARAMETER_COUNT> wanted_of(const cases::Spec& spec);

}  // namespace plumbline::bench
