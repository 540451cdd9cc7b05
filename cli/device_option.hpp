// SPDX-License-Identifier: Apache-2.0
// --device: what a library's kernels run on.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

namespace plumbline::cli {

/// --device gpu | software. Empty where it is not given: a GPU. Without `kernel`, the option with
/// the library, it is refused, but for software where `own` kernels can run on it.
void add_device_option(CLI::App& command, CLI::Option* kernel, std::string& device,
                       bool own = false);

/// The library of the built-in kernels as nvcc compiled them, for the software device.
/// @throws MachineLacks where it is not built.
std::filesystem::path own_kernels_for_software();

/// Where the device in software is, for verdict::isolate_kernel_library; empty for a GPU. Unless
/// the environment says otherwise, it works with this rank's processors.
std::filesystem::path software_device(const std::string& device);

}  // namespace plumbline::cli
