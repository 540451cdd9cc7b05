// SPDX-License-Identifier: Apache-2.0
#include "models/training/folder.hpp"

#include <signal.h>

#include <cerrno>
#include <limits>
#include <regex>

#include "support/error.hpp"
#include "support/text.hpp"

namespace plumbline::training {

namespace {

/// Whether a process of this number runs here.
bool is_running(long process) {
  return process > 0 && process <= std::numeric_limits<pid_t>::max() &&
         (::kill(static_cast<pid_t>(process), 0) == 0 || errno != ESRCH);
}

}  // namespace

const std::filesystem::path& made(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw BadInput("out", path_in_quotes(folder) + ": " + error.message(),
                   "a folder, or a place where one can be made");
  return folder;
}

std::filesystem::path newest_checkpoint(const Habits& habits) {
  std::error_code ignored;
  if (habits.resume && !std::filesystem::is_directory(habits.folder, ignored))
    throw BadInput("out", path_in_quotes(habits.folder) + ", which is no folder",
                   "a run's folder, for --resume");
  const auto found = checkpoints_in(habits.folder);
  if (habits.resume && found.empty())
    throw BadInput("out", path_in_quotes(habits.folder) + ", which holds no checkpoint",
                   "a run's folder, for --resume");
  if (!habits.resume && !found.empty())
    throw BadInput("out", path_in_quotes(habits.folder) + ", which holds a run already",
                   "another folder, or --resume to continue that run");
  return found.empty() ? std::filesystem::path() : found.back();
}

long declared_updates(const Habits& habits) {
  try {
    const Terms terms = unchecked_terms(newest_checkpoint(habits));
    return terms.at("schedule").at("updates").get<long>();
  } catch (const std::exception&) {
    return 0;  // what loads it tells why
  }
}

void remove_old_checkpoints(const Habits& habits) {
  auto all = checkpoints_in(habits.folder);
  while (static_cast<int>(all.size()) > habits.keep) {
    std::filesystem::remove(all.front());
    all.erase(all.begin());
  }
}

bool is_of_run(const std::string& name) {
  return name.starts_with("checkpoint-") || name == "run.json" || name == "log.jsonl" ||
         name == ".lock" || name.ends_with(".svg");  // a curve
}

void remove_partial_files(const std::filesystem::path& folder) {
  static const std::regex partial_name("\\.(.+)\\.([0-9]{1,18})\\.[0-9]+\\.partial");
  std::vector<std::filesystem::path> partial;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    std::smatch parts;
    if (!std::regex_match(name, parts, partial_name)) continue;
    if (is_of_run(parts[1]) || !is_running(std::stol(parts[2]))) partial.push_back(entry.path());
  }
  for (const auto& path : partial) std::filesystem::remove(path);
}

}  // namespace plumbline::training
