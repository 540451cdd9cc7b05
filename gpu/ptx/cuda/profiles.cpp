// SPDX-License-Identifier: Apache-2.0
#include "ptx/cuda/profiles.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace plumbline::ptx::cuda {
namespace {

const char* folder() {
  const char* path = std::getenv("PLUMBLINE_PROFILE");
  return path != nullptr && *path != '\0' ? path : nullptr;
}

struct Kept {
  Profile profile;
  std::string file;
};

/// Never destroyed: programs call CUDA while they end.
std::vector<Kept>& all() {
  static auto* kept = new std::vector<Kept>;
  return *kept;
}

bool write_all(int file, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = write(file, text.data() + at, text.size() - at);
    if (written <= 0) return false;
    at += static_cast<std::size_t>(written);
  }
  return true;
}

/// Whole, or as it was: the process may be killed while it writes.
bool replace(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".new";
  std::FILE* file = std::fopen(temporary.c_str(), "we");
  if (file == nullptr) return false;
  const bool whole = write_all(fileno(file), text);
  return std::fclose(file) == 0 && whole && std::rename(temporary.c_str(), path.c_str()) == 0;
}

/// A name that no other process takes; empty where there can be none.
std::string new_file() {
  std::string path = std::string(folder()) + "/kernel-XXXXXX";
  const int file = mkstemp(path.data());
  if (file < 0) return "";
  close(file);
  return path;
}

}  // namespace

bool profiles() { return folder() != nullptr; }

void keep_profile(const Profile& launch) {
  auto kept = std::find_if(all().begin(), all().end(),
                           [&](const Kept& one) { return one.profile.same_kernel(launch); });
  if (kept == all().end())
    kept = all().insert(kept, {launch, new_file()});
  else
    kept->profile += launch;
  static bool told = false;
  if (!replace(kept->file, record(kept->profile)) && !told) {
    std::fprintf(stderr, "plumbline: software device: no profile can be written to %s\n", folder());
    told = true;
  }
}

}  // namespace plumbline::ptx::cuda
