// SPDX-License-Identifier: Apache-2.0
// A shared library of kernels (kernel_abi/plumbline_kernel.h), loaded and run.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cases/case.hpp"
#include "verdict/contract.hpp"

namespace plumbline::verdict {

/// What one run gave: the outputs, or why there are none.
struct KernelRun {
  cases::Outputs outputs;
  bool device_lost = false;  ///< no later run of this process can succeed (PLUMBLINE_DEVICE_LOST)
  std::string failure;       ///< empty when the kernel returned success and left the canaries alone
};

/// One kernel of a library.
class Kernel {
 public:
  Kernel(std::shared_ptr<void> library, const plumbline_kernel& kernel);

  const std::string& name() const { return name_; }
  const Contract& contract(cases::Format) const;
  bool deterministic() const;  ///< it says that every run gives the same bits
  /// @throws BadInput when its supports() throws or returns neither 0 nor 1.
  bool supports(const cases::Spec&) const;

  /// Runs the pass of the case's spec on inputs in its format; for the backward pass the forward
  /// pass too, whose outputs it is given. Outputs are poisoned with NaN before the run and lie
  /// between canaries; a changed canary is a failure.
  /// `done` is called after each pass.
  KernelRun run(const cases::Case&, const std::function<void(cases::Pass)>& done = {}) const;

 private:
  bool asked(const plumbline_problem& problem, cases::Pass pass, const cases::Spec& spec) const;

  std::shared_ptr<void> library_;  // keeps the code that kernel_ points into
  const plumbline_kernel* kernel_;
  std::string name_;
};

struct KernelLibrary {
  std::string name, device;
  std::vector<Kernel> kernels;
};

/// @throws BadInput when the file is not a kernel library, has another ABI version, or a contract
/// out of range; MachineLacks when the library says that it cannot run here.
KernelLibrary load_kernel_library(const std::filesystem::path& path);

}  // namespace plumbline::verdict
