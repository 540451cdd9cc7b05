// SPDX-License-Identifier: Apache-2.0
// Fat binaries as nvcc writes them: with every compression that it has, the text is the one that
// nvcc -ptx gives. Skipped, and says so, where there is no nvcc.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "ptx/cuda/targets.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace plumbline::ptx::cuda;
using plumbline::test::TemporaryFolder;

namespace {

const std::string nvcc = PLUMBLINE_NVCC;

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Without comments, indentation and further blanks, as nvcc writes PTX into fat binaries: lines
/// stay.
std::string condensed(const std::string& text) {
  std::istringstream lines(text);
  std::string line, result;
  while (std::getline(lines, line)) {
    std::istringstream words(line.substr(0, line.find("//")));
    std::string word, all;
    while (words >> word) all += (all.empty() ? "" : " ") + word;
    result += all + "\n";
  }
  return result;
}

/// What nvcc makes of the kernel with these options.
std::string made(const std::string& options) {
  const TemporaryFolder folder;
  const auto source = folder / "kernel.cu", output = folder / "kernel.out";
  std::ofstream(source) << "__global__ void twice(float* x) {\n"
                           "  for (int i = 0; i < 100; ++i) x[i * threadIdx.x] *= 2;\n}\n";
  const std::string command =
      nvcc + " " + options + " -o " + output.string() + " " + source.string() + " >&2";
  BOOST_REQUIRE(std::system(command.c_str()) == 0);
  return contents(output);
}

FatBinary read(const std::string& bytes) {
  return read_fat_binary(std::as_bytes(std::span(bytes)));
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_text_is_that_of_nvcc_with_every_compression) {
  if (nvcc.empty()) {
    std::puts("skipped: there is no nvcc");
    return;
  }
  const std::string expected = condensed(made("-ptx -arch=compute_80"));
  BOOST_TEST_REQUIRE(expected.find("twice") != expected.npos);
  const std::pair<const char*, PtxEntry::Packing> modes[] = {{"none", PtxEntry::Packing::none},
                                                             {"speed", PtxEntry::Packing::lz4},
                                                             {"balance", PtxEntry::Packing::zstd},
                                                             {"size", PtxEntry::Packing::zstd}};
  for (const auto& [mode, packing] : modes) {
    const std::string bytes =
        made("-fatbin -gencode arch=compute_80,code=[compute_80,sm_80] --compress-mode=" +
             std::string(mode));
    const FatBinary binary = read(bytes);
    BOOST_TEST_REQUIRE(binary.ptx.size() == 1U);
    BOOST_TEST((binary.ptx[0].packing == packing), mode);
    BOOST_TEST(binary.machine_code == std::vector<std::uint32_t>{80},
               boost::test_tools::per_element());
    BOOST_TEST((condensed(choose_ptx(binary, 9, 0).text) == expected), mode);
  }
}

BOOST_AUTO_TEST_CASE(targets_are_those_that_nvcc_was_asked_for) {
  if (nvcc.empty()) return;
  const std::string bytes = made(
      "-fatbin -gencode arch=compute_80,code=compute_80 -gencode arch=compute_90a,code=compute_90a "
      "-gencode arch=compute_100f,code=compute_100f");
  const FatBinary binary = read(bytes);
  BOOST_TEST(choose_ptx(binary, 8, 6).target.name() == "sm_80");
  BOOST_TEST(choose_ptx(binary, 9, 0).target.name() == "sm_90a");
  BOOST_TEST(choose_ptx(binary, 10, 0).target.name() == "sm_100f");
  BOOST_TEST(choose_ptx(binary, 12, 0).target.name() == "sm_80");
}
