// SPDX-License-Identifier: Apache-2.0
// What a refusal must say.
#pragma once

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "support/error.hpp"

namespace plumbline::test {

/// `action` throws BadInput, and the message holds every one of these words.
template <class Action>
void expect_refused(const Action& action, const std::vector<std::string>& words) {
  try {
    action();
    BOOST_ERROR("nothing was refused");
  } catch (const BadInput& error) {
    for (const auto& word : words) {
      BOOST_TEST(std::string(error.what()).find(word) != std::string::npos,
                 "\"" << word << "\" is missing in: " << error.what());
    }
  }
}

}  // namespace plumbline::test
