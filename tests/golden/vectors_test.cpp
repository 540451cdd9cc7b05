// SPDX-License-Identifier: Apache-2.0
// The golden vectors: right, the same each time, and guarded against every kind of damage.
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "golden/golden.hpp"
#include "golden/vector_file.hpp"
#include "support/atomic_file.hpp"
#include "support/error.hpp"
#include "support/sha256.hpp"

using namespace plumbline::golden;
namespace fs = std::filesystem;

namespace {

const fs::path frozen = PLUMBLINE_GOLDEN_FOLDER;

/// A copy of manifest and vectors, removed at the end.
class Copy {
 public:
  Copy() : folder_(fs::temp_directory_path() / ("plumbline_golden_" + std::to_string(getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    fs::copy(frozen / "vectors", folder_ / "vectors", fs::copy_options::recursive);
    fs::copy(frozen / "manifest.json", folder_ / "manifest.json");
  }
  ~Copy() { fs::remove_all(folder_); }
  const fs::path& folder() const { return folder_; }

  std::string read(const std::string& file) const { return plumbline::read_file(folder_ / file); }
  void write(const std::string& file, const std::string& text) const {
    plumbline::write_file(folder_ / file, text);
  }
  /// Makes the manifest agree with what `file` now holds.
  void sign(const std::string& file) const {
    auto manifest = nlohmann::json::parse(read("manifest.json"));
    for (auto& entry : manifest["files"]) {
      if (entry["file"] == file) entry["sha256"] = plumbline::sha256(read(file));
    }
    write("manifest.json", manifest.dump());
  }
  /// Changes the cases of a method's file, and signs it.
  template <class Change>
  void change(const std::string& method, const Change& how) const {
    const std::string file = "vectors/" + method + ".json";
    std::vector<GoldenCase> all = from_json_text(read(file), file);
    how(all);
    write(file, to_json_text(method, all));
    sign(file);
  }

 private:
  fs::path folder_;
};

std::string failures(const GoldenReport& report) {
  std::string all;
  for (const FileResult& file : report.files) {
    for (const std::string& failure : file.failures) all += file.file + ": " + failure + "\n";
  }
  return all;
}

bool says(const GoldenReport& report, const std::string& part) {
  return failures(report).find(part) != std::string::npos;
}

const Tensor<double>& output(const GoldenCase& golden, const std::string& name) {
  return golden.outputs.at(name);
}

/// One key, one query, one head: everything can be seen.
Problem one_key() {
  Problem problem = problems("nope").front();
  problem.setting.shape = {1, 1, 1, 1, 1, 4, 0};
  problem.inputs = {{"q", {{1, 1, 1, 4}, {1, 2, 0, -1}}},
                    {"k", {{1, 1, 1, 4}, {0.5, 0.25, 3, 1}}},
                    {"v", {{1, 1, 1, 4}, {1, -2, 0.125, 4}}},
                    {"grad_o", {{1, 1, 1, 4}, {1, 0, -1, 2}}},
                    {"grad_lse", {{1, 1, 1}, {0.5}}}};
  validate(problem);
  return problem;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_frozen_numbers_pass) {
  const GoldenReport report = golden_check(frozen);
  BOOST_TEST(report.passed(), failures(report));
  BOOST_TEST(report.files.size() == methods::all_methods().size());
  for (const FileResult& file : report.files) {
    BOOST_TEST(file.cases >= 2u);
    BOOST_TEST(file.numbers > 100u);
    BOOST_TEST(file.worst <= 1.0);
    // Something was compared; sums of multiples of 1/16 are exact.
    BOOST_TEST((file.worst > 0.0 || file.file == "vectors/learnable.json"), file.file);
  }
}

BOOST_AUTO_TEST_CASE(generation_gives_the_frozen_bytes) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const methods::MethodInfo& method : methods::all_methods()) {
    const std::string file = "vectors/" + method.name + ".json";
    files.emplace_back(file, vectors_text(method.name));
    BOOST_TEST((files.back().second == plumbline::read_file(frozen / file)),
               file << " is not what plumbline golden generate writes");
  }
  BOOST_TEST(manifest_text(files) == plumbline::read_file(frozen / "manifest.json"));
}

BOOST_AUTO_TEST_CASE(generate_writes_a_folder_that_passes) {
  const Copy copy;
  const fs::path fresh = copy.folder() / "fresh";
  BOOST_TEST(golden_generate(fresh).size() == methods::all_methods().size() + 1);
  BOOST_TEST(golden_check(fresh).passed());
}

BOOST_AUTO_TEST_CASE(one_key_returns_its_value_and_its_logit) {
  const GoldenCase golden = solve(one_key());
  const std::vector<double> v = {1, -2, 0.125, 4}, zero = {0, 0, 0, 0}, grad_o = {1, 0, -1, 2};
  BOOST_TEST(output(golden, "o").data == v, boost::test_tools::per_element());
  // scale q.k = (0.5 + 0.5 + 0 - 1) / 2 = 0.
  BOOST_TEST(output(golden, "lse").data[0] == 0.0);
  BOOST_TEST(output(golden, "grad_v").data == grad_o, boost::test_tools::per_element());
  // dL/dq = dL/dlse scale k.
  const std::vector<double> grad_q = {0.125, 0.0625, 0.75, 0.25};
  BOOST_TEST(output(golden, "grad_q").data == grad_q, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(biases_are_their_formulas) {
  const auto bias_of = [](const char* method) {
    return output(solve(problems(method).front()), "bias").data;
  };
  const Problem cable = problems("cable").front();
  const Problem alibi = problems("alibi").front();
  const auto cable_bias = bias_of("cable");
  const auto alibi_bias = bias_of("alibi");
  const int T = 5;
  for (int i = 0; i < T; ++i) {
    for (int j = 0; j <= i; ++j) {
      double increments = 0;  // exact: multiples of 1/8
      for (int k = j + 1; k <= i; ++k) increments += cable.inputs.at("increments").data[k];
      BOOST_TEST(cable_bias[i * T + j] == -double{cable.inputs.at("gain").data[i]} * increments);
      BOOST_TEST(alibi_bias[i * T + j] == -double{alibi.inputs.at("slopes").data[0]} * (i - j));
    }
  }
}

BOOST_AUTO_TEST_CASE(rows_that_see_no_key_have_minus_infinity) {
  int rows = 0;
  for (const Problem& problem : problems("k_cable")) {
    for (double lse : output(solve(problem), "lse").data) rows += std::isinf(lse) && lse < 0;
  }
  BOOST_TEST(rows == 4);  // documents_ragged: positions 3, 4 of the second sequence, two heads
}

BOOST_AUTO_TEST_CASE(a_changed_byte_is_seen_by_the_manifest) {
  const Copy copy;
  copy.write("vectors/nope.json", copy.read("vectors/nope.json") + " ");
  const GoldenReport report = golden_check(copy.folder());
  BOOST_TEST(!report.passed());
  BOOST_TEST(says(report, "vectors/nope.json: its SHA-256 is "));
}

BOOST_AUTO_TEST_CASE(the_last_bit_of_any_output_is_seen_even_when_the_manifest_is_changed_too) {
  const Copy copy;
  for (const char* name : {"o", "lse", "bias", "grad_q", "grad_v", "grad_gain"}) {
    std::string expected;
    copy.change("cable", [&](std::vector<GoldenCase>& all) {
      double& number = all[1].outputs.at(name).data[1];
      number = std::nextafter(number, 1e9);
      expected = std::string("bidirectional: ") + name + "[1] is " + hex(number) + ", MPFR gives";
    });
    const GoldenReport report = golden_check(copy.folder());
    BOOST_TEST(!report.passed());
    BOOST_TEST(says(report, expected), expected << "\n" << failures(report));
    copy.write("vectors/cable.json", vectors_text("cable"));
  }
}

BOOST_AUTO_TEST_CASE(a_number_beyond_the_rounding_error_is_seen_by_the_double_reading) {
  const Copy copy;
  copy.change("alibi",
              [](std::vector<GoldenCase>& all) { all[0].outputs.at("o").data[3] *= 1 + 0x1p-40; });
  const GoldenReport report = golden_check(copy.folder());
  BOOST_TEST(says(report, "causal: o[3] is "));
  BOOST_TEST(says(report, ", double gives "));
}

BOOST_AUTO_TEST_CASE(an_lse_of_an_empty_row_other_than_minus_infinity_is_seen) {
  const Copy copy;
  copy.change("nope", [](std::vector<GoldenCase>& all) {
    for (double& lse : all[3].outputs.at("lse").data) {
      if (std::isinf(lse)) lse = 0;
    }
  });
  BOOST_TEST(says(golden_check(copy.folder()), "the row sees no key: -inf"));
}

BOOST_AUTO_TEST_CASE(a_missing_or_unknown_output_is_seen) {
  const Copy copy;
  copy.change("ggd", [](std::vector<GoldenCase>& all) {
    all[0].outputs["surprise"] = all[0].outputs.at("lse");
    all[0].outputs.erase("grad_theta_mu");
  });
  const GoldenReport report = golden_check(copy.folder());
  BOOST_TEST(says(report, "causal: grad_theta_mu is missing"));
  BOOST_TEST(says(report, "causal: \"surprise\" is not an output"));
}

BOOST_AUTO_TEST_CASE(files_that_are_missing_or_not_in_the_manifest_are_seen) {
  const Copy copy;
  fs::rename(copy.folder() / "vectors/nope.json", copy.folder() / "vectors/other.json");
  const GoldenReport report = golden_check(copy.folder());
  BOOST_TEST(!report.passed());
  BOOST_TEST(says(report, "vectors/nope.json: "));
  BOOST_TEST(says(report, "vectors/other.json: the manifest does not name it"));
}

BOOST_AUTO_TEST_CASE(a_file_that_is_no_golden_file_is_a_failure_of_that_file) {
  const Copy copy;
  const std::string whole = copy.read("vectors/nope.json");
  const std::string lies[] = {"",
                              "{}",
                              "[1]",
                              "null",
                              whole.substr(0, whole.size() / 2),
                              R"({"format":"plumbline-golden-1","method":"nope","cases":[]})",
                              R"({"format":"plumbline-golden-1","method":"nope","cases":[{}]})",
                              R"({"format":"plumbline-golden-1","method":"unknown","cases":[]})"};
  for (const std::string& lie : lies) {
    copy.write("vectors/nope.json", lie);
    copy.sign("vectors/nope.json");
    const GoldenReport report = golden_check(copy.folder());
    BOOST_TEST(!report.passed(), lie.substr(0, 80));
    BOOST_TEST(says(report, "vectors/nope.json: "));
  }
}

BOOST_AUTO_TEST_CASE(wrong_shapes_and_numbers_are_refused) {
  const std::string good = vectors_text("nope");
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string bad = good;
    const std::size_t at = bad.find(from);
    BOOST_REQUIRE(at != std::string::npos);
    bad.replace(at, from.size(), to);
    BOOST_CHECK_THROW(from_json_text(bad, "file"), plumbline::BadInput);
  };
  BOOST_TEST(from_json_text(good, "file").size() == 6u);
  refused("\"keys\": 5", "\"keys\": 6");
  refused("\"heads\": 2", "\"heads\": 3");
  refused("\"queries\": 5", "\"queries\": 0");
  refused("\"head_dim\": 4", "\"head_dim\": 2000000000");
  refused("\"scale\": \"0x1p-1\"", "\"scale\": \"nan\"");
  refused("\"data\": \"", "\"data\": \"0x1p+0 ");
  refused("\"data\": \"", "\"data\": \"x ");
  refused("\"grad_lse\"", "\"grad_lsf\"");

  const auto refused_json = [&](const auto& spoil) {
    auto json = nlohmann::json::parse(good);
    spoil(json["cases"][0]);
    BOOST_CHECK_THROW(from_json_text(json.dump(), "file"), plumbline::BadInput);
  };
  refused_json([](auto& one) { one["inputs"]["q"]["shape"] = {40}; });
  refused_json([](auto& one) { one["inputs"]["surprise"] = one["inputs"]["q"]; });
  refused_json([](auto& one) { one["inputs"].erase("grad_o"); });
  refused_json([](auto& one) { one["outputs"]["o"]["data"] = "0x1p+0"; });
  refused_json([](auto& one) { one["outputs"]["o"]["shape"] = {-1, -40}; });
}

BOOST_AUTO_TEST_CASE(a_manifest_that_cannot_be_used_is_bad_input) {
  const Copy copy;
  for (
      const char* manifest :
      {"", "{}", R"({"format":"plumbline-golden-manifest-2","files":[]})",
       R"({"format":"plumbline-golden-manifest-1","files":[{"file":"vectors/../x","sha256":""}]})",
       R"({"format":"plumbline-golden-manifest-1","files":[{"file":"/etc/passwd","sha256":""}]})"}) {
    copy.write("manifest.json", manifest);
    BOOST_CHECK_THROW(golden_check(copy.folder()), plumbline::BadInput);
  }
  fs::remove(copy.folder() / "manifest.json");
  BOOST_CHECK_THROW(golden_check(copy.folder()), plumbline::BadInput);
  BOOST_CHECK_THROW(golden_check(copy.folder() / "nowhere"), plumbline::BadInput);
}

BOOST_AUTO_TEST_CASE(an_empty_manifest_does_not_pass) {
  const Copy copy;
  fs::remove_all(copy.folder() / "vectors");
  copy.write("manifest.json", R"({"format":"plumbline-golden-manifest-1","files":[]})");
  BOOST_TEST(!golden_check(copy.folder()).passed());
}

BOOST_AUTO_TEST_CASE(numbers_survive_as_hexadecimal_text) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (double x : {0.0, 1.0, -2.5, 1e-5, 0x1p-1074, 0x1.fffffffffffffp+1023, -infinity}) {
    BOOST_TEST(from_hex(hex(x)) == x);
  }
  BOOST_TEST(hex(-0.15625) == "-0x1.4p-3");
  for (const char* bad :
       {"", "1", "0x1", "0x1p", "0x1p+0 ", " 0x1p+0", "0X1p+0", "nan?", "0x2p+0"}) {
    BOOST_CHECK_THROW(from_hex(bad), plumbline::BadInput);
  }
}

// FIPS 180-4's own example, and the empty string.
BOOST_AUTO_TEST_CASE(the_hash_is_sha_256) {
  BOOST_TEST(plumbline::sha256("abc") ==
             "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  BOOST_TEST(plumbline::sha256("") ==
             "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}
