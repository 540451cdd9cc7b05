// SPDX-License-Identifier: Apache-2.0
// Libraries as nvcc makes them, on the software device. Skipped, and says so, where there is no
// nvcc.
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "tests/cli/program.hpp"

BOOST_AUTO_TEST_SUITE(software_device_nvcc_test)

using namespace plumbline;

namespace {

const std::string nvcc = PLUMBLINE_NVCC, sources = SOURCES;

bool has_nvcc() {
  if (nvcc.empty()) std::puts("skipped: there is no nvcc");
  return !nvcc.empty();
}

/// The library that nvcc makes of the source with these options.
std::string made(const test::TemporaryFolder& folder, const std::string& source,
                 const std::string& options = "-cudart shared -lineinfo") {
  const std::string library = (folder / "libmine.so").string();
  const auto run = test::run(nvcc, "-O2 -shared -Xcompiler -fPIC " + options + " -I " + sources +
                                       "/kernel_abi " + sources + "/" + source + " -o " + library);
  BOOST_TEST_REQUIRE(run.status == 0, run.err);
  return library;
}

test::ProgramRun verify(const std::string& library, int cases) {
  return test::plumbline("verify --kernel " + library + " --device software --cases " +
                         std::to_string(cases));
}

const std::string example = "docs/examples/attention.cu";
const std::string shared = "tests/verdict/process/shared_attention.cu";

/// Whether the text names one of the source's lines that end with this comment.
bool names_line_of(const std::string& text, const std::string& comment) {
  std::istringstream lines(test::text_of(sources + "/" + shared));
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string place = "shared_attention.cu:" + std::to_string(number);
    if (line.ends_with("// " + comment) && text.find(place) != text.npos) return true;
  }
  return false;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_example_in_cuda_passes_without_a_gpu) {
  if (!has_nvcc()) return;
  const test::TemporaryFolder folder;
  const auto run = verify(made(folder, example), 20);
  BOOST_TEST(run.status == 0, run.out << run.err);
  BOOST_TEST(run.err == "");
  BOOST_TEST(run.out.find("attention_cuda   forward  alibi             fp32       20") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_missing_barrier_is_named_with_its_line) {
  if (!has_nvcc()) return;
  const test::TemporaryFolder folder;
  const auto right = verify(made(folder, shared), 10);
  BOOST_TEST(right.status == 0, right.out << right.err);
  const auto run = verify(made(folder, shared, "-cudart shared -lineinfo -DWITHOUT_BARRIER"), 10);
  BOOST_TEST(run.status == 1);
  BOOST_TEST(run.out.find("the software device stopped the kernel: ") != std::string::npos);
  BOOST_TEST((names_line_of(run.out, "fills") || names_line_of(run.out, "reads")), run.out);
}

BOOST_AUTO_TEST_CASE(libraries_of_nvcc_that_the_device_cannot_run_are_told_what_to_change) {
  if (!has_nvcc()) return;
  const test::TemporaryFolder folder;
  const auto fixed = verify(made(folder, example, "-cudart static"), 1);
  BOOST_TEST(fixed.status == 2);
  BOOST_TEST(fixed.err.find("-cudart shared") != std::string::npos);
  const auto code =
      verify(made(folder, example, "-cudart shared -gencode arch=compute_90,code=sm_90"), 1);
  BOOST_TEST(code.status == 2);
  BOOST_TEST(code.err.find("-gencode arch=compute_80,code=compute_80") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
