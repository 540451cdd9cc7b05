// SPDX-License-Identifier: Apache-2.0
// libFuzzer target for the reader of PTX alone, built and run as translation_fuzzer.cpp, whose
// inputs take ten times as long.
#include <cstdint>
#include <cstdio>

#include "ptx/read/module.hpp"
#include "tests/gpu/ptx/fuzz/fuzzed_text.hpp"

namespace {

struct Told {
  unsigned long long inputs = 0, read = 0;
  ~Told() { std::fprintf(stderr, "%llu inputs: %llu were read\n", inputs, read); }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plumbline::ptx;
  static Told told;
  ++told.inputs;
  try {
    read_module(fuzzed_text({reinterpret_cast<const char*>(data), size}));
    ++told.read;
  } catch (const BadPtx&) {
  }
  return 0;
}
