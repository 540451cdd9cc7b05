// SPDX-License-Identifier: Apache-2.0
#include "cli/device_option.hpp"

#include <cstdlib>

#include "cli/installation.hpp"
#include "cli/numbers.hpp"
#include "cli/ranks.hpp"

namespace plumbline::cli {

void add_device_option(CLI::App& command, CLI::Option* kernel, std::string& device) {
  command
      .add_option("--device", device,
                  "With --kernel: what a CUDA library runs on; software needs no GPU, runs its PTX "
                  "and also checks it (docs/your_kernel.md)")
      ->check(one_of({"gpu", "software"}))
      ->capture_default_str()
      ->needs(kernel);
}

std::filesystem::path software_device(const std::string& device) {
  if (device != "software") return {};
  setenv("PLUMBLINE_DEVICE_THREADS", std::to_string(own_processors()).c_str(), 0);
  return program_prefix() / "lib/software-device";
}

}  // namespace plumbline::cli
