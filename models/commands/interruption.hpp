// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and its kin as a request.
#pragma once

#include <string>

namespace plumbline::cli {

/// While it lives, the first SIGINT, SIGTERM or SIGHUP says some words on standard error and is
/// remembered; the second does what it did before. A signal that was ignored stays so. One at a
/// time.
class Interruption {
 public:
  /// @param words at most 4095 bytes of them.
  explicit Interruption(const std::string& words);
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// The one that came, or 0.
  static int signal();
};

}  // namespace plumbline::cli
