// SPDX-License-Identifier: Apache-2.0
// Which kernels a runner launches, for every_kernel_ran.py.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>

#include "emulation/grid.hpp"

extern "C" const char __executable_start;  // by the linker: where the program was loaded

namespace plumbline::gpu_tests {

/// Writes the addresses of all kernels that were launched in its lifetime, as `nm` prints them, one
/// a line, to the file that PLUMBLINE_LAUNCHED_KERNELS names; without that does nothing.
class LaunchedKernels {
 public:
  LaunchedKernels() {
    if (std::getenv("PLUMBLINE_LAUNCHED_KERNELS")) emulation::listen_to_launches(note);
  }
  ~LaunchedKernels() {
    const char* name = std::getenv("PLUMBLINE_LAUNCHED_KERNELS");
    std::FILE* file = name ? std::fopen(name, "w") : nullptr;
    if (!file) return;
    for (const char* kernel : kernels_)
      std::fprintf(file, "%016zx\n", static_cast<std::size_t>(kernel - &__executable_start));
    std::fclose(file);
  }
  LaunchedKernels(const LaunchedKernels&) = delete;
  LaunchedKernels& operator=(const LaunchedKernels&) = delete;

 private:
  static void note(const void* kernel) {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    kernels_.insert(static_cast<const char*>(kernel));
  }

  inline static std::set<const char*> kernels_;
};

}  // namespace plumbline::gpu_tests
