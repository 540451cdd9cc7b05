// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

namespace plumbline::cli {
namespace {
constexpr std::chrono::seconds patience{2};
constexpr std::chrono::milliseconds refresh{100};
constexpr int width = 30;
/// Where there is no terminal, a line so often.
constexpr std::chrono::seconds between_lines{30};
}  // namespace

Progress::Progress(long total)
    : total_(std::max(total, 1L)), terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { clear(); }

void Progress::update(long done, const std::string& label) {
  const auto now = Clock::now();
  if (terminal_ ? now - start_ < patience || now - last_ < refresh : now - last_ < between_lines) {
    return;
  }
  last_ = now;
  const double part = std::clamp(static_cast<double>(done) / static_cast<double>(total_), 0.0, 1.0);
  const int filled = static_cast<int>(part * width);
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const std::string left =
      part > 0 ? fmt::format(", {:.0f} s left", elapsed * (1 - part) / part) : "";
  if (!terminal_) {
    std::cerr << fmt::format("plumbline: {} of {}{}, {}\n", done, total_, left, label)
              << std::flush;
    return;
  }
  shown_ = true;
  std::cerr << fmt::format("\r\x1b[K[{}{}] {}/{}{}  {}", std::string(filled, '#'),
                           std::string(width - filled, ' '), done, total_, left, label)
            << std::flush;
}

void Progress::clear() {
  if (shown_) std::cerr << "\r\x1b[K" << std::flush;
  shown_ = false;
}

}  // namespace plumbline::cli
