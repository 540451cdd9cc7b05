// SPDX-License-Identifier: Apache-2.0
// For libFuzzer: any bytes as a fat binary are read, or refused by BadFatBinary; any bytes as
// machine code have registers, or none. Without a corpus it begins with containers of its own:
//   build/fuzz/bin/fat_binary_fuzzer -max_len=2000 -runs=10000000
#include <elf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <span>

#include "ptx/cuda/machine_code.hpp"
#include "ptx/cuda/targets.hpp"
#include "tests/gpu/ptx/cuda/fat_bytes.hpp"

using namespace plumbline::ptx::cuda;
using namespace plumbline::test;

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using Random = std::minstd_rand;

constexpr std::size_t header_bytes = 16, entry_header_bytes = 64;

struct Told {
  unsigned long long inputs = 0, read = 0, with_ptx = 0, with_registers = 0;
  ~Told() {
    std::fprintf(stderr, "%llu inputs: %llu were read, %llu had PTX, %llu registers\n", inputs,
                 read, with_ptx, with_registers);
  }
};
Told told;

void read(std::span<const std::byte> bytes) {
  ++told.inputs;
  bool registers =
      !registers_in({reinterpret_cast<const char*>(bytes.data()), bytes.size()}).empty();
  try {
    const FatBinary binary = read_fat_binary(bytes);
    ++told.read;
    bool ptx = false;
    for (const PtxEntry& entry : binary.ptx) {
      // The text of each target alone, too.
      try {
        ptx |= target_of(entry.text()).has_value();
      } catch (const BadFatBinary&) {
      }
    }
    told.with_ptx += ptx;
    for (const PtxEntry& entry : binary.machine_code_files) {
      try {
        registers |= !registers_in(entry.bytes()).empty();
      } catch (const BadFatBinary&) {
      }
    }
    choose_ptx(binary, 9, 0);
  } catch (const BadFatBinary&) {
  }
  told.with_registers += registers;
}

Packed any_packing(Random& random) { return static_cast<Packed>(random() % 3); }

/// A container of PTX and machine code, packed in one way or another.
Bytes fresh(Random& random) {
  constexpr std::array targets = {"sm_75", "sm_80", "sm_90a", "sm_100f", "sm_1", "sm_90 "};
  std::vector<Bytes> entries;
  for (auto count = random() % 3 + 1; count > 0; --count) {
    EntryFields fields;
    fields.architecture = random() % 100;
    fields.packed = any_packing(random);
    fields.kind = random() % 2 + 1;
    if (random() % 8 == 0) fields.claimed_size = random() % 4 ? random() % 2000 : random();
    std::string text = machine_code("k", 40);
    if (fields.kind == 1)
      text = std::string("// a\n.version 8.0\n.target ") + targets[random() % targets.size()] +
             ", debug\n.address_size 64\n" + std::string(random() % 64, '\0');
    if (random() % 2) {  // changed before it is packed
      const std::size_t size = text.size();
      text.resize(size + 64);
      text.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), size, size + 64));
    }
    entries.push_back(entry(text, fields));
  }
  return container(entries);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read(std::as_bytes(std::span(data, size)));
  return 0;
}

/// Often the sizes of the container and of its first entry are made right again, since what
/// follows a wrong one is not read.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned int seed) {
  Random random(seed);
  if (size < header_bytes + entry_header_bytes || random() % 32 == 0) {
    const std::string code = machine_code("kernel", 32);
    const Bytes bytes = random() % 4 ? fresh(random) : bytes_of(code);
    if (bytes.size() > max_size) return size;
    std::memcpy(data, bytes.data(), bytes.size());
    return bytes.size();
  }
  size = LLVMFuzzerMutate(data, size, max_size);
  if (size < header_bytes + entry_header_bytes || random() % 4 == 0) return size;
  const std::uint64_t rest = size - header_bytes;
  std::memcpy(data + 8, &rest, sizeof rest);
  return size;
}
