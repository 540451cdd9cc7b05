// SPDX-License-Identifier: Apache-2.0
// Kernels of device_kernels.c, which take pointers to device memory, on a driver that stands in for
// CUDA's: each is reported as what it does.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <fstream>

#include "support/error.hpp"
#include "tests/support/temporary_folder.hpp"
#include "verdict/property/property.hpp"

BOOST_AUTO_TEST_SUITE(device_memory_test)

using namespace plumbline;
using verdict::Outcome;

namespace {

verdict::KernelLibrary library() {
  setenv("LD_LIBRARY_PATH", STAND_IN, 1);  // of the kernels' process, from its start
  return verdict::isolate_kernel_library(KERNEL_HOST, DEVICE_KERNELS, 60);
}

const verdict::Kernel& kernel(const verdict::KernelLibrary& library, const std::string& name) {
  for (const auto& kernel : library.kernels) {
    if (kernel.name() == name) return kernel;
  }
  throw std::logic_error("no kernel " + name);
}

/// 2 heads of 3 positions and 10 numbers: o has 240 bytes, lse 24, the slopes 8.
cases::Spec small_spec() {
  cases::Spec spec;
  spec.seed = 2;  // which runs once, and after no other
  spec.bias = PLUMBLINE_ALIBI;
  spec.heads = spec.kv_heads = 2;
  spec.queries = spec.keys = 3;
  spec.head_dim = 10;
  return spec;
}

/// In one process, as a run has it: the right kernel after each wrong one.
void expect(const std::string& name, const std::string& kind, const std::string& words) {
  static const verdict::KernelLibrary all = library();
  BOOST_TEST_CONTEXT(name) {
    const auto found = verdict::check_spec(kernel(all, name), small_spec(), 1);
    BOOST_REQUIRE(found.counterexample.has_value());
    const auto& judgement = found.counterexample->judgement;
    BOOST_TEST((found.outcome == Outcome::fail));
    BOOST_TEST(judgement.kind == kind);
    BOOST_TEST((judgement.failure.empty() ? judgement.remark : judgement.failure) == words);
    BOOST_TEST(!judgement.device_lost);
    const auto next = verdict::check_spec(kernel(all, "right"), small_spec(), 1);
    BOOST_TEST((next.outcome == Outcome::pass));
  }
}

/// The words of what loading the library, or a run of the right kernel, throws.
std::string lacking(const verdict::Kernel* kernel = nullptr) {
  try {
    kernel ? (void)verdict::check_spec(*kernel, small_spec(), 1) : (void)library();
  } catch (const MachineLacks& error) {
    return error.what();
  }
  return "";
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_right_kernel_passes_whatever_the_size) {
  const auto all = library();
  const auto result =
      verdict::check_cell(kernel(all, "right"), cases::Pass::forward, PLUMBLINE_ALIBI,
                          cases::Format::fp32, 20, 1, 2, [](int) {});
  BOOST_TEST((result.outcome == Outcome::pass));
  BOOST_TEST(result.cases == 20);
}

BOOST_AUTO_TEST_CASE(what_a_kernel_does_to_device_memory_is_told_by_array_and_byte) {
  expect("writes_beyond_o", "wrote_outside",
         "the kernel wrote outside o: first at byte 240 from its start");
  // Over lse and its margins, too: the first array is named.
  expect("writes_far_beyond_o", "wrote_outside",
         "the kernel wrote outside o: first at byte 240 from its start");
  expect("writes_before_lse", "wrote_outside",
         "the kernel wrote outside lse: first at byte -8 from its start");
  expect("writes_beyond_slopes", "wrote_outside",
         "the kernel wrote outside slopes: first at byte 8 from its start");
  expect("changes_k", "changed_input", "the kernel changed its input k, at byte 8");
  expect("does_nothing", "not_written", "o: 60 of 60 elements were not written");
}

BOOST_AUTO_TEST_CASE(errors_of_kernel_and_device_are_told_apart) {
  expect("returns_an_error", "returned_error", "the kernel returned 1: no such launch");
  const std::string words =
      "the kernel left an error on the device: cuCtxSynchronize: an illegal memory access was "
      "encountered";
  expect("loses_the_device", "device_lost", words);
  expect("returns_an_error_and_loses_the_device", "device_lost",
         words + "; its own words: a bad launch");
}

BOOST_AUTO_TEST_CASE(without_room_on_the_device_nothing_is_judged) {
  setenv("PLUMBLINE_TEST_CUDA_BYTES", "100000", 1);
  const auto all = library();
  const auto words = lacking(&kernel(all, "right"));
  BOOST_TEST(words.starts_with(
      "the kernel's process says: device memory for the arrays of a call: cuMemAlloc_v2 of "));
  BOOST_TEST(words.ends_with(" bytes: out of memory"));
  // What a kernel has left there is gone in a fresh process.
  setenv("PLUMBLINE_TEST_CUDA_BYTES", "2000000", 1);
  const auto others = library();
  cases::Spec larger = small_spec();
  larger.head_dim = 8192;
  for (const auto& spec : {small_spec(), larger}) {
    const auto result = verdict::check_spec(kernel(others, "takes_memory"), spec, 1);
    BOOST_TEST((result.outcome == Outcome::pass));
  }
  unsetenv("PLUMBLINE_TEST_CUDA_BYTES");
}

BOOST_AUTO_TEST_CASE(without_a_driver_or_a_device_the_library_cannot_run) {
  setenv("PLUMBLINE_TEST_CUDA", "no device", 1);
  BOOST_TEST(lacking() ==
             "the kernel's process says: right takes device memory: cuInit: no CUDA-capable device "
             "is detected");
  unsetenv("PLUMBLINE_TEST_CUDA");
  const test::TemporaryFolder folder;
  std::ofstream(folder / "libcuda.so.1") << "no driver, here or further on in the search";
  setenv("LD_LIBRARY_PATH", folder.path.c_str(), 1);
  BOOST_CHECK_EXCEPTION(verdict::isolate_kernel_library(KERNEL_HOST, DEVICE_KERNELS, 60),
                        MachineLacks, [](const MachineLacks& error) {
                          BOOST_TEST(std::string(error.what())
                                         .starts_with("the kernel's process says: right takes "
                                                      "device memory: there is no CUDA driver: "));
                          return true;
                        });
}

BOOST_AUTO_TEST_CASE(in_this_process_a_kernel_gets_no_device_memory) {
  BOOST_CHECK_EXCEPTION(verdict::load_kernel_library(DEVICE_KERNELS), BadInput,
                        [](const BadInput& error) {
                          return std::string(error.what())
                              .starts_with(
                                  "kernel right: memory is 1; "
                                  "expected "
                                  "PLUMBLINE_HOST_MEMORY");
                        });
}

BOOST_AUTO_TEST_SUITE_END()
