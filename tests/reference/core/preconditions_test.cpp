// SPDX-License-Identifier: Apache-2.0
#include "reference/core/preconditions.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <limits>

BOOST_AUTO_TEST_SUITE(preconditions_test)

using namespace plumbline::reference;

namespace {

template <class Value>
std::string message(const Value& value) {
  try {
    require(false, "field", value, "something else");
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing thrown";
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_precondition_that_holds_throws_nothing) {
  BOOST_CHECK_NO_THROW(require(true, "field", 1, "anything"));
}

BOOST_AUTO_TEST_CASE(the_message_names_the_field_the_value_and_what_was_expected) {
  BOOST_TEST(message(-3) == "field is -3; expected something else");
  BOOST_TEST(message(std::size_t{7}) == "field is 7; expected something else");
}

BOOST_AUTO_TEST_CASE(the_value_is_told_whole_however_small_or_strange) {
  BOOST_TEST(message(-1e-12) == "field is -1e-12; expected something else");
  BOOST_TEST(message(0.1) == "field is 0.1; expected something else");
  BOOST_TEST(message(std::numeric_limits<double>::quiet_NaN()) ==
             "field is nan; expected something else");
  BOOST_TEST(message(-std::numeric_limits<double>::quiet_NaN()) ==
             "field is nan; expected something else");
  BOOST_TEST(message(-std::numeric_limits<double>::infinity()) ==
             "field is -inf; expected something else");
  BOOST_TEST(message(-std::numeric_limits<double>::denorm_min()) ==
             "field is -5e-324; expected something else");
  BOOST_TEST(message(std::numeric_limits<std::int64_t>::min()) ==
             "field is -9223372036854775808; expected something else");
}

BOOST_AUTO_TEST_SUITE_END()
