// SPDX-License-Identifier: Apache-2.0
// Kernels of bad_kernels.c in a process of their own: each is reported as what it is, and the next
// one runs.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>

#include "support/safetensors.hpp"
#include "tests/support/temporary_folder.hpp"
#include "verdict/cases/case_file.hpp"
#include "verdict/process/end_words.hpp"
#include "verdict/process/isolated.hpp"
#include "verdict/property/property.hpp"

BOOST_AUTO_TEST_SUITE(isolation_test)

using namespace plumbline;
using cases::Format;
using cases::Pass;
using verdict::Outcome;

namespace {

/// Of those that hang; the others have time, on a busy machine too.
constexpr double short_limit = 0.3, time_limit = 60;

const verdict::Kernel& kernel(const std::string& name, const std::string& file = BAD_KERNELS,
                              double limit = time_limit) {
  static std::map<std::pair<std::string, double>, verdict::KernelLibrary> libraries;
  const auto key = std::pair(file, limit);
  if (!libraries.contains(key)) {
    libraries[key] = verdict::isolate_kernel_library(KERNEL_HOST, file, limit);
  }
  for (const auto& kernel : libraries[key].kernels) {
    if (kernel.name() == name) return kernel;
  }
  throw std::logic_error("no kernel " + name);
}

/// Calls of kernels of BAD_KERNELS in one process, with an o of 4 numbers.
struct Calls {
  kernel_process::IsolatedLibrary library{KERNEL_HOST, {BAD_KERNELS, {}}, time_limit};
  std::vector<std::byte> o, lse;

  int number(const std::string& name) const {
    const auto& kernels = library.introduction().kernels;
    const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const auto& kernel) {
      return std::string(kernel.text) == name;
    });
    return static_cast<int>(found - kernels.begin());
  }
  kernel_process::CallEnd call(const std::string& name, int queries = 1, int head_dim = 4) {
    kernel_process::KernelCall call;
    call.problem.batch = call.problem.heads = 1;
    call.problem.queries = queries;
    call.problem.head_dim = head_dim;
    const auto rows = static_cast<std::size_t>(queries);
    call.outputs = {{kernel_process::slot_o, "o",
                     rows * static_cast<std::size_t>(head_dim) * sizeof(float), &o},
                    {kernel_process::slot_lse, "lse", rows * sizeof(float), &lse}};
    return library.call(number(name), call);
  }
};

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
#ifdef __x86_64__
  expect("calls_nothing", "crash",
         "the kernel crashed (SIGSEGV): it called a function through a null pointer");
  expect("writes_to_no_address", "crash",
         "the kernel crashed (SIGSEGV): it used an address that is not known: one that no memory "
         "can have (non-canonical), or one that is not aligned as its instruction needs");
#endif
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
  expect("forks", "zeros", "o: every element is 0");
  expect("gives_nan", "nan", "o: 30 of 30 elements are NaN");
  expect("gives_its_input", "copies_input", "o is the input q, bit by bit");
  expect("gives_nothing", "not_written", "o: 30 of 30 elements were not written");
}

BOOST_AUTO_TEST_CASE(a_hang_ends_at_the_time_limit_and_shrinking_does_not_repeat_it_for_long) {
  const test::TemporaryFolder folder;
  const auto calls = (folder / "calls").string();
  setenv("PLUMBLINE_TEST_CALLS", calls.c_str(), 1);
  const auto result = verdict::check_cell(kernel("hangs", BAD_KERNELS, short_limit), Pass::forward,
                                          PLUMBLINE_NOPE, Format::fp32, 5, 3, 1, [](int) {});
  BOOST_REQUIRE(result.counterexample.has_value());
  BOOST_TEST(result.counterexample->judgement.kind == "hang");
  BOOST_TEST(result.counterexample->judgement.failure ==
             "the kernel did not return within 0.3 s (--time-limit)");
  // Three hangs, and not one for every smaller case.
  BOOST_TEST(std::filesystem::file_size(calls) <= 3u);
}

BOOST_AUTO_TEST_CASE(a_crash_shrinks_and_the_next_kernel_runs_in_a_fresh_process) {
  const auto crash = verdict::check_cell(kernel("null_pointer"), Pass::forward, PLUMBLINE_NOPE,
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
  const test::TemporaryFolder folder;
  const auto calls = (folder / "calls").string();
  setenv("PLUMBLINE_TEST_CALLS", calls.c_str(), 1);
  // Of one case, too: the hangs while shapes were looked for are no reason to draw none.
  const auto result =
      verdict::check_cell(kernel("supports_hangs", BAD_KERNELS, short_limit), Pass::forward,
                          PLUMBLINE_NOPE, Format::fp32, 1, 3, 1, [](int) {});
  BOOST_REQUIRE(result.counterexample.has_value());
  BOOST_TEST(result.counterexample->judgement.kind == "hang");
  BOOST_TEST(result.counterexample->judgement.failure ==
             "the kernel's supports() did not return within 0.3 s (--time-limit)");
  // Asked about several problems, and about one.
  BOOST_TEST(std::filesystem::file_size(calls) <= 2u);
}

BOOST_AUTO_TEST_CASE(a_failing_case_does_not_shrink_into_another_fault) {
  const auto result = verdict::check_cell(kernel("crashes_with_two_heads"), Pass::forward,
                                          PLUMBLINE_NOPE, Format::fp32, 40, 3, 1, [](int) {});
  BOOST_REQUIRE(result.counterexample.has_value());
  // Of this seed the first case has several heads.
  BOOST_TEST(result.counterexample->judgement.kind == "crash");
  BOOST_TEST(result.counterexample->spec.heads == 2);
  BOOST_TEST(result.counterexample->spec.keys == 1);
}

BOOST_AUTO_TEST_CASE(a_call_larger_than_the_shared_memory_gets_a_larger_one) {
  Calls calls;
  const std::size_t bytes = 5000UL * 4096 * sizeof(float);  // 82 MB
  BOOST_TEST(calls.call("gives_zeros", 5000, 4096).failure == "");
  BOOST_TEST(calls.o.size() == bytes);
  BOOST_TEST(std::count(calls.o.begin(), calls.o.end(), std::byte{0}) == static_cast<long>(bytes));
}

BOOST_AUTO_TEST_CASE(a_thread_that_works_on_after_the_return_is_told_as_that) {
  const std::string words =
      "the kernel crashed (SIGSEGV): a thread that it left running wrote to the arrays of a call "
      "that had returned";
  const std::string early = kernel_process::failure_kind::returned_early;
  Calls calls;
  // In its own call, as a rule; one that gets no processor then, in the next.
  kernel_process::CallEnd end;
  for (int tries = 0; tries < 100 && end.failure.empty(); ++tries)
    end = calls.call("returns_early");
  BOOST_TEST(end.failure == words);
  BOOST_TEST(end.kind == early);
  // While it sleeps it is not seen, but the next call's arrays lie elsewhere.
  BOOST_TEST(calls.call("returns_much_too_early").failure == "");
  end = calls.call("takes_its_time");
  BOOST_TEST(end.failure == words);
  BOOST_TEST(end.kind == early);
  BOOST_TEST(calls.call("gives_zeros").failure == "");
}

BOOST_AUTO_TEST_CASE(a_hang_in_loading_is_told_with_the_limit_that_it_had) {
  using kernel_process::Occupation;
  const auto words = [](double limit) {
    return kernel_process::words_of({.hung = true, .wait_status = 0, .fault = {}},
                                    {.what = Occupation::What::loading,
                                     .seconds = kernel_process::loading_seconds(limit)})
        .failure;
  };
  BOOST_TEST(words(20) ==
             "the library, while it was loaded, did not return within 60 s (--time-limit, for "
             "loading a minute at least)");
  BOOST_TEST(words(90).find("within 90 s") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_process_whose_judge_is_gone_ends_before_it_loads_the_library) {
  int ends[2];
  BOOST_REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
  const int memory = memfd_create("arrays", 0);
  setenv("PLUMBLINE_TEST_LOADING", "exit", 1);  // with status 5, if it came to that
  const pid_t other_parent = fork();
  if (other_parent == 0) {
    const pid_t host = fork();
    if (host == 0) {
      for (const int from : {ends[1], memory, memory}) fcntl(from, F_DUPFD, 100);  // 100 to 102
      for (const int to : {3, 4, 5}) dup2(97 + to, to);
      execl(KERNEL_HOST, "plumbline-kernel-host", BAD_KERNELS, nullptr);
      _exit(99);
    }
    int status = 0;
    waitpid(host, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 98);
  }
  int status = 0;
  waitpid(other_parent, &status, 0);
  unsetenv("PLUMBLINE_TEST_LOADING");
  BOOST_TEST(WEXITSTATUS(status) == 1);
  for (const int descriptor : {ends[0], ends[1], memory}) close(descriptor);
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
                                  "\", which contains the oracle's outputs, while it ran");
  const auto other = write(R"({"format_version":1})");
  BOOST_TEST(other.kind == "outside_bound");
  BOOST_TEST(other.opened_files == std::vector<std::string>{expected},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
