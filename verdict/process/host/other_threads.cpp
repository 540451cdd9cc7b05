// SPDX-License-Identifier: Apache-2.0
#include "verdict/process/host/other_threads.hpp"

#include <dirent.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace plumbline::kernel_process {
namespace {

constexpr long enough_nanoseconds = 2'000'000;
/// A thread may wait for a processor, but a call has a time limit.
constexpr int most_looks = 500, microseconds_between = 100;

/// Of a processor, that the thread has had; -1 when it has ended.
long nanoseconds_of(pid_t thread) {
  // As pthread_getcpuclockid makes it of a thread's number (clock_getcpuclockid(3), Linux).
  const auto clock = static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3) | 6U);
  timespec used{};
  if (clock_gettime(clock, &used) != 0) return -1;
  return used.tv_sec * 1'000'000'000 + used.tv_nsec;
}

/// Runs, or would if it had a processor.
bool at_work(pid_t thread) {
  char path[64], text[512];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
  std::FILE* file = std::fopen(path, "r");
  if (file == nullptr) return false;
  const std::size_t size = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[size] = '\0';
  const char* name_end = std::strrchr(text, ')');  // "number (name) state ..."
  return name_end != nullptr && std::strlen(name_end) > 2 && name_end[2] == 'R';
}

std::vector<pid_t> other_threads() {
  std::vector<pid_t> threads;
  DIR* folder = opendir("/proc/self/task");
  if (folder == nullptr) return threads;
  while (const dirent* entry = readdir(folder)) {
    const pid_t thread = std::atoi(entry->d_name);
    if (thread > 0 && thread != gettid()) threads.push_back(thread);
  }
  closedir(folder);
  return threads;
}

}  // namespace

void await_other_threads() {
  struct Waiting {
    pid_t thread;
    long start;
  };
  std::vector<Waiting> waiting;
  for (const pid_t thread : other_threads()) waiting.push_back({thread, nanoseconds_of(thread)});
  for (int look = 0; look < most_looks; ++look) {
    std::erase_if(waiting, [](const Waiting& one) {
      const long now = nanoseconds_of(one.thread);
      return now < 0 || now - one.start >= enough_nanoseconds || !at_work(one.thread);
    });
    if (waiting.empty()) return;
    usleep(microseconds_between);
  }
}

}  // namespace plumbline::kernel_process
