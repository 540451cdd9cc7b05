// SPDX-License-Identifier: Apache-2.0
// Preconditions: what one reading refuses, every reading refuses, with the same message.
#pragma once

#include <array>
#include <string>

#include "tests/reference/readings.hpp"

namespace plumbline::reference {

/// The scalar of such an equation: `[](const auto& zero) { using R = RealOf<decltype(zero)>; ...`
template <class Zero>
using RealOf = std::remove_cvref_t<Zero>;

/// The message of the std::invalid_argument that `equation(R(0.0))` throws.
template <Real R, class Equation>
std::string refusal(const Equation& equation) {
  try {
    equation(R(0.0));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing thrown";
}

inline void expect_refusals(const std::string& message,
                            const std::array<std::string, 6>& of_readings) {
  const char* const names[] = {"double", "Dual", "RunningError", "MpReal", "Interval", "Archetype"};
  for (std::size_t n = 0; n < of_readings.size(); ++n) {
    BOOST_TEST(of_readings[n] == message,
               names[n] << ": '" << of_readings[n] << "' != '" << message << "'");
  }
}

/// Checks that `equation`, generic over the scalar of its argument, throws `message` in every
/// reading: "<field> is <value>; expected <expected>". The argument itself is 0 and of no use.
template <class Equation>
void expect_refused(const std::string& message, const Equation& equation) {
  expect_refusals(message, {refusal<double>(equation), refusal<Dual>(equation),
                            refusal<RunningError>(equation), refusal<MpReal>(equation),
                            refusal<Interval>(equation), refusal<Archetype>(equation)});
}

}  // namespace plumbline::reference
