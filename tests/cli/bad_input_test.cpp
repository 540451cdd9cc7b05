// SPDX-License-Identifier: Apache-2.0
// Every kind of bad input: status 2, one clear sentence on standard error, nothing on standard
// output, and nothing lost.
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "program.hpp"
#include "verdict/cases/case_file.hpp"

BOOST_AUTO_TEST_SUITE(bad_input_test)

using namespace plumbline;

namespace {

/// A good case and good-looking outputs, to be spoilt.
struct Files {
  test::TemporaryFolder folder;
  std::string case_path = (folder / "case.safetensors").string();
  std::string outputs_path = (folder / "outputs.safetensors").string();
  cases::Case the_case;

  Files() {
    cases::Spec spec;
    spec.bias = PLUMBLINE_ALIBI;
    spec.heads = 4;
    spec.kv_heads = 2;
    spec.queries = spec.keys = 6;
    spec.head_dim = 32;
    the_case = cases::generate(spec);
    cases::write_case(case_path, the_case);
    cases::OutputsFile outputs;
    outputs.contract = cases::undeclared_contract();
    outputs.outputs.o.assign(4 * 6 * 32, 0.0f);
    outputs.outputs.lse.assign(4 * 6, 0.0f);
    cases::write_outputs(outputs_path, the_case, outputs);
  }

  std::string judge() const { return "judge " + case_path + " " + outputs_path; }
  void set_case(const std::string& bytes) const {
    std::ofstream(case_path, std::ios::binary | std::ios::trunc) << bytes;
  }
  /// Replaces the case's header by `change` of it, with its true length before it.
  template <class Change>
  void change_header(const Change& change) const {
    const std::string bytes = test::text_of(case_path);
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    auto header = nlohmann::json::parse(bytes.substr(8, length));
    change(header);
    const std::string text = header.dump();
    length = text.size();
    set_case(std::string(reinterpret_cast<const char*>(&length), 8) + text +
             bytes.substr(8 + (bytes.size() - 8 - payload_bytes(bytes))));
  }
  static std::size_t payload_bytes(const std::string& bytes) {
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    return bytes.size() - 8 - length;
  }
};

/// Status 2, and a message that holds every one of these words.
void expect_refused(const std::string& arguments, const std::vector<std::string>& words) {
  const auto run = test::plumbline(arguments);
  BOOST_TEST_CONTEXT(arguments << "\nstandard error: " << run.err) {
    BOOST_TEST(run.status == 2);
    BOOST_TEST(run.out == "");
    for (const auto& word : words) BOOST_TEST(run.err.find(word) != std::string::npos, word);
  }
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(the_unspoilt_files_are_judged, Files) {
  BOOST_TEST(test::plumbline(judge()).status == 1);  // the outputs are all zero
}

BOOST_FIXTURE_TEST_CASE(a_case_file_of_no_bytes, Files) {
  set_case("");
  expect_refused(judge(), {"case.safetensors", "expected"});
}

BOOST_FIXTURE_TEST_CASE(a_truncated_case_file, Files) {
  const std::string bytes = test::text_of(case_path);
  for (const std::size_t length :
       {std::size_t{5}, std::size_t{8}, std::size_t{100}, bytes.size() - 1}) {
    set_case(bytes.substr(0, length));
    expect_refused(judge(), {"case.safetensors", "expected"});
  }
}

BOOST_FIXTURE_TEST_CASE(a_header_length_that_lies, Files) {
  std::string bytes = test::text_of(case_path);
  bytes[7] = '\x7f';  // 2^62 bytes
  set_case(bytes);
  expect_refused(judge(), {"header", "expected"});
}

BOOST_FIXTURE_TEST_CASE(a_shape_that_does_not_match_its_bytes, Files) {
  change_header([](auto& header) { header["slopes"]["shape"] = {5}; });
  expect_refused(judge(), {"slopes", "expected"});
}

BOOST_FIXTURE_TEST_CASE(a_key_tensor_of_another_shape_than_the_values, Files) {
  change_header([](auto& header) { header["v"]["shape"] = {1, 2, 32, 6}; });
  expect_refused(judge(), {"\"v\"", "expected"});
}

BOOST_FIXTURE_TEST_CASE(an_unknown_bias, Files) {
  change_header([](auto& header) {
    auto spec =
        nlohmann::json::parse(header["__metadata__"]["plumbline"].template get<std::string>());
    spec["bias"] = "alibbi";
    header["__metadata__"]["plumbline"] = spec.dump();
  });
  expect_refused(judge(), {"alibbi", "alibi", "cable", "ggd"});
}

BOOST_FIXTURE_TEST_CASE(a_slope_that_is_not_a_number, Files) {
  std::string bytes = test::text_of(case_path);
  const std::string slope(reinterpret_cast<const char*>(&the_case[PLUMBLINE_SLOPES][2]), 4);
  const float nan = std::nanf("");
  const std::size_t at = bytes.rfind(slope);
  BOOST_REQUIRE(at != std::string::npos);
  bytes.replace(at, 4, reinterpret_cast<const char*>(&nan), 4);
  set_case(bytes);
  expect_refused(judge(), {"slopes", "nan", "finite"});
}

BOOST_FIXTURE_TEST_CASE(a_head_count_that_the_key_heads_do_not_divide, Files) {
  expect_refused(
      "verify --case 'bias=nope,dtype=fp32,heads=3,kv_heads=2,queries=4,keys=4,head_dim=32'",
      {"heads", "3", "multiple"});
}

BOOST_AUTO_TEST_CASE(identities_of_what_they_do_not_know) {
  expect_refused("identities --dtype e4m3", {"--dtype", "e4m3", "fp32, bf16, fp16 or tf32"});
  expect_refused("identities --pass decode", {"--pass", "decode", "forward or backward"});
  const auto help = test::plumbline("identities --help");
  BOOST_TEST(help.status == 0);
  for (const char* unknown : {"decode", "e4m3", "e5m2"})
    BOOST_TEST(help.out.find(unknown) == std::string::npos, unknown);
  expect_refused("identities --keys 0", {"--keys", "0", "from 1"});
  expect_refused("identities --keys 8 --queries 9", {"--queries", "9", "--keys"});
  expect_refused("identities --heads 3 --kv-heads 2", {"--heads", "3", "multiple"});
  expect_refused("identities --kernels no_such_kernel", {"--kernels", "no_such_kernel", "fused"});
}

BOOST_AUTO_TEST_CASE(what_is_chosen_beside_a_case_agrees_with_it) {
  const std::string one =
      "verify --kernels naive --case 'pass=forward,bias=nope,dtype=fp32,heads=1,kv_heads=1,"
      "queries=2,keys=2,head_dim=32'";
  BOOST_TEST(test::plumbline(one + " --pass forward --bias nope,alibi --dtype fp32").status == 0);
  expect_refused(one + " --pass backward,decode",
                 {"--pass is without forward, which --case has", "no --pass"});
  expect_refused(one + " --bias alibi", {"--bias is without nope", "--case"});
  expect_refused(one + " --dtype bf16", {"--dtype is without fp32", "--case"});
}

BOOST_FIXTURE_TEST_CASE(an_empty_sequence, Files) {
  expect_refused(
      "verify --case 'bias=nope,dtype=fp32,heads=1,kv_heads=1,queries=0,keys=0,head_dim=32'",
      {"queries", "0", "expected"});
  change_header([](auto& header) {
    for (const char* name : {"q", "k", "v"}) header[name]["shape"][2] = 0;
  });
  expect_refused(judge(), {"expected"});
}

BOOST_FIXTURE_TEST_CASE(an_output_that_cannot_be_written_loses_nothing, Files) {
  expect_refused("oracle " + case_path + " /nonexistent/folder/reference.safetensors",
                 {"/nonexistent/folder"});
  expect_refused("oracle " + case_path + " " + (folder / "").string(), {"expected"});
  const auto report = (folder / "report.json").string();
  expect_refused("vectors /proc/plumbline --cases 1", {"/proc"});
  BOOST_TEST(!std::filesystem::exists(report));
}

BOOST_FIXTURE_TEST_CASE(an_oracle_that_would_overwrite_its_case, Files) {
  const std::string before = test::text_of(case_path);
  expect_refused("oracle " + case_path + " " + case_path, {"which is read (case "});
  BOOST_TEST(test::text_of(case_path) == before);
}

BOOST_FIXTURE_TEST_CASE(a_missing_case_file, Files) {
  expect_refused("judge no-such-case.safetensors " + outputs_path, {"no-such-case.safetensors"});
}

BOOST_FIXTURE_TEST_CASE(outputs_of_another_case, Files) {
  cases::Spec other = the_case.spec;
  other.queries = other.keys = 7;
  cases::write_case(case_path, cases::generate(other));
  expect_refused(judge(), {"outputs.safetensors", "shape", "expected"});
}

BOOST_FIXTURE_TEST_CASE(what_the_oracle_wrote_is_no_kernel_s_output, Files) {
  BOOST_TEST(test::plumbline("oracle " + case_path + " " + outputs_path).status == 0);
  expect_refused(judge(), {"outputs.safetensors", "the oracle's", "the outputs of a kernel"});
}

BOOST_FIXTURE_TEST_CASE(a_folder_that_has_cases_already, Files) {
  expect_refused("vectors " + (folder / "").string() + " --cases 1",
                 {"case.safetensors", "a new folder"});
  const std::string fresh = (folder / "fresh").string();
  BOOST_TEST(test::plumbline("vectors " + fresh + " --bias nope --dtype fp32 --cases 1").out ==
             "wrote 1 case and index.json to " + fresh + "\n");
  expect_refused("vectors " + fresh + " --cases 1", {"in use", "a new folder"});
}

BOOST_FIXTURE_TEST_CASE(a_report_into_a_pipe_that_nobody_reads, Files) {
  const std::string pipe = (folder / "pipe").string();
  BOOST_REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  expect_refused("claims bam/theorem_1 --json " + pipe, {"pipe", "nobody reads"});
}

BOOST_AUTO_TEST_CASE(options_of_which_one_would_be_ignored) {
  expect_refused("verify --kernel ./mine.so --backend cuda", {"--kernel", "--backend"});
  for (const char* other : {"--bias alibi", "--dtype bf16", "--cases 3", "--seed 7"}) {
    const std::string option = std::string(other).substr(0, std::string(other).find(' '));
    const std::string both = std::string(" --case bias=nope ") + other;
    expect_refused("verify" + both, {"--case", option});
    expect_refused("vectors /nonexistent" + both, {"--case", option});
  }
}

BOOST_AUTO_TEST_CASE(names_that_stand_there_twice) {
  expect_refused("verify --bias alibi,alibi", {"--bias", "\"alibi\" twice"});
  expect_refused("verify --dtype fp32,bf16,fp32", {"--dtype", "\"fp32\" twice"});
  expect_refused("verify --bias alibi,,cable", {"--bias is \"alibi,,cable\"", "empty items"});
  expect_refused("verify --backend emulated --kernels naive,naive", {"--kernels", "twice"});
}

BOOST_AUTO_TEST_CASE(options_and_names_that_do_not_exist) {
  expect_refused("", {"plumbline: ", "subcommand"});
  expect_refused("verfy", {"the command is \"verfy\"; expected one of verify, "});
  expect_refused("verify --no-such-option", {"plumbline: ", "--no-such-option"});
  expect_refused("verify --bias alibbi", {"--bias", "alibbi", "alibi"});
  expect_refused("verify --dtype fp63", {"--dtype", "fp63", "fp32"});
  expect_refused("verify --kernels nave", {"--kernels", "nave", "naive"});
  expect_refused("verify --cases 0", {"--cases is \"0\"", "a whole number from 1 to 100000000"});
  expect_refused("verify --cases many", {"--cases is \"many\"", "a whole number from 1 to"});
  expect_refused("verify --cases 010", {"--cases is \"010\"", "a whole number"});
  for (const char* limit : {"nan", "inf", "0", "0x1", "1e999", "soon"}) {
    const std::string option = std::string("--time-limit ") + limit;
    expect_refused("verify --kernel ./mine.so " + option,
                   {std::string("--time-limit is \"") + limit + "\"", "from 0.01 to 86400"});
  }
  expect_refused("verify --seed -1", {"--seed", "-1", "whole number"});
  expect_refused("verify --seed 18446744073709551616", {"--seed", "2^64"});
  expect_refused("verify --kernel ''", {"--kernel", "empty"});
  expect_refused("verify --case ''", {"--case", "empty"});
  expect_refused("verify --cases 1 --json a --junit a", {"two files"});
  expect_refused("golden generate /proc/plumbline", {"/proc/plumbline", "created"});
  expect_refused("verify --backend gpu", {"--backend", "emulated"});
  expect_refused("verify --kernel ./no-such-kernel.so", {"no-such-kernel.so"});
  expect_refused("verify --case bias=alibi,colour=red", {"colour"});
  expect_refused("claims no/such_claim", {"no/such_claim", "bam/theorem_1"});
  expect_refused("golden check /nonexistent", {"/nonexistent"});
  expect_refused("verify --cases 1 --json --junit", {"--json and --junit", "standard output"});
  expect_refused("verify --cases 1 --sarif -", {"--sarif", "a file"});
  expect_refused("verify --json /nonexistent/report.json", {"/nonexistent"});
}

BOOST_AUTO_TEST_SUITE_END()
