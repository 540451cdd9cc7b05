// SPDX-License-Identifier: Apache-2.0
// Fat binaries made by hand, right ones and hostile ones; those of nvcc are in
// fat_binary_of_nvcc.cpp.
#include "ptx/cuda/fat_binary.hpp"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <random>

#include "ptx/cuda/targets.hpp"
#include "tests/gpu/ptx/cuda/fat_bytes.hpp"

using namespace plumbline::ptx::cuda;
using namespace plumbline::test;

namespace {

const std::string ptx = "\n.version 8.0\n.target sm_80\n.address_size 64\n" +
                        std::string(500, ' ') + ".visible .entry nothing() { ret; }\n";

std::string ptx_for(const std::string& target) {
  return ".version 9.0 // .target sm_20\n/* .target sm_30 */ .target " + target +
         "\n.address_size 64\n";
}

/// Reads all of it. What goes beyond the bytes' end is found by the address sanitizer, and often
/// without it.
void read(const Bytes& bytes) {
  const std::unique_ptr<std::byte[]> exact(new std::byte[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), exact.get());
  const FatBinary binary = read_fat_binary({exact.get(), bytes.size()});
  for (const PtxEntry& entry : binary.ptx) (void)entry.text();
  choose_ptx(binary, 9, 0);
}

std::string refusal(const auto& function) {
  try {
    function();
  } catch (const BadFatBinary& bad) {
    return bad.what();
  }
  return "";
}

ChosenPtx chosen(const std::vector<Bytes>& entries, int major, int minor) {
  const Bytes bytes = container(entries);
  return choose_ptx(read_fat_binary(bytes), major, minor);
}

template <class Number>
Bytes with(Bytes bytes, std::size_t at, Number number) {
  std::memcpy(bytes.data() + at, &number, sizeof number);
  return bytes;
}

constexpr std::size_t first_entry = 16;

}  // namespace

BOOST_AUTO_TEST_CASE(ptx_is_read_however_it_is_packed) {
  for (const Packed packed : {Packed::no, Packed::lz4, Packed::zstd}) {
    const Bytes bytes = container({entry("machine code", {.kind = 2, .architecture = 90}),
                                   entry(ptx, {.architecture = 86, .packed = packed})});
    const FatBinary binary = read_fat_binary(bytes);
    BOOST_REQUIRE(binary.ptx.size() == 1);
    BOOST_TEST(binary.ptx[0].architecture == 86U);
    BOOST_TEST(binary.ptx[0].text() == ptx);
    BOOST_TEST(binary.machine_code == std::vector<std::uint32_t>{90},
               boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(the_highest_target_that_the_device_has_is_chosen) {
  const auto entries = [](std::initializer_list<const char*> targets) {
    std::vector<Bytes> all;
    for (const std::string target : targets) {
      EntryFields fields;
      fields.architecture = static_cast<std::uint32_t>(std::stoi(target.substr(3)));
      fields.packed = Packed::zstd;
      all.push_back(entry(ptx_for(target), fields));
    }
    return all;
  };
  const auto all = entries({"sm_75", "sm_90a", "sm_80", "sm_90", "sm_100f", "sm_120"});
  BOOST_TEST(chosen(all, 7, 5).target.name() == "sm_75");
  BOOST_TEST(chosen(all, 8, 0).target.name() == "sm_80");
  BOOST_TEST(chosen(all, 8, 9).target.name() == "sm_80");
  BOOST_TEST(chosen(all, 9, 0).target.name() == "sm_90a");
  BOOST_TEST(chosen(all, 10, 0).target.name() == "sm_100f");
  BOOST_TEST(chosen(all, 10, 3).target.name() == "sm_100f");
  // Neither one architecture's nor one family's own PTX runs on a later one.
  BOOST_TEST(chosen(all, 11, 0).target.name() == "sm_90");
  BOOST_TEST(chosen(all, 9, 0).text == ptx_for("sm_90a"));
}

BOOST_AUTO_TEST_CASE(without_ptx_for_the_device_the_flag_that_makes_it_is_named) {
  const Bytes code90 = entry("", {.kind = 2, .architecture = 90});
  BOOST_TEST(refusal([&] { chosen({code90}, 9, 0); }) ==
             "it has machine code for sm_90 and no PTX: add PTX by the option -gencode "
             "arch=compute_80,code=compute_80 of nvcc");
  BOOST_TEST(refusal([&] {
               chosen({code90, entry(ptx_for("sm_100"), {.architecture = 100}),
                       entry(ptx_for("sm_90a"), {.architecture = 90})},
                      8, 0);
             }) ==
             "it has PTX for compute_100 and compute_90, and this device is sm_80: add PTX by the "
             "option -gencode arch=compute_80,code=compute_80 of nvcc");
  BOOST_TEST(refusal([&] { chosen({entry(ptx_for("sm_80a"), {.architecture = 80})}, 9, 0); }) ==
             "it has PTX for compute_80a, and this device is sm_90: add PTX by the option -gencode "
             "arch=compute_80,code=compute_80 of nvcc");
  BOOST_TEST(refusal([&] {
               chosen({code90}, 7, 5);
             }).ends_with("-gencode arch=compute_75,code=compute_75 of nvcc"));
  BOOST_TEST(refusal([&] { chosen({}, 9, 0); }) == "its fat binary is empty");
  BOOST_TEST(refusal([&] { chosen({entry("// .target sm_80\n")}, 9, 0); }) ==
             "PTX of a fat binary has no .target that can be read");
}

BOOST_AUTO_TEST_CASE(what_contradicts_itself_is_refused) {
  const Bytes good = container({entry(ptx, {.packed = Packed::zstd})});
  read(good);
  BOOST_TEST(refusal([&] { read({}); }) == "a fat binary ends within a header");
  BOOST_TEST(refusal([&] { read(with(good, 0, std::uint32_t{0x466243b1})); }) ==
             "these bytes are no fat binary");
  BOOST_TEST(refusal([&] { read(with(good, 6, std::uint16_t{8})); }) ==
             "a fat binary has a header of 8 bytes");
  for (const std::uint64_t size : {std::uint64_t{good.size()}, ~std::uint64_t{0}}) {
    BOOST_TEST(refusal([&] { read(with(good, 8, size)); }) == "a fat binary ends too soon");
    BOOST_TEST(refusal([&] { read(with(good, first_entry + 8, size)); }) ==
               "a fat binary ends within an entry");
  }
  for (const std::uint32_t header : {0U, 63U, 0xffffffffU}) {
    BOOST_TEST(refusal([&] {
                 read(with(good, first_entry + 4, header));
               }).starts_with("a fat binary has an entry's header of "));
  }
  BOOST_TEST(refusal([&] { read(with(good, first_entry + 16, 0xffffffffU)); }) ==
             "a fat binary's PTX is compressed in a way that cannot be");
  BOOST_TEST(refusal([&] { read(with(good, first_entry + 40, std::uint64_t{0xa011})); }) ==
             "a fat binary's PTX is compressed in a way that cannot be");
  BOOST_TEST(refusal([&] { read(with(good, first_entry + 56, most_ptx_bytes + 1)); }) ==
             "a fat binary's PTX has 268435457 bytes; the most are 268435456");
}

BOOST_AUTO_TEST_CASE(a_wrong_size_of_the_text_is_refused) {
  for (const Packed packed : {Packed::lz4, Packed::zstd}) {
    for (const std::uint64_t size : {ptx.size() - 1, ptx.size() + 1, std::size_t{1}}) {
      const Bytes bytes = container({entry(ptx, {.packed = packed, .claimed_size = size})});
      BOOST_TEST(refusal([&] { read(bytes); }) == "a fat binary's PTX cannot be decompressed");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_cut_or_changed_fat_binary_is_refused_or_read_and_nothing_else) {
  for (const Packed packed : {Packed::no, Packed::lz4, Packed::zstd}) {
    const Bytes good = container({entry("code", {.kind = 2, .architecture = 90}),
                                  entry(ptx, {.packed = packed}), entry(ptx_for("sm_90a"))});
    for (std::size_t size = 0; size < good.size(); ++size) {
      BOOST_TEST(refusal([&] { read({good.begin(), good.begin() + size}); }) != "");
    }
    std::mt19937_64 random(1);
    for (int n = 0; n < 20000; ++n) {
      Bytes bytes = good;
      for (auto changes = random() % 4; changes + 1 > 0; --changes) {
        bytes[random() % bytes.size()] = static_cast<std::byte>(random());
      }
      refusal([&] { read(bytes); });
    }
  }
}

BOOST_AUTO_TEST_CASE(what_a_program_registers_is_found_through_its_wrapper) {
  const Bytes bytes = container({entry(ptx)});
  Wrapper wrapper;
  wrapper.container = bytes.data();
  BOOST_TEST(registered_container(&wrapper).size() == bytes.size());
  wrapper.version = 2;
  BOOST_TEST(refusal([&] { registered_container(&wrapper); }).ends_with("without -rdc=true"));
  wrapper.magic = 1;
  BOOST_TEST(refusal([&] { registered_container(&wrapper); }) ==
             "what was registered is no fat binary");
}
