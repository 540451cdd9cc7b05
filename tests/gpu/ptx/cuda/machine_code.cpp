// SPDX-License-Identifier: Apache-2.0
// Registers in a file as ptxas makes it, put together by hand; and in files that end too soon.
#include "ptx/cuda/machine_code.hpp"

#include <elf.h>

#include <boost/test/unit_test.hpp>
#include <cstring>

using namespace plumbline::ptx::cuda;

namespace {

template <class T>
void append(std::string& to, const T& value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// Kernels "one" with 40 and "two" with 168 registers.
std::string file() {
  const std::string names("\0.names\0.nv.info\0.symbols\0one\0two\0", 35);
  std::string symbols, info;
  for (const std::uint32_t name : {0u, 26u, 30u}) {
    Elf64_Sym symbol{};
    symbol.st_name = name;
    append(symbols, symbol);
  }
  const auto attribute = [&](unsigned format, unsigned kind, unsigned value) {
    append(info, static_cast<std::uint8_t>(format));
    append(info, static_cast<std::uint8_t>(kind));
    append(info, static_cast<std::uint16_t>(value));
  };
  attribute(3, 0x1b, 0xff);  // a value without more
  attribute(4, 0x2f, 8);
  append(info, 1u), append(info, 40u);
  attribute(4, 0x11, 12);  // of another kind, with what looks like registers
  append(info, 0x00082f04u), append(info, 1u), append(info, 7u);
  attribute(4, 0x2f, 8);
  append(info, 2u), append(info, 168u);

  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_shoff = sizeof header;
  header.e_shnum = 4;
  header.e_shstrndx = 1;
  std::string all;
  append(all, header);
  std::uint64_t place = sizeof header + 4 * sizeof(Elf64_Shdr);
  const auto section = [&](std::uint32_t name, std::uint32_t type, const std::string& content) {
    Elf64_Shdr one{};
    one.sh_name = name;
    one.sh_type = type;
    one.sh_offset = place;
    one.sh_size = content.size();
    one.sh_link = 1;
    append(all, one);
    place += content.size();
  };
  section(0, SHT_NULL, "");
  section(1, SHT_STRTAB, names);
  section(8, 0x70000000, info);
  section(17, SHT_SYMTAB, symbols);
  return all + names + info + symbols;
}

}  // namespace

BOOST_AUTO_TEST_CASE(registers_are_those_of_the_attributes) {
  const auto registers = registers_in(file());
  BOOST_TEST(registers.size() == 2u);
  BOOST_TEST(registers.at("one") == 40u);
  BOOST_TEST(registers.at("two") == 168u);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_read_has_none) {
  const std::string whole = file();
  BOOST_TEST(registers_in("").empty());
  BOOST_TEST(registers_in(std::string(200, 'x')).empty());
  for (std::size_t size = 0; size < whole.size(); ++size)
    BOOST_TEST(registers_in(whole.substr(0, size)).size() <= 2u);
  // Every byte in turn another one: places and sizes beyond the end among them.
  for (std::size_t i = 0; i < whole.size(); ++i)
    for (const char byte : {'\xff', '\x7f', '\0'}) {
      std::string changed = whole;
      changed[i] = byte;
      BOOST_TEST(registers_in(changed).size() <= 2u);
    }
}
