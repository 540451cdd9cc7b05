// SPDX-License-Identifier: Apache-2.0
// A run's log: one JSON object a line, as they happen.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace plumbline::training {

/// Lines are appended and flushed one by one. Every line has `update`, the number of updates made
/// when it was written; the rest is the writer's.
class Log {
 public:
  /// Opens the file to go on after `updates` updates: lines beyond that, and a last line that a
  /// killed run left unfinished, are taken out first, the file being replaced as a whole.
  /// @throws BadInput naming the path if it cannot be read or written, or for another line that is
  /// no log's.
  Log(const std::filesystem::path&, long updates);

  /// @throws BadInput if there is no room for it; then nothing of it is written, and this is over.
  void write(const nlohmann::ordered_json& line);

 private:
  std::filesystem::path path_;
  std::ofstream file_;
};

}  // namespace plumbline::training
