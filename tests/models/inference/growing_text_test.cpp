// SPDX-License-Identifier: Apache-2.0
#include "models/inference/growing_text.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(growing_text_test)

using plumbline::inference::GrowingText;

BOOST_AUTO_TEST_CASE(a_character_of_several_tokens_is_shown_when_it_is_whole) {
  GrowingText text;
  BOOST_TEST(text.added("a") == "a");
  BOOST_TEST(text.added("a\xEF\xBF\xBD") == "");
  BOOST_TEST(text.added("a\xEF\xBF\xBD\xEF\xBF\xBD") == "");
  BOOST_TEST(text.added("a\xC3\xA9") == "\xC3\xA9");
  BOOST_TEST(text.added("a\xC3\xA9 b") == " b");
  BOOST_TEST(text.rest("a\xC3\xA9 b") == "");
}

BOOST_AUTO_TEST_CASE(what_never_became_whole_is_the_rest) {
  GrowingText text;
  BOOST_TEST(text.added("a\xEF\xBF\xBD") == "a");
  BOOST_TEST(text.rest("a\xEF\xBF\xBD") == "\xEF\xBF\xBD");
}

BOOST_AUTO_TEST_CASE(a_replacement_character_within_the_text_is_shown) {
  GrowingText text;
  BOOST_TEST(text.added("a\xEF\xBF\xBD"
                        "b") ==
             "a\xEF\xBF\xBD"
             "b");
}

BOOST_AUTO_TEST_SUITE_END()
