// SPDX-License-Identifier: Apache-2.0
// Everything that is done with PTX before a launch.
#ifndef PLUMBLINE_TESTS_GPU_PTX_FUZZ_TRANSLATE_EVERYTHING_HPP
#define PLUMBLINE_TESTS_GPU_PTX_FUZZ_TRANSLATE_EVERYTHING_HPP

#include "ptx/read/module.hpp"
#include "ptx/translate/program.hpp"
#include "tests/gpu/ptx/fuzz/fuzzed_text.hpp"

namespace plumbline::ptx {

enum class Reached { nothing, reading, loading, translation };

/// Reads the text, loads it into the device and translates its kernels, as they are and as they are
/// profiled and fused. Any other exception than BadPtx and Refused passes.
inline Reached translate_everything(Device& device, std::string_view input, bool profiled) {
  const std::string text = fuzzed_text(input);
  auto reached = Reached::nothing;
  try {
    const auto read = read_module(text);
    reached = Reached::reading;
    const auto module = device.load(text);
    reached = Reached::loading;
    bool right = true;
    try {
      for (const std::string& name : device.kernel_names(module))
        right &= device.info(device.kernel(module, name)).missing.empty();
      if (right) reached = Reached::translation;
    } catch (const BadPtx&) {
    }
    device.unload(module);
    if (!profiled) return reached;
    Layout layout;
    layout.variables.assign(read->variables.size(), Address{1} << 20);
    layout.variation.fuse = true;
    layout.variation.sums = Variation::Sums::hopper;
    layout.variation.approximate = Variation::Approximate::either;
    for (const Function& function : read->functions)
      if (function.entry && function.defined) translate(*read, function, layout, true);
  } catch (const BadPtx&) {
  } catch (const Refused&) {
  }
  return reached;
}

}  // namespace plumbline::ptx

#endif
