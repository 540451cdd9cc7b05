// SPDX-License-Identifier: Apache-2.0
#include "support/files_in_use.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "support/text.hpp"

namespace plumbline {
namespace {

namespace fs = std::filesystem;

using Identity = std::pair<dev_t, ino_t>;

/// Looked up each time: the number of a file that is gone is given to another.
std::optional<Identity> identity_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return Identity{status.st_dev, status.st_ino};
}

struct Use {
  std::string option;
  fs::path path;   ///< as it was given
  fs::path place;  ///< absolute, with links followed
  bool folder;

  Use(const std::string& of_option, const fs::path& given) : option(of_option), path(given) {
    std::error_code unknown;
    place = fs::weakly_canonical(fs::absolute(behind_links(given), unknown), unknown);
    folder = fs::is_directory(given, unknown);
  }
  bool is_same(const Use& other) const {
    const auto own = identity_of(path), others = identity_of(other.path);
    // What is not there yet has no identity but its place.
    return own && others ? own == others : place == other.place;
  }
};

/// One that an earlier run of ours wrote, and may write again: JSON with a format, or a picture.
bool is_report(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string beginning(100, '\0');
  file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  beginning.resize(static_cast<std::size_t>(file.gcount()));
  const std::string format = "\"format\": \"plumbline-";
  return beginning.starts_with("<svg") || (beginning.find(format) != std::string::npos &&
                                           beginning.find(format + "golden") == std::string::npos);
}

bool lies_in(const fs::path& file, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first ==
         folder.end();
}

/// Of a folder that is read, nothing that is there is written over, whether it is opened or not.
bool would_spoil(const Use& output, const Use& input) {
  return output.is_same(input) || (input.folder && identity_of(output.path) &&
                                   lies_in(output.place, input.place) && !is_report(output.place));
}

struct Uses {
  std::mutex mutex;
  std::vector<Use> outputs, inputs;
  std::map<Identity, fs::path> opened;
};

Uses& uses() {
  static Uses all;
  return all;
}

std::string named(const Use& input) {
  return " (" + input.option + " " + path_in_quotes(input.path) + ")";
}

/// The option that names the file or a folder that it lies in, if one does.
std::string reader(const fs::path& path) {
  const Use file("", path);
  for (const Use& input : uses().inputs) {
    if (input.is_same(file) || (input.folder && lies_in(file.place, input.place)))
      return named(input);
  }
  return "";
}

[[noreturn]] void refuse(const Use& output, const std::string& why) {
  throw WouldOverwrite(output.option, path_in_quotes(output.path) + ", which " + why,
                       "another file");
}

void expect_unspoilt(const Use& output, const Use& input) {
  if (!would_spoil(output, input)) return;
  refuse(output,
         (output.is_same(input) ? "is read" : "lies in a folder that is read") + named(input));
}

bool is_no_file(const fs::path& path) {
  std::error_code unknown;
  const fs::file_status status = fs::status(path, unknown);
  return fs::exists(status) && !fs::is_regular_file(status);
}

}  // namespace

fs::path behind_links(const fs::path& path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) return path;
  const fs::file_status status = fs::status(path, error);
  // A link to a pipe (/dev/fd/63) is followed by opening it alone: what it says is no path.
  if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)) return path;
  if (fs::exists(status)) return fs::weakly_canonical(path, error);
  if (error && status.type() != fs::file_type::not_found) {
    return path;  // a ring of links, say: who opens it tells
  }
  fs::path end = path;
  while (fs::is_symlink(end, error)) {
    const fs::path target = fs::read_symlink(end, error);
    if (error) return path;
    end = end.parent_path() / target;
  }
  return end;
}

void will_write(const std::string& option, const fs::path& path) {
  if (path.empty()) return;
  const std::lock_guard lock(uses().mutex);
  const Use output(option, path);
  const bool standard = path == "-";
  if (!standard && is_no_file(path)) return;
  for (const Use& other : uses().outputs) {
    const std::string both = other.option + " and " + option;
    if (standard && other.path == "-")
      throw WouldOverwrite(both, "\"-\" for both", "at most one of them on standard output");
    if (!standard && other.path != "-" && output.is_same(other))
      throw WouldOverwrite(both, path_in_quotes(path) + " for both", "two files");
    if (!standard && other.path != "-" && !output.place.empty() && !other.place.empty() &&
        (lies_in(output.place, other.place) || lies_in(other.place, output.place))) {
      throw WouldOverwrite(both,
                           path_in_quotes(other.path) + " and " + path_in_quotes(path) +
                               ", one of which would lie in the other",
                           "two files");
    }
  }
  for (const Use& input : uses().inputs) {
    if (!standard) expect_unspoilt(output, input);
  }
  if (const auto identity = identity_of(path); identity && !standard) {
    const auto opened = uses().opened.find(*identity);
    if (opened != uses().opened.end() && identity_of(opened->second) == identity)
      refuse(output, "is read" + reader(opened->second));
  }
  uses().outputs.push_back(output);
}

void will_read(const std::string& option, const fs::path& path) {
  const Use input(option, path);
  if (!identity_of(path)) return;
  const std::lock_guard lock(uses().mutex);
  uses().inputs.push_back(input);
  for (const Use& output : uses().outputs) {
    if (output.path != "-") expect_unspoilt(output, input);
  }
}

void is_read(const fs::path& path, const struct stat& status) {
  const Identity identity{status.st_dev, status.st_ino};
  const std::lock_guard lock(uses().mutex);
  uses().opened.insert_or_assign(identity, path);
  for (const Use& output : uses().outputs) {
    if (identity_of(output.path) == identity) refuse(output, "is read" + reader(path));
  }
}

}  // namespace plumbline
