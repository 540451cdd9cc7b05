// SPDX-License-Identifier: Apache-2.0
// --device: what a library's kernels run on.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

namespace plumbline::cli {

/// --device gpu | software, which needs `kernel`, the option with the library.
void add_device_option(CLI::App& command, CLI::Option* kernel, std::string& device);

/// Where the device in software is, for verdict::isolate_kernel_library; empty for a GPU. Unless
/// the environment says otherwise, it works with this rank's processors.
std::filesystem::path software_device(const std::string& device);

}  // namespace plumbline::cli
