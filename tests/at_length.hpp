// SPDX-License-Identifier: Apache-2.0
// What takes long: a test runs a part of its random cases, or none, in `./plumbline test`, and all
// of them in its twin NAME_at_length (plumbline_add_tests), by `./plumbline test --all` and in CI.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cstdlib>

namespace plumbline::test {

inline bool at_length() { return std::getenv("PLUMBLINE_AT_LENGTH") != nullptr; }

/// How many of random cases.
inline int cases(int few, int at_length_as_many) { return at_length() ? at_length_as_many : few; }

inline boost::test_tools::assertion_result runs_at_length(boost::unit_test::test_unit_id) {
  return at_length();
}
/// BOOST_AUTO_TEST_CASE(name, *only_at_length)
inline const boost::unit_test::precondition only_at_length(&runs_at_length);

}  // namespace plumbline::test
