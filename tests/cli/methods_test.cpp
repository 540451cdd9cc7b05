// SPDX-License-Identifier: Apache-2.0
// The table of methods is computed: it shows what is there, what is not, and what fails.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "program.hpp"
#include "tests/at_length.hpp"
#include "verdict/cases/spec.hpp"

BOOST_AUTO_TEST_SUITE(methods_test)

using namespace plumbline;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr const char* oracle_columns[] = {"value", "gradient", "enclosure", "golden"};

json methods_of(const std::string& arguments, int status) {
  const auto run = test::plumbline("methods --json - " + arguments);
  BOOST_TEST(run.status == status, run.err);
  return json::parse(run.out);
}

json row_of(const json& report, const std::string& method) {
  for (const json& row : report["methods"]) {
    if (row["method"] == method) return row;
  }
  throw std::runtime_error("no row " + method);
}

/// The golden numbers of these methods, as if there were no others: a copy.
void copy_golden(const fs::path& to, const std::set<std::string>& methods) {
  fs::copy(PLUMBLINE_GOLDEN, to, fs::copy_options::recursive);
  json manifest = json::parse(test::text_of(to / "manifest.json"));
  json& files = manifest["files"];
  for (auto file = files.begin(); file != files.end();) {
    const fs::path name = (*file)["file"].get<std::string>();
    const bool kept = name.parent_path() != "vectors" || methods.contains(name.stem().string());
    if (!kept) fs::remove(to / name);
    file = kept ? file + 1 : files.erase(file);
  }
  std::ofstream(to / "manifest.json", std::ios::trunc) << manifest.dump();
}

}  // namespace

BOOST_AUTO_TEST_CASE(no_cell_of_the_oracle_is_empty_for_any_method) {
  const json report = methods_of("--oracle-only " PLUMBLINE_GOLDEN, 0);
  BOOST_TEST(report["passed"] == true);
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& file : fs::directory_iterator(PLUMBLINE_GOLDEN "/vectors")) {
    ++files;
  }
  BOOST_TEST(report["methods"].size() == files);
  for (const json& row : report["methods"]) {
    BOOST_TEST_CONTEXT(row["method"]) {
      for (const char* column : oracle_columns) {
        BOOST_TEST(row[column]["state"] == "ok", column);
        BOOST_TEST(row[column]["numbers"].get<int>() > 0, column);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(no_cell_of_the_kernels_is_empty_for_any_method, *test::only_at_length) {
  const json report = methods_of(PLUMBLINE_GOLDEN, 0);
  // The emulated kernels are always there; they have the biases of the interface.
  for (const auto bias : cases::all_biases()) {
    const json cell = row_of(report, std::string(cases::name(bias)))["forward"];
    BOOST_TEST(cell["state"] == "ok", cases::name(bias));
    BOOST_TEST(cell["cases"].get<int>() >= (cases::needs_scores(bias) ? 2 : 10), cases::name(bias));
  }
  // And what is made of them, in every pass.
  for (const json& row : report["methods"]) {
    for (const char* column : {"forward", "backward", "decode"}) {
      BOOST_TEST(row[column]["state"] == "ok", row["method"] << " " << column);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_damaged_number_and_a_missing_file_fail) {
  const test::TemporaryFolder folder;
  copy_golden(folder / "golden", {"nope", "fox", "t5", "fire", "cable"});
  const auto path = [&](const std::string& method) {
    return folder / ("golden/vectors/" + method + ".json");
  };
  fs::remove(path("nope"));
  std::ofstream(path("fox"), std::ios::app) << "\n";
  std::ofstream(path("t5"), std::ios::trunc) << "{}";
  json damaged = json::parse(test::text_of(path("fire")));
  std::string& numbers = damaged["cases"][0]["outputs"]["o"]["data"].get_ref<std::string&>();
  numbers = "0x1p+4" + numbers.substr(numbers.find(' '));
  std::ofstream(path("fire"), std::ios::trunc) << damaged.dump();

  const auto run = test::plumbline("methods --oracle-only --json " + (folder / "report").string() +
                                   " " + (folder / "golden").string());
  BOOST_TEST(run.status == 1, run.err);
  const json report = json::parse(test::text_of(folder / "report"));
  BOOST_TEST(report["passed"] == false);
  const auto states = [&](const char* method) {
    std::string all;
    for (const char* column : oracle_columns) {
      all += (all.empty() ? "" : " ") + row_of(report, method)[column]["state"].get<std::string>();
    }
    return all;
  };
  BOOST_TEST(states("nope") == "- - - FAIL");
  BOOST_TEST(states("fox") == "ok ok ok FAIL");
  BOOST_TEST(states("t5") == "- - - FAIL");
  BOOST_TEST(states("fire") == "FAIL ok FAIL FAIL");  // the adjoint does not read the outputs
  BOOST_TEST(states("cable") == "ok ok ok ok");

  // The table tells the same.
  BOOST_TEST(run.out.find("FAIL") != std::string::npos);
  BOOST_TEST(run.out.find("golden: its SHA-256 is not the manifest's") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_method_without_golden_numbers_does_not_pass) {
  const test::TemporaryFolder folder;
  copy_golden(folder / "golden", {"fox"});
  const json report = methods_of("--oracle-only " + (folder / "golden").string(), 1);
  BOOST_TEST(report["passed"] == false);
  BOOST_TEST(row_of(report, "nope")["value"]["state"] == "-");
  BOOST_TEST(row_of(report, "nope")["golden"]["state"] == "-");
  BOOST_TEST(row_of(report, "fox")["golden"]["state"] == "ok");
}

BOOST_AUTO_TEST_SUITE_END()
