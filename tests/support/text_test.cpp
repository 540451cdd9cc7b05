// SPDX-License-Identifier: Apache-2.0
#include "support/text.hpp"

#include <boost/test/unit_test.hpp>

#include "support/markup.hpp"

namespace plumbline {

BOOST_AUTO_TEST_SUITE(text_test)

BOOST_AUTO_TEST_CASE(text_that_can_be_shown_stays_as_it_is) {
  for (const char* text : {"", "plain \\ text\n\tand more ~", "\xc2\xa0 \xc3\xbc \xdf\xbf",
                           "\xe0\xa0\x80 \xe2\x82\xac \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbd",
                           "\xf0\x90\x80\x80 \xf0\x9f\x99\x82 \xf4\x8f\xbf\xbd"}) {
    BOOST_TEST(showable(text) == text);
  }
}

BOOST_AUTO_TEST_CASE(control_characters_and_what_is_no_utf_8_are_shown_byte_by_byte) {
  const std::pair<std::string, std::string> all[] = {
      {"\x1b[31m", "\\x1b[31m"},
      {{"\0\r\x7f", 3}, "\\x00\\x0d\\x7f"},
      {"\xc2\x80\xc2\x9f", "\\xc2\\x80\\xc2\\x9f"},  // control characters of 8 bits
      {"\xff", "\\xff"},
      {"a\xc3", "a\\xc3"},                      // cut off
      {"\xc3(\xe2\x82(", "\\xc3(\\xe2\\x82("},  // in the middle
      {"\x80", "\\x80"},                        // no beginning
      {"\xc1\xbf", "\\xc1\\xbf"},               // too long
      {"\xe0\x9f\xbf", "\\xe0\\x9f\\xbf"},
      {"\xf0\x8f\xbf\xbf", "\\xf0\\x8f\\xbf\\xbf"},
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},           // half a pair of UTF-16
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // beyond the last
      {"\xf8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80"},
      {"\xef\xbf\xbe\xef\xbf\xbf", "\\xef\\xbf\\xbe\\xef\\xbf\\xbf"},   // XML has none of these
      {"\xe2\x80\xae\xe2\x81\xa9", "\\xe2\\x80\\xae\\xe2\\x81\\xa9"}};  // to the left, and back
  for (const auto& [text, shown] : all) {
    BOOST_TEST(showable(text) == shown);
    BOOST_TEST(showable(shown) == shown);
  }
}

BOOST_AUTO_TEST_CASE(json_stays_the_same_json) {
  BOOST_TEST(showable_json("{\n\"\xc3\xbc\": \"\x7f \xc2\x9b \xe2\x80\xae\"}") ==
             "{\n\"\xc3\xbc\": \"\\u007f \\u009b \\u202e\"}");
}

BOOST_AUTO_TEST_CASE(markup_is_escaped_and_can_be_shown) {
  BOOST_TEST(escaped_markup("<\x1b&\xff>") == "&lt;\\x1b&amp;\\xff&gt;");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline
