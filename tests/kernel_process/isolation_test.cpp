// SPDX-License-Identifier: Apache-2.0
// Kernels of bad_kernels.c in a process of their own: each is reported as what it is, and the next
// one runs.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>

#include "cases/case_file.hpp"
#include "support/safetensors.hpp"
#include "tests/support/temporary_folder.hpp"
#include "verdict/property.hpp"

using namespace plumbline;
using cases::BiasMethod;
using cases::Format;
using cases::Pass;
using verdict::Outcome;

namespace {

constexpr double time_limit = 0.3;

const verdict::Kernel& kernel(const std::string& name, const std::string& file = BAD_KERNELS) {
  static std::map<std::string, verdict::KernelLibrary> libraries;
  if (!libraries.contains(file)) {
    libraries[file] = verdict::isolate_kernel_library(KERNEL_HOST, file, time_limit);
  }
  for (const auto& kernel : libraries[file].kernels) {
    if (kernel.name() == name) return kernel;
  }
  throw std::logic_error("no kernel " + name);
}

/// 3 positions of 10 numbers: o has 120 bytes, which end 8 bytes before a page does; lse has 12.
cases::Spec small_spec() {
  cases::Spec spec;
  spec.queries = spec.keys = 3;
  spec.head_dim = 10;
  return spec;
}

verdict::Judgement judgement(const std::string& name, const cases::Spec& spec = small_spec()) {
  const auto result = verdict::check_spec(kernel(name), spec, 1);
  BOOST_REQUIRE(result.counterexample.has_value());
  BOOST_TEST((result.outcome == Outcome::fail));
  return result.counterexample->judgement;
}

void expect(const std::string& name, const std::string& kind, const std::string& words) {
  const auto found = judgement(name);
  BOOST_TEST_CONTEXT(name) {
    BOOST_TEST(found.kind == kind);
    BOOST_TEST((found.failure.empty() ? found.remark : found.failure) == words);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_crash_is_named_by_its_signal_and_what_led_to_it) {
  expect("null_pointer", "crash",
         "the kernel crashed (SIGSEGV): it wrote through a null pointer (address 0x0)");
  expect("aborts", "crash",
         "the kernel crashed (SIGABRT): it called abort(), or what it threw was caught nowhere");
  expect("divides_by_zero", "crash",
         "the kernel crashed (SIGFPE): an integer division by zero, as a rule");
  expect("uses_up_the_stack", "crash", "the kernel crashed (SIGSEGV): its stack is used up");
  expect("exits", "ended_process", "the kernel ended its process, with exit status 0");
}

BOOST_AUTO_TEST_CASE(memory_beside_the_arrays_is_named_by_the_array_and_the_byte) {
  expect("writes_to_q", "changed_input",
         "the kernel crashed (SIGSEGV): it wrote to its input q, at byte 4");
  // lse's 12 bytes start 16 before the guard; the loop gets as far as the guard.
  expect("writes_past_lse", "wrote_outside",
         "the kernel crashed (SIGSEGV): it wrote at byte 16 of lse, which has 12 bytes");
  expect("writes_before_o", "wrote_outside",
         "the kernel wrote outside o: first at byte -12 from its start");
  expect("reads_past_k", "read_outside",
         "the kernel crashed (SIGSEGV): it read at byte 184 of k, which has 120 bytes");
}

BOOST_AUTO_TEST_CASE(outputs_that_are_no_attempt_are_named) {
  expect("gives_zeros", "zeros", "o: every element is 0");
  expect("gives_nan", "nan", "o: 30 of 30 elements are NaN");
  expect("gives_its_input", "copies_input", "o is the input q, bit by bit");
  expect("gives_nothing", "not_written", "o: 30 of 30 elements were not written");
}

BOOST_AUTO_TEST_CASE(a_hang_ends_at_the_time_limit_and_shrinking_does_not_repeat_it_for_long) {
  const auto start = std::chrono::steady_clock::now();
  const auto result = verdict::check_cell(kernel("hangs"), Pass::forward, BiasMethod::nope,
                                          Format::fp32, 5, 3, 1, [](int) {});
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  BOOST_REQUIRE(result.counterexample.has_value());
  BOOST_TEST(result.counterexample->judgement.kind == "hang");
  BOOST_TEST(result.counterexample->judgement.failure ==
             "the kernel did not return within 0.3 s (--time-limit)");
  BOOST_TEST(taken.count() >= time_limit);
  BOOST_TEST(taken.count() < 3.0);  // three hangs, and not one for every smaller case
}

BOOST_AUTO_TEST_CASE(a_crash_shrinks_and_the_next_kernel_runs_in_a_fresh_process) {
  const auto crash = verdict::check_cell(kernel("null_pointer"), Pass::forward, BiasMethod::nope,
                                         Format::fp32, 5, 3, 1, [](int) {});
  BOOST_REQUIRE(crash.counterexample.has_value());
  BOOST_TEST(crash.counterexample->spec.keys == 1);
  BOOST_TEST(crash.counterexample->spec.heads == 1);
  for (const char* name : {"crashes", "ends_the_program"}) {
    BOOST_TEST((verdict::check_spec(kernel(name, TEST_KERNELS), small_spec(), 1).outcome ==
                Outcome::fail));
    BOOST_TEST((verdict::check_spec(kernel("right", TEST_KERNELS), small_spec(), 1).outcome ==
                Outcome::pass));
  }
}

BOOST_AUTO_TEST_CASE(a_lost_device_is_looked_for_by_a_fresh_process) {
  const auto result =
      verdict::check_spec(kernel("loses_the_device", TEST_KERNELS), small_spec(), 1);
  BOOST_REQUIRE(result.counterexample.has_value());
  BOOST_TEST(result.counterexample->judgement.kind == "device_lost");
  BOOST_TEST(!result.counterexample->judgement.device_lost);
}

BOOST_AUTO_TEST_CASE(a_supports_that_crashes_or_hangs_is_a_failure_of_the_cell) {
  cases::Spec ragged = small_spec();
  ragged.mask.ragged = true;
  const auto found = judgement("supports_reads", ragged);
  BOOST_TEST(found.kind == "read_outside");
  BOOST_TEST(found.failure ==
             "the kernel's supports() crashed (SIGSEGV): it read lengths, which supports() must "
             "not");
  const auto result = verdict::check_cell(kernel("supports_hangs"), Pass::forward, BiasMethod::nope,
                                          Format::fp32, 5, 3, 1, [](int) {});
  BOOST_REQUIRE(result.counterexample.has_value());
  BOOST_TEST(result.counterexample->judgement.failure ==
             "the kernel's supports() did not return within 0.3 s (--time-limit)");
}

BOOST_AUTO_TEST_CASE(a_call_larger_than_the_shared_memory_gets_a_larger_one) {
  kernel_process::IsolatedLibrary library(KERNEL_HOST, BAD_KERNELS, 20);
  const auto& kernels = library.introduction().kernels;
  const auto number =
      std::find_if(kernels.begin(), kernels.end(),
                   [](const auto& kernel) { return std::string(kernel.text) == "gives_zeros"; }) -
      kernels.begin();
  kernel_process::KernelCall call;
  call.problem.batch = call.problem.heads = 1;
  call.problem.queries = 5000;
  call.problem.head_dim = 4096;
  const std::size_t rows = 5000, bytes = rows * 4096 * sizeof(float);  // 82 MB
  std::vector<std::byte> o, lse;
  call.outputs = {{kernel_process::slot_o, "o", bytes, &o},
                  {kernel_process::slot_lse, "lse", rows * sizeof(float), &lse}};
  BOOST_TEST(library.call(static_cast<int>(number), call).failure == "");
  BOOST_TEST(o.size() == bytes);
  BOOST_TEST(std::count(o.begin(), o.end(), std::byte{0}) == static_cast<long>(bytes));
}

BOOST_AUTO_TEST_CASE(the_process_has_no_way_to_the_judge) {
  const auto found = judgement("looks_for_the_judge");
  BOOST_TEST(found.failure == "the kernel returned 100: found 0");
}

BOOST_AUTO_TEST_CASE(a_kernel_that_reads_the_oracle_s_file_is_told_from_one_that_reads_another) {
  const test::TemporaryFolder folder;
  const auto expected = (folder / "expected.safetensors").string();
  const auto write = [&](const std::string& metadata) {
    const std::vector<float> lse{0.0f};
    write_safetensors(expected, {{"lse", Dtype::f32, {1}, std::as_bytes(std::span(lse))}},
                      {{"plumbline", metadata}});
    setenv("PLUMBLINE_TEST_EXPECTED", expected.c_str(), 1);
    // The environment is that of the process's start.
    const auto fresh = verdict::isolate_kernel_library(KERNEL_HOST, BAD_KERNELS, time_limit);
    for (const auto& kernel : fresh.kernels) {
      if (kernel.name() != "reads_a_file") continue;
      return verdict::check_spec(kernel, small_spec(), 1).counterexample->judgement;
    }
    throw std::logic_error("no kernel reads_a_file");
  };
  const auto cheat = write(R"({"format_version":1,"kind":"oracle"})");
  BOOST_TEST(cheat.kind == "read_expected_outputs");
  BOOST_TEST(cheat.failure == "the kernel opened \"" + expected +
                                  "\" while it ran, which holds the oracle's outputs");
  const auto other = write(R"({"format_version":1})");
  BOOST_TEST(other.kind == "outside_bound");
  BOOST_TEST(other.opened_files == std::vector<std::string>{expected},
             boost::test_tools::per_element());
}
