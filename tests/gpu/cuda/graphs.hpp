// SPDX-License-Identifier: Apache-2.0
// What the tests of CUDA graphs share: small models, and how they tell what fails.
#pragma once

#include <cstdio>
#include <string>

#include "core/launch.cuh"
#include "model/configuration.hpp"

namespace plumbline::gpu_tests {

using namespace gpu;

inline int failures = 0;

inline void expect(bool holds, const ModelConfiguration& c, const std::string& what) {
  if (holds) return;
  std::printf("FAILED: %s%s: %s\n", c.position.c_str(), c.ssmax ? " with SSMax" : "", what.c_str());
  ++failures;
}

/// A model of two heads.
inline ModelConfiguration small_model(int layers, const std::string& position,
                                      Architecture architecture, Format format) {
  const bool llama = architecture == Architecture::llama_style;
  return {.architecture = architecture,
          .layers = layers,
          .heads = 2,
          .kv_heads = llama ? 1 : 2,
          .width = 64,
          .hidden = llama ? 96 : 256,
          .vocabulary = 19,
          .context = 200,
          .position = position,
          .options = {.window = 3},
          .format = format};
}

/// The program's exit status: that of the checks, or 77 without a device.
template <class Checks>
int run_on_device(const Checks& checks) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("skipped: no GPU");
    return 77;
  }
  checks();
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace plumbline::gpu_tests
