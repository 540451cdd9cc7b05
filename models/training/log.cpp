// SPDX-License-Identifier: Apache-2.0
#include "models/training/log.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#include "support/atomic_file.hpp"
#include "support/error.hpp"
#include "support/text.hpp"

namespace plumbline::training {

namespace {

/// The lines of a log up to so many updates.
std::string lines_until(const std::filesystem::path& path, const std::string& text, long updates) {
  std::string kept;
  std::size_t begin = 0;
  for (int number = 1; begin < text.size(); ++number) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;  // a line that was never finished
    const std::string line = text.substr(begin, end + 1 - begin);
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains("update") || !json["update"].is_number_integer())
      throw BadInput(fmt::format("{}, line {}", path_in_quotes(path), number),
                     in_quotes(line.substr(0, line.size() - 1)),
                     "a JSON object with the number \"update\"");
    if (json["update"].get<long>() <= updates) kept += line;
    begin = end + 1;
  }
  return kept;
}

}  // namespace

Log::Log(const std::filesystem::path& path, long updates) : path_(path) {
  if (std::filesystem::exists(path)) {
    const std::string text = read_file(path);
    const std::string kept = lines_until(path, text, updates);
    if (kept != text) write_file(path, kept);
  }
  file_.open(path, std::ios::app);
  if (!file_) throw BadInput("log", path_in_quotes(path), "a file that can be written");
}

void Log::write(const nlohmann::ordered_json& line) {
  std::error_code ignored;
  const std::uintmax_t before = std::filesystem::file_size(path_, ignored);
  errno = 0;
  file_ << line.dump() << '\n' << std::flush;
  if (file_) return;
  const std::string reason = std::error_code(errno, std::generic_category()).message();
  file_.close();                                         // it may try once more
  std::filesystem::resize_file(path_, before, ignored);  // without a part of the line
  throw BadInput("log " + path_in_quotes(path_), "not writable (" + reason + ")",
                 "room for another line");
}

}  // namespace plumbline::training
