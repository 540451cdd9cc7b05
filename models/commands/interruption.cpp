// SPDX-License-Identifier: Apache-2.0
#include "models/commands/interruption.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <iterator>

namespace plumbline::cli {
namespace {

constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};
struct sigaction before[std::size(signals)];
std::atomic<int> caught;
static_assert(std::atomic<int>::is_always_lock_free);
char said[4096];
std::size_t length;

void restore() {
  for (std::size_t n = 0; n < std::size(signals); ++n) sigaction(signals[n], &before[n], nullptr);
}

extern "C" void remember(int signal) {
  const int error = errno;
  restore();
  caught = signal;
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, said, length);
  errno = error;
}

}  // namespace

Interruption::Interruption(const std::string& words) {
  length = words.copy(said, sizeof said - 1);
  caught = 0;
  struct sigaction action = {};
  action.sa_handler = remember;
  action.sa_flags = SA_RESTART;
  for (std::size_t n = 0; n < std::size(signals); ++n) {
    sigaction(signals[n], nullptr, &before[n]);
    if (before[n].sa_handler != SIG_IGN) sigaction(signals[n], &action, nullptr);
  }
}

Interruption::~Interruption() { restore(); }

int Interruption::signal() { return caught; }

}  // namespace plumbline::cli
