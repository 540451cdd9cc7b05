// SPDX-License-Identifier: Apache-2.0
// Small launches of any PTX.
#ifndef PLUMBLINE_TESTS_GPU_PTX_FUZZ_LAUNCH_EVERYTHING_HPP
#define PLUMBLINE_TESTS_GPU_PTX_FUZZ_LAUNCH_EVERYTHING_HPP

#include <algorithm>
#include <vector>

#include "ptx/profile.hpp"
#include "tests/gpu/ptx/fuzz/fuzzed_text.hpp"

namespace plumbline::ptx {

enum class Ended { not_launched, faulted, finished };

/// Launches the text's kernels: a block, or a cluster of two, of up to 64 threads, with two arrays
/// of 4 KiB. The bits of `hash` choose among the launches and devices. Any other exception than
/// BadPtx, Refused and Fault passes.
inline Ended launch_everything(std::string_view input, std::uint64_t time_limit_ms,
                               std::size_t hash) {
  Options options;
  options.threads = 1;
  options.time_limit_ms = time_limit_ms;
  options.properties.global_bytes = 16 << 20;
  options.check = hash >> 8 & 7;
  options.variation.fuse = hash >> 12 & 1;
  options.variation.order_seed = hash >> 13 & 1;
  options.variation.sums = static_cast<Variation::Sums>((hash >> 16) % 3);
  options.variation.approximate = static_cast<Variation::Approximate>(hash >> 24 & 3);
  Device device(options);
  auto ended = Ended::not_launched;
  try {
    const auto module = device.load(fuzzed_text(input));
    const Address out = device.allocate(4096), in = device.allocate(4096);
    device.set(in, 0x3c, 4096);
    for (const std::string& name : device.kernel_names(module)) {
      const Kernel& kernel = device.kernel(module, name);
      std::vector<std::byte> parameters(device.info(kernel).parameter_bytes);
      const Address given[] = {out, in, 1024};
      for (std::size_t i = 0; i < std::min(parameters.size(), sizeof given); ++i)
        parameters[i] = reinterpret_cast<const std::byte*>(given)[i];
      Launch launch;
      launch.block = {hash & 1 ? 32u : 61u, 1, 1};
      launch.dynamic_shared_bytes = 256;
      if ((hash >> 1 & 3) == 0) launch.grid.x = launch.cluster.x = 2;
      if ((hash >> 1 & 3) == 1) launch.grid.x = 3;
      try {
        if ((hash >> 3 & 7) == 0)
          device.profile(kernel, launch, parameters);
        else
          device.launch(kernel, launch, parameters);
        ended = Ended::finished;
      } catch (const Fault&) {
        ended = Ended::faulted;
      }
    }
  } catch (const BadPtx&) {
  } catch (const Refused&) {
  }
  return ended;
}

}  // namespace plumbline::ptx

#endif
