// SPDX-License-Identifier: Apache-2.0
// plumbline verify --kernel from outside: the examples, the reports, and libraries that are none.
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

BOOST_AUTO_TEST_SUITE(your_kernel_test)

using namespace plumbline;
using nlohmann::json;

namespace {

test::ProgramRun verify(const std::string& library, const std::string& options) {
  return test::plumbline("verify --kernel " + library + " " + options);
}

std::string of_bad_kernel(const std::string& kernel) {
  return "--kernels " + kernel + " --pass forward --bias nope --dtype fp32 --cases 2";
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_example_in_c_passes) {
  const auto run =
      verify(EXAMPLE_IN_C, "--pass forward --bias alibi --dtype fp32 --cases 50");  // README.md
  BOOST_TEST(run.status == 0);
  BOOST_TEST(run.err == "");
  BOOST_TEST(run.out.find("attention_c      forward  alibi             fp32       50") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_contract_that_has_no_format_of_the_kernel_is_named) {
  const auto run = verify(EXAMPLE_IN_C, "--contract flash_attention_2");
  BOOST_TEST(run.status == 2);
  BOOST_TEST(run.err ==
             "plumbline: --contract is \"flash_attention_2\" in fp32; expected bf16 or fp16\n");
}

BOOST_AUTO_TEST_CASE(who_writes_an_lse_that_its_contract_has_not_is_told_so) {
  const auto run =
      verify(BAD_KERNELS, of_bad_kernel("writes_past_lse") + " --contract pytorch_math");
  BOOST_TEST(run.status == 1);
  BOOST_TEST(run.out.find("through a null pointer (address 0x0); by its contract it has no lse") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_a_kernel_prints_stays_out_of_the_report) {
  const auto run = verify(BAD_KERNELS, of_bad_kernel("talks") + " --json");
  BOOST_TEST(run.status == 1);
  BOOST_TEST(json::parse(run.out)["outcome"] == "FAIL");
  BOOST_TEST(run.err.find("this is no JSON\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(every_report_says_what_the_kernel_did) {
  const test::TemporaryFolder folder;
  const auto json_path = (folder / "report.json").string(),
             junit_path = (folder / "report.xml").string();
  const std::string words = "the kernel did not return within 1 s (--time-limit)";
  // The crash comes first; the run goes on to the others.
  const auto run =
      verify(BAD_KERNELS, of_bad_kernel("null_pointer,hangs,gives_zeros") +
                              " --time-limit 1 --json " + json_path + " --junit " + junit_path);
  BOOST_TEST(run.status == 1);
  BOOST_TEST(run.err == "");
  BOOST_TEST(run.out.find("  " + words + "\n") != std::string::npos);
  const auto cells = json::parse(test::text_of(json_path))["cells"];
  BOOST_REQUIRE(cells.size() == 3u);
  const auto kind = [&](int n) { return cells[n]["counterexample"]["judgement"]["kind"]; };
  BOOST_TEST(kind(0) == "crash");
  BOOST_TEST(kind(1) == "hang");
  BOOST_TEST(kind(2) == "zeros");
  BOOST_TEST(cells[1]["counterexample"]["judgement"]["failure"] == words);
  const std::string repeat = cells[1]["counterexample"]["repeat"];
  BOOST_TEST(repeat.find(" --time-limit 1 --kernels hangs --case ") != std::string::npos);
  const auto junit = test::text_of(junit_path);
  BOOST_TEST(junit.find("<failure type=\"hang\" message=\"" + words + "\">") != std::string::npos);
  BOOST_TEST(junit.find("<failure type=\"zeros\" message=\"o: every element is 0\">") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_failure_is_a_sarif_result_at_the_library) {
  const test::TemporaryFolder folder;
  const auto path = (folder / "report.sarif").string();
  verify(BAD_KERNELS, of_bad_kernel("aborts,gives_zeros") + " --sarif " + path);
  const auto sarif = json::parse(test::text_of(path));
  BOOST_TEST(sarif["version"] == "2.1.0");
  const auto& run = sarif["runs"][0];
  BOOST_REQUIRE(run["results"].size() == 2u);
  BOOST_TEST(run["results"][0]["ruleId"] == "crash");
  BOOST_TEST(run["results"][0]["level"] == "error");
  BOOST_TEST(run["results"][1]["ruleIndex"] == 1);
  BOOST_TEST(run["tool"]["driver"]["rules"][1]["id"] == "zeros");
  const auto& place = run["results"][0]["locations"][0];
  BOOST_TEST(place["physicalLocation"]["artifactLocation"]["uri"] == BAD_KERNELS);
  const std::string text = run["results"][0]["message"]["text"];
  BOOST_TEST(text.find("SIGABRT") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(two_reports_in_one_file_are_refused) {
  const test::TemporaryFolder folder;
  const auto path = (folder / "report").string();
  for (const std::string option : {"--json", "--junit"}) {
    const auto run = verify(EXAMPLE_IN_C,
                            option + " " + path + " --sarif " + (folder / "." / "report").string());
    BOOST_TEST(run.status == 2);
    BOOST_TEST(run.err.find(option + " and --sarif is ") != std::string::npos);
    BOOST_TEST(run.err.find("expected two files") != std::string::npos);
    BOOST_TEST(!std::filesystem::exists(path));
  }
}

BOOST_AUTO_TEST_CASE(the_shards_together_run_every_case_once) {
  const auto rows = [](const std::string& shard) {
    const auto run = verify(EXAMPLE_IN_C, "--bias alibi --dtype fp32 --cases 5 --json" + shard);
    const auto report = json::parse(run.out);
    return std::pair<int, int>(report["cases"], report["cells"][0]["rows"]);
  };
  const auto all = rows(""), first = rows(" --shard 1/2"), second = rows(" --shard 2/2");
  BOOST_TEST(first.first == 3);
  BOOST_TEST(second.first == 2);
  BOOST_TEST(first.second + second.second == all.second);
  BOOST_TEST(first.second != second.second);
  // Of several cells, equal shares of the whole run, and some that are empty.
  const auto cells = [](const std::string& shard) {
    const auto run = verify(TEST_KERNELS,
                            "--kernels right,may_differ_from_run_to_run --pass forward --bias nope "
                            "--dtype fp32 --cases 5 --json" +
                                shard);
    BOOST_TEST(run.status == 0);
    BOOST_TEST((run.err.find("none falls into shard 8/8") != std::string::npos) ==
               (shard == " --shard 8/8"));
    return json::parse(run.out);
  };
  const auto whole = cells("");
  BOOST_REQUIRE(whole["cells"].size() == 2u);
  BOOST_TEST(whole["cases"] == 6);
  for (const int count : {4, 8}) {
    int of_cell[2] = {}, rows_of_cell[2] = {};
    for (int shard = 1; shard <= count; ++shard) {
      if (count == 8 && shard == 7) continue;  // as the eighth
      const auto part = cells(" --shard " + std::to_string(shard) + "/" + std::to_string(count));
      BOOST_TEST(part["cases"] == (count == 8 ? shard <= 6 : shard <= 2 ? 2 : 1));
      for (const int cell : {0, 1}) {
        of_cell[cell] += part["cells"][cell]["cases"].get<int>();
        rows_of_cell[cell] += part["cells"][cell]["rows"].get<int>();
      }
    }
    for (const int cell : {0, 1}) {
      BOOST_TEST(whole["cells"][cell]["cases"] == of_cell[cell]);
      BOOST_TEST(whole["cells"][cell]["rows"] == rows_of_cell[cell]);
    }
  }
  for (const char* wrong : {"0/2", "3/2", "2", "1/2x", "a/b", "/2"}) {
    const auto run = test::plumbline("verify --cases 1 --shard " + std::string(wrong));
    BOOST_TEST(run.status == 2);
    BOOST_TEST(run.err.find("--shard is \"" + std::string(wrong) + "\"") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(a_library_that_cannot_be_used_is_bad_input_with_the_reason) {
  const test::TemporaryFolder folder;
  const auto text_file = (folder / "text.so").string();
  std::ofstream(text_file) << "not a library";
  const auto refused = [](const test::ProgramRun& run, int status, const std::string& words) {
    BOOST_TEST_CONTEXT(run.err) {
      BOOST_TEST(run.status == status);
      BOOST_TEST(run.out == "");
      BOOST_TEST(run.err.find(words) != std::string::npos, words);
    }
  };
  refused(verify("/nonexistent/mine.so", ""), 2,
          "--kernel is \"/nonexistent/mine.so\", which is not there; expected the path of a shared "
          "library");
  refused(verify("/tmp", ""), 2, "--kernel is \"/tmp\", a folder; expected");
  refused(verify(text_file, ""), 2, "expected a loadable shared library (the loader says: ");
  refused(verify(OTHER_LIBRARY, ""), 2,
          "expected a library that exports plumbline_kernel_library (plumbline_kernel.h)");
  const auto loading = [](const std::string& how) {
    return test::run("PLUMBLINE_TEST_LOADING=" + how + " " PLUMBLINE_PROGRAM,
                     "verify --kernel " BAD_KERNELS);
  };
  refused(loading("version"), 2, ": abi_version is 99; expected 16");
  refused(loading("crash"), 2,
          "expected a library that can be loaded (the library, while it was loaded, crashed "
          "(SIGSEGV): it wrote through a null pointer (address 0x0))");
  refused(loading("exit"), 2, "ended its process, with exit status 5)");
  refused(loading("none"), 3, "plumbline_kernel_library() returned null");
  refused(loading("twice"), 2,
          "kernel 1: name is \"null_pointer\", as that of kernel 0; expected a name of its own");
  refused(verify(BAD_KERNELS, "--time-limit 0"), 2, "--time-limit");
  refused(test::plumbline("verify --time-limit 3"), 2, "--kernel");
}

BOOST_AUTO_TEST_SUITE_END()
