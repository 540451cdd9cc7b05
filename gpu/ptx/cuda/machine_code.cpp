// SPDX-License-Identifier: Apache-2.0
#include "ptx/cuda/machine_code.hpp"

#include <elf.h>

#include <cstring>
#include <optional>
#include <vector>

namespace plumbline::ptx::cuda {
namespace {

constexpr std::uint8_t with_size = 4, register_count = 0x2f;  ///< an attribute's format, its kind

/// A value at a place of the bytes, if they reach so far.
template <class T>
std::optional<T> at(std::string_view bytes, std::uint64_t place) {
  if (place > bytes.size() || bytes.size() - place < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + place, sizeof value);
  return value;
}

std::string_view part(std::string_view bytes, std::uint64_t place, std::uint64_t size) {
  if (place > bytes.size() || bytes.size() - place < size) return {};
  return bytes.substr(place, size);
}

std::string_view text(std::string_view strings, std::uint64_t place) {
  if (place >= strings.size()) return {};
  return strings.substr(place, strings.find('\0', place) - place);
}

}  // namespace

std::map<std::string, std::uint32_t> registers_in(std::string_view cubin) {
  std::map<std::string, std::uint32_t> registers;
  const auto header = at<Elf64_Ehdr>(cubin, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return registers;
  std::vector<Elf64_Shdr> sections;
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto one = at<Elf64_Shdr>(cubin, header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!one) return registers;
    sections.push_back(*one);
  }
  const auto content = [&](std::size_t i) {
    return i < sections.size() ? part(cubin, sections[i].sh_offset, sections[i].sh_size)
                               : std::string_view{};
  };
  const std::string_view names = content(header->e_shstrndx);
  std::string_view attributes, symbols, symbol_names;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (text(names, sections[i].sh_name) == ".nv.info") attributes = content(i);
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    symbols = content(i);
    symbol_names = content(sections[i].sh_link);
  }
  // Format, kind, and a value of 16 bits: in one format the size of what follows.
  for (std::uint64_t place = 0; const auto size = at<std::uint16_t>(attributes, place + 2);) {
    const auto format = static_cast<std::uint8_t>(attributes[place]);
    const auto kind = static_cast<std::uint8_t>(attributes[place + 1]);
    place += 4;
    if (format != with_size) continue;
    const auto symbol = at<std::uint32_t>(attributes, place);
    const auto count = at<std::uint32_t>(attributes, place + 4);
    place += *size;
    if (kind != register_count || *size != 8 || !symbol || !count) continue;
    const auto known = at<Elf64_Sym>(symbols, std::uint64_t{*symbol} * sizeof(Elf64_Sym));
    if (!known) continue;
    const std::string_view name = text(symbol_names, known->st_name);
    if (!name.empty() && *count <= 256) registers[std::string(name)] = *count;
  }
  return registers;
}

}  // namespace plumbline::ptx::cuda
