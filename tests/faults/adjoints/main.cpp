// SPDX-License-Identifier: Apache-2.0
// adjoint_mutants LIST EQUIVALENT: makes one sign at a time wrong in the adjoints of the headers
// that the file LIST names, and fails unless a test notices each but those that the file EQUIVALENT
// names.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <exception>
#include <fstream>
#include <iostream>
#include <optional>
#include <set>
#include <string>

#include "tests/faults/adjoints/planted.hpp"

namespace plumbline::adjoint_mutants {
namespace {

using SiteName = std::pair<const PlantedHeader*, int>;

/// A test case, how long it takes, and which sites it passes through.
struct Measured {
  TestCase test;
  double seconds;
  std::set<SiteName> reached;
};

/// What the case fails with, if it fails.
std::optional<std::string> failure(const TestCase& test) {
  try {
    test.run();
    return std::nullopt;
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// The control: without a fault every case passes. Cheapest cases first.
std::vector<Measured> measured_cases(bool& all_right) {
  std::vector<Measured> cases;
  for (const TestCase& test : test_cases()) {
    for (PlantedHeader* header : PlantedHeader::all()) {
      for (Site& site : header->sites) site.reached = false;
    }
    const auto start = std::chrono::steady_clock::now();
    if (const auto error = failure(test)) {
      std::cout << test.file << ": " << test.name << " fails without a fault: " << *error << "\n";
      all_right = false;
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    Measured measured{test, seconds.count(), {}};
    for (PlantedHeader* header : PlantedHeader::all()) {
      for (std::size_t n = 0; n < header->sites.size(); ++n) {
        if (header->sites[n].reached) measured.reached.insert({header, static_cast<int>(n)});
      }
    }
    cases.push_back(measured);
  }
  std::stable_sort(cases.begin(), cases.end(),
                   [](const Measured& a, const Measured& b) { return a.seconds < b.seconds; });
  return cases;
}

bool is_noticed(PlantedHeader& header, int number, const std::vector<Measured>& cases) {
  header.wrong = number;
  const bool noticed = std::any_of(cases.begin(), cases.end(), [&](const Measured& measured) {
    return measured.reached.contains({&header, number}) && failure(measured.test).has_value();
  });
  header.wrong = -1;
  return noticed;
}

/// "HEADER | CODE" of each line of the file EQUIVALENT.
std::set<std::string> read_equivalent(const std::string& path) {
  std::set<std::string> equivalent;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("#")) equivalent.insert(line.substr(0, line.rfind(" | ")));
  }
  return equivalent;
}

/// How many signs were made wrong; says which of them nothing noticed. Takes those out of
/// `equivalent` that go unnoticed as they should.
int make_wrong(PlantedHeader& header, const std::vector<Measured>& cases,
               std::set<std::string>& equivalent, bool& all_right) {
  int count = 0;
  for (std::size_t n = 0; n < header.sites.size(); ++n) {
    const Site& site = header.sites[n];
    const bool reached = std::any_of(cases.begin(), cases.end(), [&](const Measured& measured) {
      return measured.reached.contains({&header, static_cast<int>(n)});
    });
    if (reached && !site.holds_number) continue;
    ++count;
    if (reached && is_noticed(header, static_cast<int>(n), cases)) continue;
    if (equivalent.erase(header.name + " | " + site.code) > 0) continue;
    all_right = false;
    std::cout << header.name << ":" << site.line << ": "
              << (reached ? "no test notices the wrong sign of" : "no test of an adjoint reaches")
              << "  " << site.code << "\n";
  }
  return count;
}

}  // namespace
}  // namespace plumbline::adjoint_mutants

int main(int, char** arguments) {
  using namespace plumbline::adjoint_mutants;
  bool all_right = true;
  const std::vector<Measured> cases = measured_cases(all_right);
  int signs = 0, count = 0;
  std::ifstream list(arguments[1]);
  std::set<std::string> equivalent = read_equivalent(arguments[2]);
  for (std::string name; std::getline(list, name); ++count) {
    const auto& headers = PlantedHeader::all();
    const auto header = std::find_if(headers.begin(), headers.end(),
                                     [&](const PlantedHeader* h) { return h->name == name; });
    if (header == headers.end()) {
      std::cout << name << ": no test of an adjoint includes it\n";
      all_right = false;
    } else {
      signs += make_wrong(**header, cases, equivalent, all_right);
    }
  }
  for (const std::string& entry : equivalent) {
    std::cout << entry << ": is not there, or a test notices its wrong sign\n";
    all_right = false;
  }
  std::cout << signs << " signs in " << count << " headers, " << cases.size() << " test cases\n";
  return all_right && count > 0 ? 0 : 1;
}
