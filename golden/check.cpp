// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "golden/case_checks.hpp"
#include "golden/golden.hpp"
#include "golden/vector_file.hpp"
#include "support/atomic_file.hpp"
#include "support/error.hpp"
#include "support/files_in_use.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"

namespace plumbline::golden {

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

namespace {

FileResult check_file(const std::filesystem::path& folder, const std::string& file,
                      const std::string& hash) {
  FileResult result;
  result.file = showable(file);
  try {
    const std::string text = read_file(folder / file);
    if (sha256(text) != hash) {
      add_failure(result,
                  "its SHA-256 is " + sha256(text) + ", the manifest has " + in_quotes(hash));
    }
    for (const GoldenCase& golden : from_json_text(text, file)) {
      ++result.cases;
      check_bits(golden, result);
      check_double(golden, result);
    }
    if (result.cases == 0) add_failure(result, "it has no cases");
  } catch (const WouldOverwrite&) {
    throw;
  } catch (const BadInput& error) {
    add_failure(result, error.what());
  } catch (const std::logic_error& error) {
    add_failure(result, error.what());
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
    present.push_back("vectors/" + showable(entry.path().filename().native()));
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
