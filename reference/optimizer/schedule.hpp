// SPDX-License-Identifier: Apache-2.0
// The learning rate of each step: a linear warm-up, then half a cosine. Source: Loshchilov, Hutter,
// "SGDR", arXiv:1608.03983, equation 5, for one period; warm-up: Goyal et al., arXiv:1706.02677,
// section 2.2. Numbers: CABLE, section 4.2.
#pragma once

#include <cmath>

#include "reference/core/preconditions.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::reference {

/// The defaults are CABLE's, section 4.2. Its published code warms up for 715 steps (GPT-3's 375
/// million tokens at 2^19 a step), where the paper says 750.
template <Real R>
struct CosineSchedule {
  R highest = R(6e-4);      ///< the rate after the warm-up, > 0
  R lowest = R(6e-5);       ///< the rate at the end and beyond, in [0, highest]
  int warm_up_steps = 750;  ///< W, in [0, steps)
  int steps = 19073;        ///< N; 10^10 tokens of FineWeb-Edu, 524,288 a step
};

/// The rate of step `step`, counted from 0:
///   step < W:   highest (step + 1) / W, so highest / W at the first, highest at the last of them;
///   step < N:   lowest + (highest - lowest) (1 + cos(pi (step - W) / (N - W))) / 2;
///   otherwise:  lowest.
/// Highest at W - 1 and W; lowest is reached at N, which is one step after the last of a training
/// run of N steps. So CABLE's code has it; others begin at 0, with step / W.
/// @throws std::invalid_argument unless step >= 0, steps >= 1, 0 <= W < steps and
/// 0 <= lowest <= highest, highest > 0, both finite.
template <Real R>
R learning_rate(const CosineSchedule<R>& schedule, int step) {
  const int warm_up = schedule.warm_up_steps;
  const double highest = representative(schedule.highest), lowest = representative(schedule.lowest);
  require(step >= 0, "step", step, "at least 0");
  require(schedule.steps >= 1, "steps", schedule.steps, "at least 1");
  require(0 <= warm_up && warm_up < schedule.steps, "warm_up_steps", warm_up,
          "at least 0 and below steps");
  require(highest > 0 && std::isfinite(highest), "highest", highest, "finite and above 0");
  require(0 <= lowest && lowest <= highest, "lowest", lowest, "at least 0 and at most highest");

  if (step < warm_up) return schedule.highest * R(step + 1) / R(warm_up);
  if (step >= schedule.steps) return schedule.lowest;
  const R angle = pi<R>() * R(step - warm_up) / R(schedule.steps - warm_up);
  const R part = (R(1.0) + cos(angle)) / R(2.0);
  return schedule.lowest + (schedule.highest - schedule.lowest) * part;
}

}  // namespace plumbline::reference
