// SPDX-License-Identifier: Apache-2.0
// Calls of a kernel in this process: of the kernels that come with the program.
#pragma once

#include <memory>

#include "verdict/process/kernel_call.hpp"

namespace plumbline::kernel_process {

class InProcessCaller : public KernelCaller {
 public:
  /// @param library keeps the code that `kernel` points into; may be null.
  /// @throws BadInput when the kernel takes device memory.
  InProcessCaller(std::shared_ptr<void> library, const plumbline_kernel& kernel);

  int supports(const plumbline_problem& problem, std::int32_t pass) const override;
  /// The kernel gets copies of its inputs, which are compared afterwards, and each output lies
  /// between canaries.
  CallEnd call(const KernelCall& call) const override;

 private:
  std::shared_ptr<void> library_;
  const plumbline_kernel* kernel_;
};

}  // namespace plumbline::kernel_process
