// SPDX-License-Identifier: Apache-2.0
// Preconditions: what one reading refuses, every reading refuses, with the same message.
#pragma once

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

/// Checks that `equation`, generic over the scalar of its argument, throws `message` in every
/// reading: "<field> is <value>; expected <expected>". The argument itself is 0 and of no use.
template <class Equation>
void expect_refused(const std::string& message, const Equation& equation) {
  BOOST_TEST(refusal<double>(equation) == message);
  BOOST_TEST(refusal<Dual>(equation) == message);
  BOOST_TEST(refusal<RunningError>(equation) == message);
  BOOST_TEST(refusal<MpReal>(equation) == message);
  BOOST_TEST(refusal<Interval>(equation) == message);
  BOOST_TEST(refusal<Archetype>(equation) == message);
}

}  // namespace plumbline::reference
