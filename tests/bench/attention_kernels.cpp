// SPDX-License-Identifier: Apache-2.0
// How long the built-in attention kernels take on their device.
//
// usage: plumbline_bench_attention_kernels LIBRARY
// Reads lines "KERNEL REPETITIONS SPEC", SPEC as cases::to_line writes it. Answers each with a line
// of JSON: the seconds of the spec's pass, once for each repetition after one that does not count;
// {"skipped": true} where the kernel does not offer it; {"error": "..."} where it fails. What
// counts is the time of all kernels of the pass on the device, without copies from and to the host.
#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "verdict/cases/case.hpp"
#include "verdict/process/kernel_library.hpp"

namespace {

using namespace plumbline;

using TakeSeconds = double (*)();

nlohmann::json measure(const verdict::KernelLibrary& library, TakeSeconds take_seconds,
                       const std::string& line) {
  std::istringstream words(line);
  std::string name, spec_line;
  int repetitions = 0;
  words >> name >> repetitions >> spec_line;
  const auto kernel = std::find_if(library.kernels.begin(), library.kernels.end(),
                                   [&](const auto& of) { return of.name() == name; });
  if (kernel == library.kernels.end()) return {{"error", "no kernel " + name}};
  const cases::Spec spec = cases::from_line(spec_line);
  if (!kernel->supports(spec)) return {{"skipped", true}};
  const cases::Case the_case = cases::generate(spec);
  std::vector<double> seconds;
  for (int n = 0; n <= repetitions; ++n) {
    double taken = 0.0;
    take_seconds();
    const auto run = kernel->run(the_case, [&](cases::Pass pass) {
      const double of_pass = take_seconds();
      if (pass == spec.pass) taken = of_pass;
    });
    if (!run.failure.empty()) return {{"error", run.failure}};
    if (n > 0) seconds.push_back(taken);
  }
  return {{"seconds", seconds}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: plumbline_bench_attention_kernels LIBRARY < measurements\n";
    return 2;
  }
  try {
    const auto library = verdict::load_kernel_library(argv[1]);
    // The library is loaded already; this asks for another symbol of it.
    void* handle = dlopen(std::filesystem::absolute(argv[1]).c_str(), RTLD_NOW | RTLD_NOLOAD);
    const auto take_seconds =
        handle ? reinterpret_cast<TakeSeconds>(dlsym(handle, "plumbline_take_launch_seconds"))
               : nullptr;
    if (!take_seconds) {
      std::cerr << argv[1] << " has no clock: expected a library of the built-in kernels\n";
      return 2;
    }
    std::vector<std::string> names;
    for (const auto& kernel : library.kernels) names.push_back(kernel.name());
    std::cout << nlohmann::json{{"device", library.device}, {"kernels", names}} << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
      std::cout << measure(library, take_seconds, line) << std::endl;
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 3;
  }
}
