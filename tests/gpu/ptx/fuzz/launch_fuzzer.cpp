// SPDX-License-Identifier: Apache-2.0
// libFuzzer target for launches, built and run as translation_fuzzer.cpp; -close_fd_mask=1 for what
// the kernels print.
#include <cstdint>
#include <cstdio>
#include <functional>

#include "tests/gpu/ptx/fuzz/launch_everything.hpp"

namespace {

struct Told {
  unsigned long long of[3] = {};
  ~Told() {
    std::fprintf(stderr, "%llu inputs: %llu did not launch, %llu faulted, %llu finished\n",
                 of[0] + of[1] + of[2], of[0], of[1], of[2]);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Told told;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto ended =
      plumbline::ptx::launch_everything(input, 5, std::hash<std::string_view>{}(input));
  ++told.of[static_cast<int>(ended)];
  return 0;
}
