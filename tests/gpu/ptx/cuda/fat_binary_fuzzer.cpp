// SPDX-License-Identifier: Apache-2.0
// For libFuzzer: any bytes as a fat binary are read, or refused by BadFatBinary.
#include <cstddef>
#include <cstdint>
#include <span>

#include "ptx/cuda/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plumbline::ptx::cuda;
  try {
    const FatBinary binary = read_fat_binary(std::as_bytes(std::span(data, size)));
    for (const PtxEntry& entry : binary.ptx) {
      // The text of each target alone, too.
      try {
        target_of(entry.text());
      } catch (const BadFatBinary&) {
      }
    }
    choose_ptx(binary, 9, 0);
  } catch (const BadFatBinary&) {
  }
  return 0;
}
