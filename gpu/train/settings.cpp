// SPDX-License-Identifier: Apache-2.0
#include "train/settings.hpp"

#include <fmt/format.h>

#include <cmath>

#include "support/error.hpp"

namespace plumbline::gpu {

void validate(const OptimizerSettings& s) {
  const auto expect = [](bool holds, const char* field, double value, const char* expected) {
    if (!holds) throw BadInput(field, fmt::format("{}", value), expected);
  };
  expect(0 < s.beta1 && s.beta1 < 1, "beta1", s.beta1, "a number between 0 and 1");
  expect(0 < s.beta2 && s.beta2 < 1, "beta2", s.beta2, "a number between 0 and 1");
  // fp32 must not round it to 0 or to a subnormal.
  expect(s.epsilon >= 0x1p-126 && s.epsilon <= 1e30, "epsilon", s.epsilon,
         "a number from 2^-126 to 1e30");
  expect(s.weight_decay >= 0 && std::isfinite(s.weight_decay), "weight_decay", s.weight_decay,
         "a finite number, at least 0");
  expect(s.max_norm >= 0 && std::isfinite(s.max_norm), "max_norm", s.max_norm,
         "a finite number, at least 0");
}

}  // namespace plumbline::gpu
