// SPDX-License-Identifier: Apache-2.0
// Kernels of hostile_kernels.cpp: none hides what it does, ends the judge, or outlives it.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"
#include "tests/support/temporary_folder.hpp"
#include "verdict/process/end_words.hpp"
#include "verdict/process/isolated.hpp"

BOOST_AUTO_TEST_SUITE(attacks_test)

using namespace plumbline;
using kernel_process::CallEnd;
using nlohmann::json;

namespace {

/// Calls of kernels of HOSTILE_KERNELS in one process, with a k, o and lse of 4, 4 and 1 numbers.
struct Calls {
  explicit Calls(double seconds = 20) : library(KERNEL_HOST, {HOSTILE_KERNELS, {}}, seconds) {}
  kernel_process::IsolatedLibrary library;
  const std::vector<float> k = std::vector<float>(4);
  std::vector<std::byte> o, lse;

  CallEnd operator()(const std::string& name) {
    const auto& kernels = library.introduction().kernels;
    const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const auto& kernel) {
      return std::string(kernel.text) == name;
    });
    BOOST_REQUIRE((found != kernels.end()));
    kernel_process::KernelCall call;
    call.problem.batch = call.problem.heads = call.problem.kv_heads = call.problem.queries =
        call.problem.keys = 1;
    call.problem.head_dim = 4;
    call.inputs = {{kernel_process::slot_k, "k", k.data(), k.size() * sizeof(float)}};
    call.outputs = {{kernel_process::slot_o, "o", 4 * sizeof(float), &o},
                    {kernel_process::slot_lse, "lse", sizeof(float), &lse}};
    return library.call(static_cast<int>(found - kernels.begin()), call);
  }
};

void expect(const CallEnd& end, const std::string& kind, const std::string& words) {
  BOOST_TEST(end.kind == kind);
  BOOST_TEST(end.failure == words);
}

const std::string nonsense =
    "the kernel sent the judge what is no answer: something wrote to a descriptor that it had not "
    "opened, or closed it, or wrote over memory that is not the kernel's";

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Whether this system lets somebody like us have namespaces of processes and mounts.
bool has_namespaces() {
  const char* of_users = geteuid() == 0 ? "" : "--user --map-root-user ";
  const std::string command =
      std::string("unshare ") + of_users + "--mount --pid --fork --mount-proc true 2>/dev/null";
  return std::system(command.c_str()) == 0;
}

/// The program judges that kernel, which knows the program's number.
test::ProgramRun verify(const std::string& kernel, const std::string& before = "",
                        const std::string& report = "--json") {
  // The shell that becomes the program has its number; `before` becomes it, too.
  return test::run("export PLUMBLINE_TEST_JUDGE=$$; exec " + before + " " PLUMBLINE_PROGRAM,
                   "verify --kernel " HOSTILE_KERNELS " --kernels " + kernel +
                       " --pass forward --bias nope --dtype fp32 --cases 2 " + report);
}

std::string failure_of(const test::ProgramRun& run) {
  BOOST_REQUIRE_MESSAGE(run.status == 1, run.out << run.err);
  const auto judgement = json::parse(run.out)["cells"][0]["counterexample"]["judgement"];
  return judgement.value("failure", judgement.value("kind", ""));
}

/// A group of processes that may have 200 MiB together, where we may make one.
class SmallMemory {
 public:
  SmallMemory() {
    const std::string number = std::to_string(getpid());
    for (const auto& [tree, limit] : {std::pair("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
                                      std::pair("/sys/fs/cgroup", "memory.max")}) {
      folder_ = std::filesystem::path(tree) / ("plumbline_test_" + number);
      std::error_code none;
      std::filesystem::create_directory(folder_, none);
      std::ofstream limit_file(folder_ / limit);
      limit_file << "200M" << std::flush;
      if (limit_file.good()) return;
      std::filesystem::remove(folder_, none);
    }
    folder_.clear();
  }
  ~SmallMemory() {
    std::error_code none;
    if (!folder_.empty()) std::filesystem::remove(folder_, none);
  }
  SmallMemory(const SmallMemory&) = delete;
  SmallMemory& operator=(const SmallMemory&) = delete;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

/// Nobody holds the lock that leaves_a_daemon takes.
bool is_free(const std::filesystem::path& lock) {
  const int file = open(lock.c_str(), O_RDWR);
  BOOST_REQUIRE(file >= 0);
  const bool taken = flock(file, LOCK_EX | LOCK_NB) == 0;
  close(file);
  return taken;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_handler_of_the_kernel_s_own_hides_no_access_outside) {
  Calls call;
  expect(call("reads_and_jumps_back"), "read_outside",
         "the kernel crashed (SIGSEGV): it read at byte 80 of k, which has 16 bytes");
  expect(call("writes_and_maps_the_page"), "wrote_outside",
         "the kernel crashed (SIGSEGV): it wrote at byte 80 of o, which has 16 bytes");
}

BOOST_AUTO_TEST_CASE(a_handler_that_nothing_comes_to_is_no_failure) {
  Calls call;
  BOOST_TEST(call("only_installs_a_handler").failure == "");
  BOOST_TEST((call.o == std::vector<std::byte>(16)));
}

BOOST_AUTO_TEST_CASE(a_guard_that_was_made_accessible_and_touched_is_told) {
  Calls call;
  expect(call("opens_a_guard_to_write"), "wrote_outside",
         "the kernel made memory outside o accessible and wrote there: first at byte 21 from its "
         "start");
  expect(
      call("opens_a_guard_to_read"), "read_outside",
      "the kernel made memory outside lse accessible and read there: in the page at byte 16 from "
      "its start");
  BOOST_TEST(call("only_installs_a_handler").failure == "");
}

BOOST_AUTO_TEST_CASE(where_there_are_namespaces_the_kernel_can_send_the_judge_no_signal) {
  const bool possible = has_namespaces();
  BOOST_TEST(Calls().library.introduction().namespaces == possible);
  if (possible) BOOST_TEST(failure_of(verify("kills_the_judge")) == "zeros");
}

BOOST_AUTO_TEST_CASE(a_report_says_where_a_kernel_could_have_ended_the_judge) {
  const std::string kernel = "looks_into_the_judge",
                    words = "a kernel could end the judge, and there would be no verdict\n";
  const auto isolation = [&](const std::string& before) {
    return json::parse(verify(kernel, before).out)["isolation"];
  };
  const auto table_warns = [&](const std::string& before) {
    return verify(kernel, before, "").out.find(words) != std::string::npos;
  };
  BOOST_TEST(isolation(WITHOUT_NAMESPACES) == "process");
  BOOST_TEST(table_warns(WITHOUT_NAMESPACES));
  BOOST_TEST(isolation("") == (has_namespaces() ? "namespaces" : "process"));
  BOOST_TEST(table_warns("") == !has_namespaces());
}

BOOST_AUTO_TEST_CASE(no_program_that_the_kernel_starts_looks_into_the_judge) {
  // In namespaces there is no judge to be seen; without them it takes rights that nobody has.
  BOOST_TEST(failure_of(verify("looks_into_the_judge")) == "the kernel returned 100: refused");
  BOOST_TEST(failure_of(verify("looks_into_the_judge", WITHOUT_NAMESPACES)) ==
             "the kernel returned 100: refused");
}

BOOST_AUTO_TEST_CASE(a_daemon_ends_with_the_run) {
  const test::TemporaryFolder folder;
  for (const std::string before : {"", WITHOUT_NAMESPACES}) {
    const auto lock = folder / ("lock" + std::to_string(before.size()));
    setenv("PLUMBLINE_TEST_DAEMON", lock.c_str(), 1);
    BOOST_TEST(failure_of(verify("leaves_a_daemon", before)) == "zeros");
    BOOST_TEST(is_free(lock), before);
  }
  unsetenv("PLUMBLINE_TEST_DAEMON");
}

BOOST_AUTO_TEST_CASE(nonsense_ends_the_process_at_once_and_is_a_failure_of_the_kernel) {
  const auto start = std::chrono::steady_clock::now();
  for (const char* name : {"speaks_nonsense", "forges_an_index", "forges_damage_on_a_device",
                           "forges_a_lack", "forges_an_introduction"}) {
    BOOST_TEST_CONTEXT(name) {
      Calls call;
      expect(call(name), "protocol", nonsense);
      // It is not asked again; another kernel of its library is.
      expect(call(name), "protocol", nonsense);
      BOOST_TEST(call("only_installs_a_handler").failure == "");
    }
  }
  BOOST_TEST(seconds_since(start) < 2.0);
}

BOOST_AUTO_TEST_CASE(a_process_that_takes_no_question_does_not_hold_up_the_judge) {
  Calls call;
  CallEnd end;
  for (int calls = 0; calls < 100 && end.failure.empty(); ++calls) {
    end = call("answers_without_reading");
  }
  expect(end, "protocol", nonsense);
}

BOOST_AUTO_TEST_CASE(who_closes_the_socket_and_goes_on_is_not_waited_for) {
  Calls call;
  expect(call("closes_the_socket"), "protocol", nonsense);
}

BOOST_AUTO_TEST_CASE(who_closes_the_judges_descriptors_and_returns_has_not_ended_its_process) {
  Calls call;
  expect(call("closes_all_descriptors"), "protocol", nonsense);
}

BOOST_AUTO_TEST_CASE(what_is_written_to_a_low_descriptor_by_mistake_reaches_no_array) {
  Calls call;
  BOOST_TEST(call("writes_to_descriptors").failure == "");
}

BOOST_AUTO_TEST_CASE(nonsense_of_supports_costs_a_run_no_two_seconds) {
  const auto start = std::chrono::steady_clock::now();
  const auto run = verify("supports_speaks_nonsense");
  BOOST_TEST(failure_of(run) ==
             "the kernel's supports()" + nonsense.substr(std::string("the kernel").size()));
  BOOST_TEST(seconds_since(start) < 2.0);
}

BOOST_AUTO_TEST_CASE(a_library_with_other_kernels_when_it_is_loaded_again_is_not_called) {
  Calls call;
  call("kills_itself");
  setenv("PLUMBLINE_TEST_LOADING", "fewer", 1);
  const auto end = call("only_installs_a_handler");
  unsetenv("PLUMBLINE_TEST_LOADING");
  BOOST_TEST(end.kind == "no_process");
  BOOST_TEST(end.failure.ends_with("; expected the same kernels whenever it is loaded"));
}

BOOST_AUTO_TEST_CASE(nonsense_while_it_is_loaded_is_bad_input) {
  for (const std::string how : {"nonsense", "many"}) {
    const auto run = test::run("PLUMBLINE_TEST_LOADING=" + how + " " PLUMBLINE_PROGRAM,
                               "verify --kernel " HOSTILE_KERNELS);
    BOOST_TEST(run.status == 2);
    BOOST_TEST(run.err.find("expected a library that can be loaded (the library, while it was "
                            "loaded, sent the judge what is no answer") != std::string::npos,
               run.err);
  }
}

BOOST_AUTO_TEST_CASE(who_was_killed_is_told_from_who_had_no_memory_left) {
  Calls call;
  const auto end = call("kills_itself");
  BOOST_TEST(end.kind == "crash");
  BOOST_TEST(end.failure.starts_with(
      "the kernel was killed (SIGKILL), by itself or from outside; it had held up to 0.0"));
  const SmallMemory group;
  if (!group.folder().empty()) {
    const auto words =
        failure_of(test::run(
            "echo $$ >" + (group.folder() / "cgroup.procs").string() + "; exec " PLUMBLINE_PROGRAM,
            "verify --kernel " HOSTILE_KERNELS " --kernels eats_memory --pass forward --bias "
            "nope --dtype fp32 --cases 1 --json"));
    BOOST_TEST(words.starts_with(
        "the kernel was killed by the system for want of memory; it had held up to 0.1"));
  } else {
    BOOST_TEST_MESSAGE("no group with little memory can be made here");
  }
  using kernel_process::Occupation;
  expect(kernel_process::words_of(
             {.wait_status = SIGKILL, .killed_for_memory = true, .kibibytes = 3 << 19, .fault = {}},
             {.what = Occupation::What::pass}),
         "out_of_memory",
         "the kernel was killed by the system for want of memory; it had held up to 1.5 GiB");
}

BOOST_AUTO_TEST_SUITE_END()
