// SPDX-License-Identifier: Apache-2.0
#include "train/learning_rate.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "support/error.hpp"

namespace plumbline::gpu {

void validate(const CosineSchedule& s) {
  const auto expect = [](bool holds, const char* field, auto value, const std::string& expected) {
    if (!holds) throw BadInput(field, fmt::format("{}", value), expected);
  };
  expect(s.updates >= 1, "updates", s.updates, "at least 1");
  expect(s.warm_up >= 0 && s.warm_up < s.updates, "warm_up", s.warm_up,
         fmt::format("at least 0 and below the number of updates, {}", s.updates));
  expect(std::isfinite(s.highest) && s.highest > 0, "learning_rate", s.highest,
         "a finite number above 0");
  expect(s.lowest >= 0 && s.lowest <= s.highest, "lowest_learning_rate", s.lowest,
         fmt::format("at least 0 and at most learning_rate, {}", s.highest));
}

double learning_rate(const CosineSchedule& s, long n) {
  if (n < s.warm_up) return s.highest * static_cast<double>(n + 1) / static_cast<double>(s.warm_up);
  if (n >= s.updates) return s.lowest;
  const double angle = std::numbers::pi * static_cast<double>(n - s.warm_up) /
                       static_cast<double>(s.updates - s.warm_up);
  return s.lowest + (s.highest - s.lowest) * ((1.0 + std::cos(angle)) / 2.0);
}

}  // namespace plumbline::gpu
