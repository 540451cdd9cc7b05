// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "golden/golden.hpp"
#include "golden/sha256.hpp"
#include "golden/vector_file.hpp"
#include "support/atomic_file.hpp"
#include "support/error.hpp"
#include "support/text.hpp"

namespace plumbline::golden {
namespace {

void fail(FileResult& result, const std::string& sentence) {
  if (result.failures.size() < 10) result.failures.push_back(sentence);
}

/// How far the golden number may be from the exact one: half an ulp, as it was rounded once; where
/// it is 0, the width below which solve() writes 0.
double golden_error(double golden) {
  if (golden == 0) return 1e-40;
  const double size = std::fabs(golden);
  const double ulp = std::nextafter(size, std::numeric_limits<double>::infinity()) - size;
  return std::max(ulp / 2, std::numeric_limits<double>::denorm_min());
}

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

void check_bits(const GoldenCase& golden, FileResult& result) {
  const GoldenCase again = solve(golden.problem);
  for (const auto& [name, tensor] : again.outputs) {
    const auto found = golden.outputs.find(name);
    if (found == golden.outputs.end() || found->second.shape != tensor.shape) {
      fail(result,
           fmt::format("{}: {} is missing or has another shape", golden.problem.name, name));
      continue;
    }
    for (std::size_t n = 0; n < tensor.data.size(); ++n) {
      ++result.numbers;
      if (!same_bits(tensor.data[n], found->second.data[n])) {
        fail(result, fmt::format("{}: {}[{}] is {}, MPFR gives {}", golden.problem.name, name, n,
                                 hex(found->second.data[n]), hex(tensor.data[n])));
      }
    }
  }
  for (const auto& [name, tensor] : golden.outputs) {
    if (!again.outputs.count(name)) {
      fail(result, fmt::format("{}: {} is not an output", golden.problem.name, in_quotes(name)));
    }
  }
}

void check_double(const GoldenCase& golden, FileResult& result) {
  using reference::RunningError;
  const auto results = evaluate<RunningError>(golden.problem);
  const std::vector<std::size_t>& empty = results.empty_rows;
  for (const auto& [name, tensor] : results.tensors) {
    const auto found = golden.outputs.find(name);
    if (found == golden.outputs.end() || found->second.shape != tensor.shape) continue;  // reported
    for (std::size_t n = 0; n < tensor.data.size(); ++n) {
      const double expected = found->second.data[n];
      const bool no_key = name == "lse" && std::count(empty.begin(), empty.end(), n) > 0;
      if (no_key) {
        if (!(expected == -std::numeric_limits<double>::infinity())) {
          fail(result, fmt::format("{}: lse[{}] is {}; the row sees no key: -inf",
                                   golden.problem.name, n, hex(expected)));
        }
        continue;
      }
      const double error = std::fabs(tensor.data[n].value() - expected);
      const double bound = tensor.data[n].error() + golden_error(expected);
      if (!(error <= bound)) {
        fail(result,
             fmt::format("{}: {}[{}] is {}, double gives {} within {:.3g}", golden.problem.name,
                         name, n, hex(expected), hex(tensor.data[n].value()), bound));
      }
      if (!(error / bound <= result.worst)) result.worst = error / bound;
    }
  }
}

std::map<std::string, std::string> read_manifest(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "manifest.json";
  std::map<std::string, std::string> hashes;
  try {
    const nlohmann::json manifest = nlohmann::json::parse(read_file(path));
    if (manifest.at("format") != "plumbline-golden-manifest-1") {
      throw BadInput("format", manifest.at("format").dump(), "\"plumbline-golden-manifest-1\"");
    }
    for (const nlohmann::json& entry : manifest.at("files")) {
      const std::string file = entry.at("file").get<std::string>();
      const std::filesystem::path name(file);
      if (name.parent_path() != "vectors" || name.filename() == ".." || name.filename().empty()) {
        throw BadInput("file", in_quotes(file), "a file in vectors/");
      }
      hashes[file] = entry.at("sha256").get<std::string>();
    }
  } catch (const nlohmann::json::exception& error) {
    throw BadInput(path_in_quotes(path), in_quotes(error.what(), 200), "a golden manifest");
  } catch (const BadInput& error) {
    throw BadInput(path_in_quotes(path), error);
  }
  return hashes;
}

FileResult check_file(const std::filesystem::path& folder, const std::string& file,
                      const std::string& hash) {
  FileResult result;
  result.file = file;
  try {
    const std::string text = read_file(folder / file);
    if (sha256(text) != hash) {
      fail(result, "its SHA-256 is " + sha256(text) + ", the manifest has " + in_quotes(hash));
    }
    for (const GoldenCase& golden : from_json_text(text, file)) {
      ++result.cases;
      check_bits(golden, result);
      check_double(golden, result);
    }
    if (result.cases == 0) fail(result, "it has no cases");
  } catch (const BadInput& error) {
    fail(result, error.what());
  } catch (const std::logic_error& error) {
    fail(result, error.what());
  }
  return result;
}

}  // namespace

bool GoldenReport::passed() const {
  return !files.empty() && std::all_of(files.begin(), files.end(), [](const FileResult& file) {
    return file.failures.empty();
  });
}

GoldenReport golden_check(const std::filesystem::path& folder) {
  const std::map<std::string, std::string> hashes = read_manifest(folder);
  GoldenReport report;
  for (const auto& [file, hash] : hashes) report.files.push_back(check_file(folder, file, hash));
  std::error_code unreadable;
  std::vector<std::string> present;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "vectors", unreadable)) {
    present.push_back("vectors/" + entry.path().filename().string());
  }
  std::sort(present.begin(), present.end());
  for (const std::string& file : present) {
    if (hashes.count(file)) continue;
    FileResult result;
    result.file = file;
    result.failures.push_back("the manifest does not name it");
    report.files.push_back(result);
  }
  return report;
}

}  // namespace plumbline::golden
