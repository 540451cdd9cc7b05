// SPDX-License-Identifier: Apache-2.0
#include "golden/oracle_status.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "golden/case_checks.hpp"
#include "golden/vector_file.hpp"
#include "support/atomic_file.hpp"
#include "support/error.hpp"
#include "support/files_in_use.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"

namespace plumbline::golden {
namespace {

/// Runs the check on every case; what an equation throws is a failure.
template <class Check>
FileResult over(const std::vector<GoldenCase>& cases, const Check& check) {
  FileResult result;
  for (const GoldenCase& golden : cases) {
    ++result.cases;
    try {
      check(golden, result);
    } catch (const std::logic_error& error) {
      add_failure(result, golden.problem.name + ": " + error.what());
    }
  }
  if (result.numbers == 0) add_failure(result, "there was nothing to compare");
  return result;
}

FileResult gradient_status(const std::vector<GoldenCase>& cases) {
  std::map<std::string, GradientCoverage> coverage;
  FileResult result = over(cases, [&](const GoldenCase& golden, FileResult& of_case) {
    check_gradient(golden, of_case, coverage);
  });
  for (const auto& [name, covered] : coverage) {
    if (2 * covered.decided >= covered.elements) continue;
    add_failure(result, fmt::format("{}: the bound says something of {} elements in {} only", name,
                                    covered.decided, covered.elements));
  }
  return result;
}

}  // namespace

OracleStatus oracle_status(const std::string& method, const std::filesystem::path& folder,
                           const std::map<std::string, std::string>& manifest) {
  OracleStatus status;
  status.method = method;
  const std::string file = "vectors/" + method + ".json";
  if (!std::filesystem::exists(folder / file)) {
    if (manifest.count(file)) {
      add_failure(status.golden.emplace(), "the manifest names it, and it is not there");
    }
    return status;
  }

  FileResult unreadable;
  std::vector<GoldenCase> cases;
  std::string hash;
  try {
    const std::string text = read_file(folder / file);
    hash = sha256(text);
    cases = from_json_text(text, file);
    for (const GoldenCase& golden : cases) {
      if (golden.problem.method != method) {
        throw BadInput(file + ": method", in_quotes(golden.problem.method), method);
      }
    }
  } catch (const WouldOverwrite&) {
    throw;
  } catch (const BadInput& error) {
    add_failure(unreadable, error.what());
    status.golden = unreadable;
    return status;
  }
  status.golden = over(cases, check_bits);
  const auto signed_as = manifest.find(file);
  if (signed_as == manifest.end()) {
    add_failure(*status.golden, "the manifest does not name it");
  } else if (signed_as->second != hash) {
    add_failure(*status.golden, "its SHA-256 is not the manifest's");
  }
  status.value = over(cases, check_value);
  status.gradient = gradient_status(cases);
  status.enclosure = over(cases, check_enclosure);
  return status;
}

}  // namespace plumbline::golden
