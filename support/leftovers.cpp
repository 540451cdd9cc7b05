// SPDX-License-Identifier: Apache-2.0
#include "support/leftovers.hpp"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <utility>

namespace plumbline {

namespace {

std::atomic<int> making{0};
std::atomic<bool> ending{false};

extern "C" void remove_leftovers_and_end(int signal) {
  // In other threads: in one that makes something signals are blocked. Whoever begins from now on
  // waits for the end.
  ending = true;
  constexpr timespec millisecond{0, 1'000'000};
  for (int waited = 0; making > 0 && waited < 1000; ++waited) nanosleep(&millisecond, nullptr);
  Leftover::remove_all();
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
  sigset_t this_one;
  sigemptyset(&this_one);
  sigaddset(&this_one, signal);
  pthread_sigmask(SIG_UNBLOCK, &this_one, nullptr);
  raise(signal);
}

}  // namespace

MakingLeftovers::MakingLeftovers() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before_);
  ++making;
  if (!ending) return;
  --making;
  for (;;) pause();  // no signal comes: another thread ends the program
}

MakingLeftovers::~MakingLeftovers() {
  --making;
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

/// Never freed, since a handler may be reading it: a path for each file that is written.
struct Leftover::Place {
  Place(const std::filesystem::path& its_path, bool is_folder)
      : path(its_path.native()), folder(is_folder) {}

  const std::string path;
  const bool folder;
  std::atomic<bool> there{true};
  Place* next = nullptr;

  static inline std::atomic<Place*> newest{nullptr};

  /// True when it was there.
  bool remove() const noexcept {
    return (folder ? ::rmdir(path.c_str()) : ::unlink(path.c_str())) == 0;
  }
};

Leftover::Leftover(const std::filesystem::path& path, bool folder)
    : place_(new Place(path, folder)) {
  place_->next = Place::newest.load();
  while (!Place::newest.compare_exchange_weak(place_->next, place_)) {
  }
}

Leftover Leftover::file(const std::filesystem::path& path) { return {path, false}; }

Leftover Leftover::folder(const std::filesystem::path& path) { return {path, true}; }

Leftover::Leftover(Leftover&& other) noexcept : place_(std::exchange(other.place_, nullptr)) {}

Leftover& Leftover::operator=(Leftover&& other) noexcept {
  std::swap(place_, other.place_);
  return *this;
}

Leftover::~Leftover() {
  if (place_ && place_->there.exchange(false)) place_->remove();
}

void Leftover::keep() noexcept {
  if (place_) place_->there = false;
}

Leftovers::~Leftovers() {
  while (!all_.empty()) all_.pop_back();
}

void Leftovers::keep() noexcept {
  for (Leftover& one : all_) one.keep();
}

Leftovers make_folders(const std::filesystem::path& path, std::error_code& error) {
  std::vector<std::filesystem::path> missing;
  std::error_code unknown;
  for (auto folder = path; !folder.empty() && !std::filesystem::exists(folder, unknown);) {
    missing.push_back(folder);
    if (folder == folder.parent_path()) break;
    folder = folder.parent_path();
  }
  const MakingLeftovers making;
  std::filesystem::create_directories(path, error);
  Leftovers made;
  for (auto folder = missing.rbegin(); !error && folder != missing.rend(); ++folder)
    made.add(Leftover::folder(*folder));
  return made;
}

void Leftover::remove_all() noexcept {
  // The newest first: what lies in a folder before the folder.
  for (const Place* place = Place::newest; place; place = place->next) {
    if (place->there) place->remove();
  }
}

void Leftover::remove_all_on_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    struct sigaction now {};
    sigaction(signal, nullptr, &now);
    if ((now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler != SIG_DFL) continue;
    struct sigaction action {};
    action.sa_handler = remove_leftovers_and_end;
    sigfillset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace plumbline
