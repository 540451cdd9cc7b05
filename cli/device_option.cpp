// SPDX-License-Identifier: Apache-2.0
#include "cli/device_option.hpp"

#include <cstdlib>

#include "cli/installation.hpp"
#include "cli/numbers.hpp"
#include "cli/ranks.hpp"
#include "support/error.hpp"

namespace plumbline::cli {

void add_device_option(CLI::App& command, CLI::Option* kernel, std::string& device, bool own) {
  std::string help =
      "With --kernel: what a CUDA library runs on; software needs no GPU, runs its PTX and also "
      "checks it (docs/your_kernel.md)";
  if (own) help += ". software alone: the built-in kernels as nvcc compiles them";
  auto* option = command.add_option("--device", device, help)
                     ->check(one_of({"gpu", "software"}))
                     ->default_str("gpu");
  if (!own) option->needs(kernel);
}

std::filesystem::path own_kernels_for_software() {
  auto library = program_prefix() / "lib/software-device/libplumbline_kernels_cuda.so";
  if (!std::filesystem::exists(library)) {
    throw MachineLacks(
        "--device software without --kernel runs the built-in kernels as nvcc compiles them, and " +
        library.string() +
        " is not there: the target plumbline_kernels_for_software makes it, where nvcc is");
  }
  return library;
}

std::filesystem::path software_device(const std::string& device) {
  if (device != "software") return {};
  setenv("PLUMBLINE_DEVICE_THREADS", std::to_string(own_processors()).c_str(), 0);
  return program_prefix() / "lib/software-device";
}

}  // namespace plumbline::cli
