// SPDX-License-Identifier: Apache-2.0
// Fat binaries made by hand, byte by byte as nvcc 13 writes them (cuobjdump and a hex dump of
// .nv_fatbin show them).
#pragma once

#include <elf.h>
#include <lz4.h>
#include <zstd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace plumbline::test {

using Bytes = std::vector<std::byte>;

template <class Number>
void put(Bytes& bytes, Number number) {
  const auto* raw = reinterpret_cast<const std::byte*>(&number);
  bytes.insert(bytes.end(), raw, raw + sizeof number);
}

inline Bytes bytes_of(const std::string& text) {
  const auto* raw = reinterpret_cast<const std::byte*>(text.data());
  return {raw, raw + text.size()};
}

enum class Packed { no, lz4, zstd };

struct EntryFields {
  std::uint16_t kind = 1;  // PTX; 2 is machine code
  std::uint32_t architecture = 80;
  Packed packed = Packed::no;
  std::uint64_t claimed_size = 0;  // of the text; 0: its own
};

/// An entry with a header of 80 bytes: 64 that are always there, and 16 of options.
inline Bytes entry(const std::string& text, const EntryFields& fields = {}) {
  Bytes payload = bytes_of(text);
  const auto size = static_cast<int>(text.size());
  if (fields.packed == Packed::lz4) {
    payload.resize(static_cast<std::size_t>(LZ4_compressBound(size)));
    auto* to = reinterpret_cast<char*>(payload.data());
    payload.resize(static_cast<std::size_t>(
        LZ4_compress_default(text.data(), to, size, static_cast<int>(payload.size()))));
  } else if (fields.packed == Packed::zstd) {
    payload.resize(ZSTD_compressBound(text.size()));
    payload.resize(ZSTD_compress(payload.data(), payload.size(), text.data(), text.size(), 3));
  }
  const bool is_packed = fields.packed != Packed::no;
  const auto stored = static_cast<std::uint32_t>(payload.size());
  payload.resize((payload.size() + 7) / 8 * 8);
  Bytes bytes;
  put<std::uint16_t>(bytes, fields.kind);
  put<std::uint16_t>(bytes, 0x101);
  put<std::uint32_t>(bytes, 80);
  put<std::uint64_t>(bytes, payload.size());
  put<std::uint32_t>(bytes, is_packed ? stored : 0);
  put<std::uint32_t>(bytes, 64);
  put<std::uint16_t>(bytes, 0);
  put<std::uint16_t>(bytes, 9);
  put<std::uint32_t>(bytes, fields.architecture);
  put<std::uint64_t>(bytes, 0);
  put<std::uint64_t>(bytes, 0x11 | (fields.packed == Packed::lz4    ? 0x2000
                                    : fields.packed == Packed::zstd ? 0x8000
                                                                    : 0));
  put<std::uint64_t>(bytes, 0);
  const std::uint64_t unpacked = fields.claimed_size ? fields.claimed_size : text.size();
  put<std::uint64_t>(bytes, is_packed ? unpacked : 0);
  put<std::uint64_t>(bytes, 72);
  put<std::uint64_t>(bytes, 0);
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

inline Bytes container(const std::vector<Bytes>& entries) {
  Bytes body;
  for (const Bytes& one : entries) body.insert(body.end(), one.begin(), one.end());
  Bytes bytes;
  put<std::uint32_t>(bytes, 0xba55ed50);
  put<std::uint16_t>(bytes, 1);
  put<std::uint16_t>(bytes, 16);
  put<std::uint64_t>(bytes, body.size());
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

/// An ELF file as registers_in() reads it: of a kernel, which has so many registers.
inline std::string machine_code(const std::string& kernel, std::uint32_t registers) {
  const std::string names = std::string("\0.nv.info\0", 10) + kernel + '\0';
  const Elf64_Sym symbols[2] = {
      {}, {.st_name = 10, .st_info = 0, .st_other = 0, .st_shndx = 0, .st_value = 0, .st_size = 0}};
  Bytes info;
  for (const std::uint32_t word : {0x00082f04u, 1u, registers}) put(info, word);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_shnum = 3;
  header.e_shoff = sizeof header;
  Elf64_Shdr sections[3] = {};
  std::uint64_t at = sizeof header + sizeof sections;
  const auto place = [&](Elf64_Shdr& section, std::size_t bytes) {
    section.sh_offset = at;
    section.sh_size = bytes;
    at += bytes;
  };
  place(sections[0], names.size());
  sections[1].sh_name = 1;
  place(sections[1], info.size());
  sections[2].sh_type = SHT_SYMTAB;
  place(sections[2], sizeof symbols);
  std::string all(reinterpret_cast<const char*>(&header), sizeof header);
  all.append(reinterpret_cast<const char*>(sections), sizeof sections).append(names);
  all.append(reinterpret_cast<const char*>(info.data()), info.size());
  return all.append(reinterpret_cast<const char*>(symbols), sizeof symbols);
}

/// What a program hands to __cudaRegisterFatBinary.
struct Wrapper {
  std::uint32_t magic = 0x466243b1, version = 1;
  const void* container = nullptr;
  const void* to_link = nullptr;
};

}  // namespace plumbline::test
