// SPDX-License-Identifier: Apache-2.0
// A shared library of kernels (kernel_abi/plumbline_kernel.h), loaded into this process.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "kernel_abi/plumbline_kernel.h"

namespace plumbline::kernel_process {

struct LoadedLibrary {
  std::shared_ptr<void> handle;  ///< keeps the code that `library` points into
  const plumbline_library* library;
};

/// Of a library: from 1 to 1000.
bool is_kernel_count(int count);
/// Letters a-z, digits and _.
bool is_kernel_name(std::string_view name);

/// @throws BadInput when the path is not that of a file.
void require_file(const std::filesystem::path& path);

/// @throws BadInput when the file is not a kernel library, has another ABI version or lacks a field
/// that must be there; MachineLacks when the library says that it cannot run here.
LoadedLibrary load_library(const std::filesystem::path& path);

}  // namespace plumbline::kernel_process
