// SPDX-License-Identifier: Apache-2.0
#include "ptx/cuda/fat_binary.hpp"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace plumbline::ptx::cuda {
namespace {

constexpr std::uint32_t wrapper_magic = 0x466243b1, container_magic = 0xba55ed50;

/// In memory, as __cudaRegisterFatBinary gets it.
struct Wrapper {
  std::uint32_t magic, version;  ///< 2 of -rdc=true
  const void* container;
  const void* to_link;
};

struct ContainerHeader {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t bytes;  ///< after the header
};
static_assert(sizeof(ContainerHeader) == 16);

struct EntryHeader {
  std::uint16_t kind, version;
  std::uint32_t header_bytes;
  std::uint64_t bytes;         ///< after the header, filled up to a multiple of 8
  std::uint32_t packed_bytes;  ///< 0 of what is not packed
  std::uint32_t options_offset;
  std::uint16_t code_minor, code_major;  ///< of PTX its version
  std::uint32_t architecture;
  std::uint32_t name_offset, name_bytes;
  std::uint64_t flags;
  std::uint64_t unknown;
  std::uint64_t unpacked_bytes;  ///< 0 of what is not packed
};
static_assert(sizeof(EntryHeader) == 64);

enum Kind : std::uint16_t { kind_ptx = 1, kind_machine_code = 2 };
enum Flag : std::uint64_t { flag_lz4 = 0x2000, flag_zstd = 0x8000 };

/// The header at the front of the bytes, which are at least as many as it says it has itself.
template <class Header>
Header header_of(std::span<const std::byte> bytes, const char* what) {
  Header header;
  if (bytes.size() < sizeof header) {
    throw DamagedFatBinary(std::string("a fat binary ends within ") + what);
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.header_bytes < sizeof header || header.header_bytes > bytes.size()) {
    throw DamagedFatBinary(std::string("a fat binary has ") + what + " of " +
                           std::to_string(header.header_bytes) + " bytes");
  }
  return header;
}

ContainerHeader container_header(std::span<const std::byte> bytes) {
  const auto header = header_of<ContainerHeader>(bytes, "a header");
  if (header.magic != container_magic) throw DamagedFatBinary("these bytes are no fat binary");
  return header;
}

PtxEntry ptx_entry(const EntryHeader& header, std::span<const std::byte> payload) {
  PtxEntry entry;
  entry.architecture = header.architecture;
  const bool lz4 = header.flags & flag_lz4, zstd = header.flags & flag_zstd;
  if (!lz4 && !zstd) {
    entry.stored = payload;
    entry.size = payload.size();
    return entry;
  }
  if ((lz4 && zstd) || header.packed_bytes > payload.size()) {
    throw DamagedFatBinary("a fat binary's PTX is compressed in a way that cannot be");
  }
  entry.packing = lz4 ? PtxEntry::Packing::lz4 : PtxEntry::Packing::zstd;
  entry.stored = payload.first(header.packed_bytes);
  entry.size = header.unpacked_bytes;
  return entry;
}

}  // namespace

std::string PtxEntry::bytes() const {
  if (size > most_ptx_bytes || stored.size() > most_ptx_bytes) {
    throw DamagedFatBinary("a fat binary's PTX has " + std::to_string(size) +
                           " bytes; the most are " + std::to_string(most_ptx_bytes));
  }
  const auto* from = reinterpret_cast<const char*>(stored.data());
  if (packing == Packing::none) return {from, size};
  // Not zeroed first: the size is only claimed.
  const auto into = std::make_unique_for_overwrite<char[]>(size + 1);
  std::uint64_t got = 0;
  if (packing == Packing::lz4) {
    const int count = LZ4_decompress_safe(from, into.get(), static_cast<int>(stored.size()),
                                          static_cast<int>(size));
    got = count < 0 ? size + 1 : static_cast<std::uint64_t>(count);
  } else {
    const std::size_t count = ZSTD_decompress(into.get(), size, from, stored.size());
    got = ZSTD_isError(count) ? size + 1 : count;
  }
  if (got != size) throw DamagedFatBinary("a fat binary's PTX cannot be decompressed");
  return {into.get(), size};
}

std::string PtxEntry::text() const {
  std::string all = bytes();
  all.resize(std::min(all.size(), all.find('\0')));
  return all;
}

FatBinary read_fat_binary(std::span<const std::byte> container) {
  const ContainerHeader header = container_header(container);
  auto rest = container.subspan(header.header_bytes);
  if (header.bytes > rest.size()) throw DamagedFatBinary("a fat binary ends too soon");
  rest = rest.first(header.bytes);
  FatBinary result;
  while (!rest.empty()) {
    const auto entry = header_of<EntryHeader>(rest, "an entry's header");
    rest = rest.subspan(entry.header_bytes);
    if (entry.bytes > rest.size()) throw DamagedFatBinary("a fat binary ends within an entry");
    const auto payload = rest.first(entry.bytes);
    rest = rest.subspan(entry.bytes);
    if (entry.kind == kind_ptx) result.ptx.push_back(ptx_entry(entry, payload));
    if (entry.kind == kind_machine_code) {
      result.machine_code.push_back(entry.architecture);
      try {
        result.machine_code_files.push_back(ptx_entry(entry, payload));
      } catch (const BadFatBinary&) {  // nothing that a launch needs
      }
    }
  }
  return result;
}

std::span<const std::byte> container_at(const void* given) {
  const auto* bytes = static_cast<const std::byte*>(given);
  ContainerHeader header;
  std::memcpy(&header, bytes, sizeof header);
  if (header.magic != container_magic || header.header_bytes < sizeof header) {
    throw DamagedFatBinary("these bytes are no fat binary");
  }
  return {bytes, header.header_bytes + static_cast<std::size_t>(header.bytes)};
}

std::span<const std::byte> registered_container(const void* given) {
  Wrapper wrapper;
  std::memcpy(&wrapper, given, sizeof wrapper);
  if (wrapper.magic != wrapper_magic)
    throw DamagedFatBinary("what was registered is no fat binary");
  if (wrapper.version != 1) {
    throw BadFatBinary(
        "what was registered is to be linked when the program starts; compile without -rdc=true");
  }
  return container_at(wrapper.container);
}

}  // namespace plumbline::ptx::cuda
