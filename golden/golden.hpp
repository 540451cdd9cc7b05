// SPDX-License-Identifier: Apache-2.0
// What `plumbline golden generate` and `plumbline golden check` do.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>
#include <vector>

namespace plumbline::golden {

struct Problem;
struct GoldenCase;

/// The results of a problem: MPFR values of 50 digits, rounded to the nearest double. An interval
/// reading certifies each: both of its ends round to that double. A number whose enclosure contains
/// 0 and is narrower than 10^-40 is 0. lse of a row that sees no key is -infinity.
/// @throws std::logic_error naming a number that cannot be certified so.
GoldenCase solve(const Problem&);

/// The file of a method, vectors/<method>.json, as this version of the equations gives it. The same
/// bytes on every machine.
std::string vectors_text(const std::string& method);

/// manifest.json for these files (name, text): the SHA-256 and the number of cases of each.
std::string manifest_text(const std::vector<std::pair<std::string, std::string>>& files);

/// Writes vectors/<method>.json for every method, and manifest.json, under `folder`. Returns the
/// files written. @throws BadInput if one cannot be written.
std::vector<std::filesystem::path> golden_generate(const std::filesystem::path& folder);

/// One file of the folder.
struct FileResult {
  std::string file;
  std::size_t cases = 0, numbers = 0;
  double worst = 0.0;  ///< largest |double reading - golden| / (its rounding error bound)
  std::vector<std::string> failures;  ///< one sentence each, at most 10; empty: all right
};

struct GoldenReport {
  std::vector<FileResult> files;
  bool passed() const;  ///< at least one file, and no failures
};

/// For every file of the manifest, and every file in vectors/:
///  1. its SHA-256 is the manifest's, and the manifest names it;
///  2. from the file's own inputs, the MPFR reading gives the same bits;
///  3. the double reading is within its running error, plus half an ulp of the golden number, of
///  it.
/// @throws BadInput if the folder has no readable manifest.
GoldenReport golden_check(const std::filesystem::path& folder);

void write_text(const GoldenReport&, std::ostream&);
nlohmann::json to_json(const GoldenReport&);
/// A test case per file.
void write_junit(const GoldenReport&, std::ostream&);

}  // namespace plumbline::golden
