// SPDX-License-Identifier: Apache-2.0
// Bad input must be refused in words that name what is wrong.
#pragma once

#include <boost/test/unit_test.hpp>
#include <initializer_list>
#include <string>

#include "support/error.hpp"

namespace plumbline {

/// `action` must throw BadInput whose message contains each of `parts`.
inline void expect_bad_input(auto&& action, std::initializer_list<const char*> parts) {
  try {
    action();
  } catch (const BadInput& error) {
    const std::string message = error.what();
    for (const char* part : parts) {
      BOOST_CHECK_MESSAGE(message.find(part) != std::string::npos,
                          "\"" << message << "\" does not contain \"" << part << "\"");
    }
    return;
  }
  BOOST_ERROR("was accepted; expected a refusal that mentions " << *parts.begin());
}

}  // namespace plumbline
