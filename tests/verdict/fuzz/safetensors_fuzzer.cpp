// SPDX-License-Identifier: Apache-2.0
// libFuzzer target for everything that reads a file of others:
//   cmake -S . -B build/fuzz -DCMAKE_CXX_COMPILER=clang++-14 -DPLUMBLINE_FUZZ=ON
//   build/fuzz/bin/safetensors_fuzzer -max_len=4096 -runs=10000000 build/fuzz/corpus
//   tests/verdict/fuzz/corpus
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "tests/verdict/fuzz/parse_everything.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  plumbline::cases::parse_everything(std::as_bytes(std::span(data, size)));
  return 0;
}

/// An insertion into the header makes its length wrong, and a wrong length ends the parsing at
/// once. So three mutations in four also set the length to the end of the last brace, which is
/// where the header of nearly every file ends; the fourth stays as it is, lying lengths included.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned int seed) {
  const std::size_t mutated = LLVMFuzzerMutate(data, size, max_size);
  std::uint64_t length = 0;
  if (mutated <= sizeof length || seed % 4 == 0) return mutated;
  const std::uint8_t* begin = data + sizeof length;
  const std::uint8_t* end = data + mutated;
  const std::uint8_t* last =
      std::find(std::reverse_iterator(end), std::reverse_iterator(begin), std::uint8_t{'}'}).base();
  length = static_cast<std::uint64_t>(last - begin);
  std::memcpy(data, &length, sizeof length);
  return mutated;
}
