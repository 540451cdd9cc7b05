// SPDX-License-Identifier: Apache-2.0
// libFuzzer target for everything that PTX goes through before a launch:
//   cmake -S . -B build/fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++-14 -DPLUMBLINE_FUZZ=ON
//   ninja -C build/fuzz ptx_translation_fuzzer
//   python3 tests/gpu/ptx/fuzz/write_corpus.py build/fuzz/corpus FILE.ptx...
//   build/fuzz/bin/ptx_translation_fuzzer -max_len=2000 -runs=10000000 build/fuzz/corpus
//   tests/gpu/ptx/fuzz/corpus
#include <cstdint>
#include <cstdio>
#include <functional>

#include "tests/gpu/ptx/fuzz/translate_everything.hpp"

namespace {

/// How far the inputs came, told at the end.
struct Told {
  std::uint64_t inputs = 0, reached[4] = {};
  ~Told() {
    std::fprintf(stderr, "%llu inputs: %llu were read, %llu loaded, %llu translated\n",
                 static_cast<unsigned long long>(inputs),
                 static_cast<unsigned long long>(reached[1] + reached[2] + reached[3]),
                 static_cast<unsigned long long>(reached[2] + reached[3]),
                 static_cast<unsigned long long>(reached[3]));
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plumbline::ptx;
  static Device& device = []() -> Device& {
    Options options;
    options.properties.global_bytes = 16 << 20;
    return *new Device(options);
  }();
  static Told told;
  ++told.inputs;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto reached =
      translate_everything(device, input, std::hash<std::string_view>{}(input) % 2 == 0);
  ++told.reached[static_cast<int>(reached)];
  return 0;
}
