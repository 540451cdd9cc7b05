// SPDX-License-Identifier: Apache-2.0
// Kernels of software_kernels.c on the software device: each is reported as what it does. And what
// is said of libraries that the device cannot run.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>

#include "support/error.hpp"
#include "tests/cli/program.hpp"
#include "verdict/property/property.hpp"

BOOST_AUTO_TEST_SUITE(software_device_test)

using namespace plumbline;
using verdict::Outcome;

namespace {

const std::string libraries = LIBRARIES;
const std::string kernels = libraries + "/libsoftware_kernels.so";
/// What those kernels accept.
const std::string shape = " --batch 1 --heads 1 --queries 1 --keys 1";

/// Seconds that a call may take: for kernels that never end.
constexpr double time_limit = 3;

const verdict::KernelLibrary& library() {
  static const auto all =
      verdict::isolate_kernel_library(KERNEL_HOST, kernels, time_limit, SOFTWARE_DEVICE);
  return all;
}

const verdict::Kernel& kernel(const std::string& name) {
  for (const auto& kernel : library().kernels) {
    if (kernel.name() == name) return kernel;
  }
  throw std::logic_error("no kernel " + name);
}

cases::Spec one_key() {
  cases::Spec spec;
  spec.seed = 1;
  spec.heads = spec.kv_heads = spec.queries = spec.keys = 1;
  spec.head_dim = 64;
  return spec;
}

bool passes(const std::string& name) {
  return verdict::check_spec(kernel(name), one_key(), 1).outcome == Outcome::pass;
}

/// The words of the kernel's failure, of this kind; and whoever comes after it is not harmed.
std::string failure(const std::string& name, const std::string& kind) {
  const auto found = verdict::check_spec(kernel(name), one_key(), 1);
  BOOST_TEST_REQUIRE(found.counterexample.has_value());
  const auto& judgement = found.counterexample->judgement;
  BOOST_TEST(judgement.kind == kind);
  BOOST_TEST(!judgement.device_lost);
  BOOST_TEST(passes("right"));
  return judgement.failure;
}

void expect_words(const std::string& sentence, const std::vector<std::string>& words) {
  for (const auto& word : words) {
    BOOST_TEST(sentence.find(word) != sentence.npos, word << " is not in: " << sentence);
  }
}

/// The device's sentence has all of these words.
void expect_stopped(const std::string& name, const std::vector<std::string>& words,
                    const std::string& kind = "device_check") {
  BOOST_TEST_CONTEXT(name) {
    const std::string sentence = failure(name, kind);
    BOOST_TEST(sentence.starts_with("the software device stopped the kernel: "));
    expect_words(sentence, words);
  }
}

test::ProgramRun verify(const std::string& file, const std::string& options = "") {
  return test::plumbline("verify --kernel " + file + " --device software --cases 4 " + options);
}

/// What is said of a library that does not get to be judged.
std::string refusal(const std::string& file, int status = 2) {
  const auto run = verify(file);
  BOOST_TEST(run.status == status);
  BOOST_TEST(run.out == "");
  return run.err;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_right_kernel_passes_on_the_software_device) {
  BOOST_TEST(library().device == "software device, compute capability 9.0");
  BOOST_TEST(passes("right"));
  const auto run = verify(kernels, "--kernels right" + shape);
  BOOST_TEST(run.status == 0, run.err);
  BOOST_TEST(run.out.find(" on software device, compute capability 9.0 in ") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_library_of_cuda_12_runs_too) {
  const auto run = verify(libraries + "/libsoftware_kernels_12.so", "--kernels right" + shape);
  BOOST_TEST(run.status == 0, run.err);
}

BOOST_AUTO_TEST_CASE(what_a_kernel_does_that_no_gpu_notices_fails_its_case_at_its_line) {
  expect_stopped("writes_beyond_o",
                 {"attend", "thread (63, 0, 0)", "PTX line 44", "st.global.f32 [%d10+4], %f4",
                  "attend.cu:13", "; the address is at byte 256 of o, which has 256 bytes"});
  expect_stopped("reads_beyond_q", {"attend", "thread (64, 0, 0)", "PTX line 32", "attend.cu:11",
                                    "; the address is at byte 256 of q, which has 256 bytes"});
  expect_stopped("changes_k",
                 {"attend", "PTX line 49", "attend.cu:14", " of k, which has 256 bytes"});
  expect_stopped("reads_o_first", {"attend", "PTX line 54", "attend.cu:15"});
  expect_stopped("forgets_the_barrier", {"attend", "ld.shared.f32 %f7, [%r4]", "attend.cu:16"});
}

BOOST_AUTO_TEST_CASE(a_kernel_that_is_right_on_some_gpus_only_is_told_so) {
  const std::string nearest = "rounded to nearest",
                    ampere = ".approx either way, Ampere's sums, fused mul and add, late",
                    hopper = ".approx downwards, Hopper's sums, other block order",
                    upwards = ".approx upwards, Hopper's sums, fused, other order, late";
  const auto& relies = kernel("relies_on_a_rounded_product");
  const auto names = relies.variations();
  const std::vector<std::string> all(names.begin(), names.end());
  BOOST_TEST(all == (std::vector<std::string>{nearest, ampere, hopper, upwards}),
             boost::test_tools::per_element());
  // A case's seed chooses: one of the four, the same whenever it is repeated.
  cases::Spec spec = one_key();
  BOOST_TEST((verdict::check_spec(relies, spec, 1).outcome == Outcome::pass));
  spec.seed = 5;
  const auto found = verdict::check_spec(relies, spec, 1);
  BOOST_TEST_REQUIRE(found.counterexample.has_value());
  const std::vector<std::string> expected = {
      "what hardware leaves open decides: on the software device the case passes with \"" +
      nearest + "\", \"" + hopper + "\" and fails with \"" + ampere + "\", \"" + upwards + "\""};
  BOOST_TEST(found.counterexample->separates == expected, boost::test_tools::per_element());
  const auto unordered = verdict::check_spec(kernel("copies_in_another_stream"), spec, 1);
  BOOST_TEST_REQUIRE(unordered.counterexample.has_value());
  BOOST_TEST(unordered.counterexample->separates == expected, boost::test_tools::per_element());
  spec.seed = 9;
  BOOST_TEST(
      (verdict::check_spec(kernel("copies_in_another_stream"), spec, 1).outcome == Outcome::pass));
  BOOST_TEST((verdict::check_spec(relies, spec, 1).outcome == Outcome::pass));
  BOOST_TEST((verdict::check_spec(kernel("right"), spec, 1).outcome == Outcome::pass));
  // What fails in all ways says nothing of them.
  BOOST_TEST(
      verdict::check_spec(kernel("changes_k"), one_key(), 1).counterexample->separates.empty());
}

BOOST_AUTO_TEST_CASE(a_refused_launch_is_the_kernel_s_error_with_the_device_s_words) {
  const std::string words = failure("too_many_threads", "returned_error");
  BOOST_TEST(words.starts_with(
      "the kernel returned 1: invalid configuration argument; the device says: "));
  BOOST_TEST(words.find("2000") != words.npos);
}

BOOST_AUTO_TEST_CASE(what_the_device_lacks_is_no_verdict) {
  for (const char* name : {"uses_a_texture", "uses_a_texture_and_exits"}) {
    BOOST_CHECK_EXCEPTION(
        verdict::check_spec(kernel(name), one_key(), 1), MachineLacks,
        [](const MachineLacks& error) {
          const std::string words = error.what();
          BOOST_TEST(words.starts_with("the kernel's process says: the software device: "));
          return words.find("tex.1d") != words.npos;
        });
  }
}

BOOST_AUTO_TEST_CASE(kernels_that_mean_harm_end_with_a_message) {
  expect_stopped("traps", {"stopped the kernel; in harm, ", ": @%p1 trap; from attend.cu:20"});
  // The device's limit is shorter than that of the process.
  expect_stopped(
      "never_ends",
      {"the kernel has not ended after 2400 ms; in harm, ", "@%p2 bra again", "attend.cu:21"},
      "hang");
  expect_stopped(
      "writes_somewhere",
      {"writes 4 bytes at 0xdeadbeef0: no allocation is near; in harm, ", "attend.cu:22"});
  expect_stopped("writes_to_the_host", {"writes 4 bytes at 0x", "attend.cu:22"});
  for (const char* name : {"asks_for_a_gigabyte_of_shared_memory", "has_too_much_shared_memory"}) {
    expect_words(failure(name, "returned_error"),
                 {"the kernel returned 1: ", "; the device says: ", "bytes of "});
  }
}

BOOST_AUTO_TEST_CASE(what_the_device_said_is_told_where_the_host_s_code_ends_the_process) {
  const std::string fault = "writes 4 bytes at 0xdeadbeef0: no allocation is near; in harm, ";
  expect_stopped("writes_somewhere_and_exits",
                 {fault, "attend.cu:22; then the kernel ended its process, with exit status 1"});
  expect_stopped("writes_somewhere_and_aborts",
                 {fault, "attend.cu:22; then the kernel crashed (SIGABRT): it called abort()"});
  expect_stopped("writes_somewhere_and_hangs",
                 {fault, "attend.cu:22; then the kernel did not return within 3 s"});
  const std::string words = failure("asks_for_a_gigabyte_and_exits", "ended_process");
  BOOST_TEST(words.starts_with(
      "the kernel ended its process, with exit status 1; the device says: harm: a launch with "
      "1073741824 bytes of dynamic shared memory"));
  BOOST_TEST(failure("exits_with_3", "ended_process") ==
             "the kernel ended its process, with exit status 3");
}

BOOST_AUTO_TEST_CASE(what_means_harm_fails_verify) {
  for (const char* name : {"never_ends", "writes_somewhere_and_exits", "exits_with_3"}) {
    const auto run = verify(kernels, std::string("--time-limit 1 --kernels ") + name + shape);
    BOOST_TEST(run.status == 1, run.err);
    BOOST_TEST(run.out.find(name == std::string("exits_with_3")
                                ? "with exit status 3"
                                : "in harm, block (0, 0, 0)") != std::string::npos,
               run.out);
  }
}

BOOST_AUTO_TEST_CASE(a_library_that_the_device_cannot_run_is_told_what_to_change) {
  const std::string flag = "add PTX by the option -gencode arch=compute_80,code=compute_80 of nvcc";
  const auto at = [](const std::string& name) { return libraries + "/lib" + name + ".so"; };
  const auto quoted = [](const std::string& file) { return "plumbline: --kernel is \"" + file; };
  std::string file = at("software_kernels_machine_code");
  BOOST_TEST(refusal(file) == quoted(file) +
                                  "\": it has machine code for sm_80 and no PTX: " + flag +
                                  "; expected a library with PTX that --device software "
                                  "can run\n");
  file = at("software_kernels_compute_100");
  BOOST_TEST(refusal(file) == quoted(file) +
                                  "\": it has PTX for compute_100, and this device is "
                                  "sm_90: " +
                                  flag +
                                  "; expected a library with PTX that --device software "
                                  "can run\n");
  // It opens the driver itself, as the static runtime does.
  file = DEVICE_KERNELS;
  BOOST_TEST(refusal(file) == quoted(file) +
                                  "\", which does not use the shared CUDA runtime; "
                                  "expected a library that nvcc has linked with "
                                  "-cudart shared, so that --device software can stand "
                                  "in for the GPU\n");
  BOOST_TEST(refusal(EXAMPLE_IN_C) ==
             "plumbline: --device is software, and \"" + std::string(EXAMPLE_IN_C) +
                 "\" has no kernel for a device; expected no --device for a library that computes "
                 "on the host\n");
}

BOOST_AUTO_TEST_CASE(options_of_the_device_come_from_the_environment) {
  setenv("PLUMBLINE_DEVICE_COMPUTE", "8.6", 1);
  const auto run = verify(kernels, "--kernels right" + shape);
  BOOST_TEST(run.status == 0, run.err);
  BOOST_TEST(run.out.find(" on software device, compute capability 8.6 in ") != std::string::npos);
  setenv("PLUMBLINE_DEVICE_COMPUTE", "86", 1);
  BOOST_TEST(
      refusal(kernels).ends_with("plumbline: PLUMBLINE_DEVICE_COMPUTE is \"86\"; expected "
                                 "7.5, 8.0, 8.6, 8.9, 9.0, 10.0 or 12.0\n"));
  unsetenv("PLUMBLINE_DEVICE_COMPUTE");
}

BOOST_AUTO_TEST_CASE(a_device_is_asked_for_by_one_of_its_two_names_and_with_a_library) {
  const auto run = test::plumbline("verify --kernel " + kernels + " --device sofware");
  BOOST_TEST(run.status == 2);
  BOOST_TEST(
      run.err.starts_with("plumbline: --device is \"sofware\"; expected one of gpu, software"));
  const auto alone = test::plumbline("verify --device gpu");
  BOOST_TEST(alone.status == 2);
  BOOST_TEST(
      alone.err.starts_with("plumbline: --device is gpu without --kernel; expected a library"));
  const auto identities = test::plumbline("identities --device software");
  BOOST_TEST(identities.status == 2);
  BOOST_TEST(identities.err.starts_with("plumbline: --device requires --kernel"));
  const auto both = test::plumbline("verify --device software --backend emulated");
  BOOST_TEST(both.status == 2);
  BOOST_TEST(both.err.starts_with("plumbline: --device excludes --backend"));
}

BOOST_AUTO_TEST_CASE(without_a_library_our_own_kernels_run_as_nvcc_compiled_them) {
  const std::string options = "verify --device software --kernels naive --bias alibi --dtype fp32";
  const auto run = test::plumbline(options + " --cases 2");
  if (std::filesystem::exists(std::string(SOFTWARE_DEVICE) + "/libplumbline_kernels_cuda.so")) {
    BOOST_TEST(run.status == 0, run.err);
    BOOST_TEST(run.out.find(" on software device, compute capability 9.0 in ") != run.out.npos);
  } else {
    BOOST_TEST(run.status == 3);
    BOOST_TEST(run.out == "");
    BOOST_TEST(
        run.err.starts_with("plumbline: --device software without --kernel runs the "
                            "built-in kernels as nvcc compiles them, and "));
  }
}

BOOST_AUTO_TEST_CASE(without_the_device_s_libraries_the_machine_lacks_something) {
  BOOST_CHECK_EXCEPTION(
      verdict::isolate_kernel_library(KERNEL_HOST, kernels, 60, "/nowhere"), MachineLacks,
      [](const MachineLacks& error) {
        return std::string(error.what())
            .starts_with(
                "the kernel's process says: the software device cannot be loaded; the "
                "target software_device builds it (the loader says: ");
      });
}

BOOST_AUTO_TEST_CASE(a_failure_is_repeated_on_the_same_device) {
  const auto run = verify(kernels, "--kernels changes_k --json" + shape);
  BOOST_TEST(run.status == 1);
  BOOST_TEST(run.out.find("\"kind\": \"device_check\"") != std::string::npos);
  BOOST_TEST(run.out.find(" --device software --kernels changes_k --case ") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
