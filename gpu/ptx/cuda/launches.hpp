// SPDX-License-Identifier: Apache-2.0
// Launches, and what a program asks about kernels before them. Without Variation::late a launch has
// ended when it returns, and returns the error of its kernel, as with CUDA_LAUNCH_BLOCKING=1.
#ifndef PLUMBLINE_GPU_PTX_CUDA_LAUNCHES_HPP
#define PLUMBLINE_GPU_PTX_CUDA_LAUNCHES_HPP

#include <cstddef>
#include <span>
#include <vector>

#include "ptx/cuda/process.hpp"
#include "ptx/cuda/sanitize.hpp"

namespace plumbline::ptx::cuda {

/// `plumbline sanitize` must not take a kernel that never ran for one without a fault.
template <class Launching>
void refusals_are_told(const Launching& run) {
  try {
    run();
  } catch (const Fault&) {
    throw;
  } catch (...) {
    tell_refused();
    throw;
  }
}

/// The parameters, each where a pointer says.
std::vector<std::byte> packed(const KernelInfo& info, void* const* arguments);

/// Throws Failure and Refused for what CUDA refuses, Fault.
void launch(Process& process, const Stream* stream, Function& function, Launch launch,
            std::vector<std::byte> parameters);

/// Those of cudaLaunchKernelExC and cuLaunchKernelEx that change a launch. Others are hints, or
/// order launches that are in order here anyway. True where one names an event that the launch
/// records: it must then end at once.
bool apply(Launch& launch, std::span<const LaunchAttribute> attributes);

/// What a launch may ask for.
std::size_t most_dynamic_shared(Process& process, Function& function);
int most_threads(Process& process, Function& function);
/// Blocks of this size that a multiprocessor has room for.
int blocks_at_once(Process& process, Function& function, std::size_t threads,
                   std::size_t dynamic_shared);
/// The number of an attribute as cudaFuncAttributes has it. Throws Failure.
int attribute_of(Process& process, Function& function, FunctionAttribute attribute);
/// Throws Failure for one that cannot be set, or not so.
void set_attribute(Process& process, Function& function, FunctionAttribute attribute, int value);

}  // namespace plumbline::ptx::cuda

#endif
