// SPDX-License-Identifier: Apache-2.0
// Progress on standard error: a bar on a terminal, for what takes longer than two seconds;
// elsewhere a line every 30 seconds.
#pragma once

#include <chrono>
#include <string>

namespace plumbline::cli {

class Progress {
 public:
  explicit Progress(long total);
  ~Progress();
  /// @param label what is being done now.
  void update(long done, const std::string& label);
  /// Removes the bar, so that other text can be printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  long total_;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point start_ = Clock::now(), last_ = start_;
};

}  // namespace plumbline::cli
