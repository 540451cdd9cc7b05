// SPDX-License-Identifier: Apache-2.0
// What a program makes on its way and must not leave behind when it ends early, by a signal too.
#pragma once

#include <signal.h>

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace plumbline {

/// A file or a folder that goes with this object, or with the program, unless it is kept.
class Leftover {
 public:
  Leftover() = default;
  static Leftover file(const std::filesystem::path&);
  /// A folder goes if it is empty then.
  static Leftover folder(const std::filesystem::path&);
  Leftover(Leftover&& other) noexcept;
  Leftover& operator=(Leftover&& other) noexcept;
  ~Leftover();

  void keep() noexcept;

  /// Takes away every leftover there is now: for who ends the program otherwise than by returning
  /// from main. Signal handlers may call it.
  static void remove_all() noexcept;
  /// From here on SIGINT, SIGTERM, SIGHUP and SIGPIPE take leftovers away before they end the
  /// program, as they would without this. Those that are ignored or have a handler stay as they
  /// are. Who installs a handler later calls remove_all, or the handler that he replaces.
  static void remove_all_on_signals();

 private:
  struct Place;
  Leftover(const std::filesystem::path&, bool folder);
  Place* place_ = nullptr;
};

/// While it lives, this thread makes what it then registers as a leftover: a signal that ends the
/// program waits for it, so that nothing is there which is not registered yet.
class MakingLeftovers {
 public:
  MakingLeftovers();
  ~MakingLeftovers();
  MakingLeftovers(const MakingLeftovers&) = delete;
  MakingLeftovers& operator=(const MakingLeftovers&) = delete;

 private:
  sigset_t before_;
};

/// Several, of which the last goes first.
class Leftovers {
 public:
  Leftovers() = default;
  Leftovers(Leftovers&&) = default;
  Leftovers& operator=(Leftovers&&) = default;
  ~Leftovers();

  void add(Leftover one) { all_.push_back(std::move(one)); }
  void keep() noexcept;

 private:
  std::vector<Leftover> all_;
};

/// As std::filesystem::create_directories. The folders that were not there before are leftovers.
Leftovers make_folders(const std::filesystem::path&, std::error_code&);

}  // namespace plumbline
