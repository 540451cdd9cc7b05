// SPDX-License-Identifier: Apache-2.0
// The program from outside: statuses, reports, repeatability, and the way from vectors to a
// verdict.
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "program.hpp"
#include "verdict/cases/case_file.hpp"

BOOST_AUTO_TEST_SUITE(verify_test)

using namespace plumbline;
using nlohmann::json;

BOOST_AUTO_TEST_CASE(verify_passes_and_says_so_in_every_form) {
  const test::TemporaryFolder folder;
  const auto report_path = (folder / "report.json").string();
  const auto junit_path = (folder / "report.xml").string();
  const auto page_path = (folder / "page").string();
  const auto run = test::plumbline(
      "verify --kernels fused --pass forward --bias alibi,ggd --dtype bf16 --cases 6 --json " +
      report_path + " --junit " + junit_path + " --html " + page_path);
  BOOST_TEST(run.status == 0);
  BOOST_TEST(run.err == "");
  BOOST_TEST(run.out.find("fused            forward  alibi") != std::string::npos);
  const auto report = json::parse(test::text_of(report_path));
  BOOST_TEST(report["outcome"] == "pass");
  BOOST_TEST(report["cases"] == 6);
  BOOST_TEST(report["cells"].size() == 2u);
  BOOST_TEST(report["cells"][0]["rows"].get<int>() > 0);
  BOOST_TEST(test::text_of(junit_path).find("tests=\"2\" failures=\"0\"") != std::string::npos);
  const auto page = test::text_of(page_path + "/index.html");
  BOOST_TEST(page.find(report["cells"][1]["outputs"]["o"]["worst_case"].get<std::string>()) !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(rope_goes_with_a_bias_of_each_family) {
  const auto run = test::plumbline(
      "verify --kernels fused,mma_rope,split_kv --bias "
      "alibi+rope_half_split,cable+rope_interleaved,fire+rope_half_split --cases 1 --json");
  BOOST_TEST(run.status == 0, run.out);
  const json report = json::parse(run.out);
  int passes = 0;
  for (const auto& cell : report["cells"]) {
    const std::string bias = cell["bias"];
    BOOST_TEST(bias.find("+rope_") != std::string::npos);
    passes += bias == "alibi+rope_half_split" ? 1 : 0;
  }
  // Forward, backward and decoding, in four formats; mma_rope has no fp32.
  BOOST_TEST(passes == 18);
  const auto refused = test::plumbline("verify --bias cope+rope_half_split");
  BOOST_TEST(refused.status == 2);
  BOOST_TEST(refused.err.find("most also with +rope_interleaved") != std::string::npos,
             refused.err);
}

BOOST_AUTO_TEST_CASE(a_page_is_not_written_where_there_is_a_file) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "file") << "mine";
  const auto path = (folder / "file").string();
  for (const std::string command : {"verify --cases 1", "judge no.case no.outputs"}) {
    const auto run = test::plumbline(command + " --html " + path);
    BOOST_TEST(run.status == 2);
    BOOST_TEST(
        run.err.find("--html is \"" + path + "\", which is not a folder") != std::string::npos,
        run.err);
    BOOST_TEST(test::text_of(path) == "mine");
  }
}

BOOST_AUTO_TEST_CASE(the_same_seed_gives_the_same_report) {
  const auto report = [](const std::string& seed) {
    const auto run =
        test::plumbline("verify --kernels tiled --bias cable --cases 4 --json --seed " + seed);
    auto parsed = json::parse(run.out);
    parsed.erase("seconds");
    return parsed.dump();
  };
  const auto first = report("7");
  BOOST_TEST(first == report("7"));
  BOOST_TEST(first != report("8"));
}

BOOST_AUTO_TEST_CASE(vectors_oracle_and_judge_work_together) {
  const test::TemporaryFolder folder;
  const auto cases_path = (folder / "cases").string();
  BOOST_TEST(
      test::plumbline("vectors " + cases_path + " --bias k_cable --dtype fp32 --cases 3").status ==
      0);
  const auto index = json::parse(test::text_of(folder / "cases/index.json"));
  BOOST_TEST(index["cases"].size() == 3u);
  const std::string name = index["cases"][2]["file"];
  const auto case_path = (folder / ("cases/" + name)).string();
  const auto reference_path = (folder / "reference.safetensors").string();
  BOOST_TEST(test::plumbline("oracle " + case_path + " " + reference_path).status == 0);
  BOOST_TEST(std::filesystem::file_size(reference_path) > 0);

  // Outputs that were never computed: every element of o that is not 0 fails.
  const auto the_case = cases::read_case(case_path);
  cases::OutputsFile zeros;
  zeros.contract = cases::undeclared_contract();
  zeros.outputs.o.assign(the_case.q.size(), 0.0f);
  zeros.outputs.lse.assign(the_case.q.size() / the_case.spec.head_dim, 0.0f);
  const auto outputs_path = (folder / "outputs.safetensors").string();
  cases::write_outputs(outputs_path, the_case, zeros);
  const auto page_path = (folder / "page").string();
  const auto judged =
      test::plumbline("judge " + case_path + " " + outputs_path + " --html " + page_path);
  BOOST_TEST(judged.status == 1);
  BOOST_TEST(judged.out.find("FAIL") != std::string::npos);
  BOOST_TEST(judged.out.find(" elements fail, ") != std::string::npos);
  const auto page = test::text_of(page_path + "/index.html");
  BOOST_TEST(page.find("<code>./plumbline judge " + case_path + " " + outputs_path + "</code>") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_machine_without_a_gpu_is_told_so) {
  const auto run = test::plumbline("verify --backend cuda --cases 1");
  if (run.status == 3) {
    BOOST_TEST(run.err.find("cuda") != std::string::npos);
  } else {
    BOOST_TEST(run.status == 0);  // there is one
  }
}

BOOST_AUTO_TEST_CASE(a_report_that_finds_no_room_is_no_success) {
  const std::string command =
      std::string(PLUMBLINE_PROGRAM) + " claims bam/z_sum --json >/dev/full 2>/dev/null";
  const int status = std::system(command.c_str());
  BOOST_TEST(WEXITSTATUS(status) == 2);
}

/// The program beside other built-in kernels: those of the test.
std::string program_with_test_kernels(const std::filesystem::path& prefix) {
  std::filesystem::create_directories(prefix / "bin");
  std::filesystem::create_directories(prefix / "lib");
  const auto program = prefix / "bin/plumbline";
  std::error_code error;  // on another device: a copy
  std::filesystem::create_hard_link(PLUMBLINE_PROGRAM, program, error);
  if (error) std::filesystem::copy_file(PLUMBLINE_PROGRAM, program);
  std::filesystem::copy_file(TEST_KERNELS, prefix / "lib/libplumbline_kernels_emulated.so");
  return program.string();
}

BOOST_AUTO_TEST_CASE(a_built_in_kernel_that_ends_the_program_is_named_with_its_case) {
  const test::TemporaryFolder folder;
  const auto program = program_with_test_kernels(folder / "prefix");
  for (const char* kernel : {"ends_the_program", "crashes"}) {
    const auto run =
        test::run(program, std::string("verify --backend emulated --kernels ") + kernel +
                               " --pass forward --bias nope --dtype fp32 --cases 1");
    BOOST_TEST_CONTEXT(run.err) {
      BOOST_TEST(run.status == 1);
      BOOST_TEST(run.err.find(std::string("--kernels ") + kernel +
                              " --case 'pass=forward,bias=nope") != std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(help_and_version_are_no_errors) {
  BOOST_TEST(test::plumbline("--version").out.starts_with("plumbline "));
  for (const char* command :
       {"verify", "judge", "oracle", "vectors", "claims", "golden", "methods"}) {
    const auto run = test::plumbline(std::string(command) + " --help");
    BOOST_TEST(run.status == 0);
    BOOST_TEST(run.out.size() > 100u);
  }
}

BOOST_AUTO_TEST_CASE(golden_numbers_of_this_version_hold_and_an_edited_one_does_not) {
  BOOST_TEST(test::plumbline("golden check " PLUMBLINE_GOLDEN).status == 0);
  const test::TemporaryFolder folder;
  std::filesystem::copy(PLUMBLINE_GOLDEN, folder / "golden",
                        std::filesystem::copy_options::recursive);
  std::ofstream(folder / "golden/vectors/alibi.json", std::ios::app) << "\n";
  const auto run = test::plumbline("golden check " + (folder / "golden").string());
  BOOST_TEST(run.status == 1);
  BOOST_TEST(run.out.find("alibi.json") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(one_claim_is_checked_and_reported) {
  BOOST_TEST(test::plumbline("claims cable/ --json").out ==
             test::plumbline("claims cable --json").out);
  const auto run = test::plumbline("claims bam/theorem_1 --json");
  BOOST_TEST(run.status == 0);
  BOOST_TEST(run.out.find("bam/theorem_1") != std::string::npos);
  BOOST_CHECK_NO_THROW(json::parse(run.out));
}

BOOST_AUTO_TEST_SUITE_END()
