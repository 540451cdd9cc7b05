// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <nlohmann/json.hpp>

#include "golden/golden.hpp"
#include "support/text.hpp"

namespace plumbline::golden {

void write_text(const GoldenReport& report, std::ostream& out) {
  out << fmt::format("{:<28} {:>6} {:>8} {:>12}  {}\n", "file", "cases", "numbers", "error/bound",
                     "verdict");
  for (const FileResult& file : report.files) {
    out << fmt::format("{:<28} {:>6} {:>8} {:>12.3f}  {}\n", file.file, file.cases, file.numbers,
                       file.worst, file.failures.empty() ? "pass" : "FAIL");
    for (const std::string& failure : file.failures) out << "    " << failure << "\n";
  }
  out << (report.passed() ? "The golden numbers are as the manifest and the equations have them.\n"
                          : "The golden numbers are NOT as they should be.\n");
}

nlohmann::json to_json(const GoldenReport& report) {
  nlohmann::json files = nlohmann::json::array();
  for (const FileResult& file : report.files) {
    files.push_back({{"file", file.file},
                     {"cases", file.cases},
                     {"numbers", file.numbers},
                     {"worst_error_over_bound", file.worst},
                     {"failures", file.failures}});
  }
  return {{"files", files}, {"passed", report.passed()}};
}

void write_junit(const GoldenReport& report, std::ostream& out) {
  boost::property_tree::ptree suite;
  suite.put("<xmlattr>.name", "plumbline golden check");
  suite.put("<xmlattr>.tests", report.files.size());
  suite.put("<xmlattr>.failures",
            std::count_if(report.files.begin(), report.files.end(),
                          [](const FileResult& file) { return !file.failures.empty(); }));
  for (const FileResult& file : report.files) {
    boost::property_tree::ptree test;
    test.put("<xmlattr>.classname", "golden");
    test.put("<xmlattr>.name", file.file);
    if (!file.failures.empty()) {
      test.put("failure.<xmlattr>.message", file.failures.front());
      test.put("failure", fmt::format("{}", fmt::join(file.failures, "\n")));
    }
    suite.add_child("testcase", test);
  }
  boost::property_tree::ptree root;
  root.add_child("testsuites.testsuite", suite);
  boost::property_tree::write_xml(
      out, root, boost::property_tree::xml_writer_make_settings<std::string>(' ', 2));
}

}  // namespace plumbline::golden
