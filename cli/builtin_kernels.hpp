// SPDX-License-Identifier: Apache-2.0
// The kernel libraries that come with the program: lib/ beside bin/, built or installed.
#pragma once

#include <string>

#include "verdict/kernel_library.hpp"

namespace plumbline::cli {

/// Whether the built-in kernels were built for "emulated" or "cuda".
bool has_backend(const std::string& backend);

/// @throws MachineLacks if they were not built or find no device; BadInput if they cannot be used.
verdict::KernelLibrary load_backend(const std::string& backend);

}  // namespace plumbline::cli
