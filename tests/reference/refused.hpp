// SPDX-License-Identifier: Apache-2.0
// Preconditions: what one reading refuses, every reading refuses, with the same message.
#pragma once

#include <stdexcept>
#include <string>

#include "tests/reference/readings.hpp"

namespace plumbline::reference {

/// The scalar of such an equation: `[](const auto& zero) { using R = RealOf<decltype(zero)>; ...`
template <class Zero>
using RealOf = std::remove_cvref_t<Zero>;

/// Checks that `equation`, generic over the scalar of its argument, throws `message` in every
/// reading (a check of a number asks double's, which the others' are near, see Joined): "<field> is
/// <value>; expected <expected>". The argument itself is 0 and of no use.
template <class Equation>
void expect_refused(const std::string& message, const Equation& equation) {
  try {
    equation(EveryReading(0.0));
  } catch (const std::invalid_argument& error) {
    BOOST_TEST(error.what() == message);
    return;
  }
  BOOST_ERROR("nothing thrown; expected '" << message << "'");
}

}  // namespace plumbline::reference
