// SPDX-License-Identifier: Apache-2.0
#include "cli/builtin_kernels.hpp"

#include <filesystem>

#include "cli/command.hpp"
#include "support/error.hpp"

namespace plumbline::cli {
namespace {
std::filesystem::path builtin_library(const std::string& backend) {
  return program_prefix() / "lib" / ("libplumbline_kernels_" + backend + ".so");
}
}  // namespace

bool has_backend(const std::string& backend) {
  return std::filesystem::exists(builtin_library(backend));
}

verdict::KernelLibrary load_backend(const std::string& backend) {
  if (!has_backend(backend)) {
    throw MachineLacks("the " + backend + " kernels were not built" +
                       (backend == "cuda" ? ": CMake found no nvcc 13, or no GPU; the target "
                                            "plumbline_kernels_cuda makes them without one"
                                          : ""));
  }
  return verdict::load_kernel_library(builtin_library(backend));
}

}  // namespace plumbline::cli
