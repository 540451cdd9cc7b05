// SPDX-License-Identifier: Apache-2.0
#include "reference/core/mask.hpp"

#include <boost/test/unit_test.hpp>
#include <limits>

BOOST_AUTO_TEST_SUITE(mask_test)

using plumbline::reference::Mask;
using plumbline::reference::visible_keys;
using plumbline::reference::Window;
using Keys = std::vector<int>;

BOOST_AUTO_TEST_CASE(a_default_mask_shows_every_key) {
  for (int i = 0; i < 4; ++i) BOOST_TEST(visible_keys({}, 0, i, 4) == (Keys{0, 1, 2, 3}));
}

BOOST_AUTO_TEST_CASE(causal_shows_the_query_and_what_precedes_it) {
  const Mask causal{.causal = true};
  BOOST_TEST(visible_keys(causal, 0, 0, 4) == (Keys{0}));
  BOOST_TEST(visible_keys(causal, 0, 2, 4) == (Keys{0, 1, 2}));
  BOOST_TEST(visible_keys(causal, 0, 3, 4) == (Keys{0, 1, 2, 3}));
}

BOOST_AUTO_TEST_CASE(a_window_shows_distances_up_to_it_on_both_sides) {
  const Mask window{.window = 1};
  BOOST_TEST(visible_keys(window, 0, 0, 4) == (Keys{0, 1}));
  BOOST_TEST(visible_keys(window, 0, 2, 4) == (Keys{1, 2, 3}));
  BOOST_TEST(visible_keys({.window = 0}, 0, 2, 4) == (Keys{2}));
  BOOST_TEST(visible_keys({.causal = true, .window = 1}, 0, 2, 4) == (Keys{1, 2}));
  BOOST_TEST(visible_keys({.window = std::numeric_limits<int>::max()}, 0, 1, 3) == (Keys{0, 1, 2}));
}

BOOST_AUTO_TEST_CASE(a_window_may_have_sides_of_different_width) {
  BOOST_TEST(visible_keys({.window = {2, 0}}, 0, 3, 6) == (Keys{1, 2, 3}));
  BOOST_TEST(visible_keys({.window = {0, 1}}, 0, 3, 6) == (Keys{3, 4}));
  BOOST_TEST(visible_keys({.window = {-1, 1}}, 0, 3, 6) == (Keys{0, 1, 2, 3, 4}));
  BOOST_TEST(visible_keys({.window = {1, -1}}, 0, 3, 6) == (Keys{2, 3, 4, 5}));
  BOOST_TEST(visible_keys({.causal = true, .window = {1, 4}}, 0, 3, 6) == (Keys{2, 3}));
  BOOST_TEST(!Window().hides());
  BOOST_TEST(Window(-1, 1).hides());
}

BOOST_AUTO_TEST_CASE(positions_of_no_key) {
  // Before the first key nothing is seen, whatever the mask; beyond the last what it leaves.
  for (const Mask& mask : {Mask{}, {.causal = true}, {.window = 9}, {.lengths = {4}}}) {
    BOOST_TEST(visible_keys(mask, 0, -1, 4).empty());
  }
  BOOST_TEST(visible_keys({}, 0, 6, 4) == (Keys{0, 1, 2, 3}));
  BOOST_TEST(visible_keys({.causal = true}, 0, 4, 4) == (Keys{0, 1, 2, 3}));
  BOOST_TEST(visible_keys({.window = 3}, 0, 5, 4) == (Keys{2, 3}));
  BOOST_TEST(visible_keys({.window = 1}, 0, 6, 4).empty());
  BOOST_TEST(visible_keys({.lengths = {4}}, 0, 4, 4).empty());
}

BOOST_AUTO_TEST_CASE(lengths_hide_keys_and_empty_the_rows_beyond_them) {
  const Mask ragged{.lengths = {4, 2, 0}};
  BOOST_TEST(visible_keys(ragged, 0, 3, 4) == (Keys{0, 1, 2, 3}));
  BOOST_TEST(visible_keys(ragged, 1, 1, 4) == (Keys{0, 1}));
  BOOST_TEST(visible_keys(ragged, 1, 2, 4).empty());
  BOOST_TEST(visible_keys(ragged, 2, 0, 4).empty());
}

BOOST_AUTO_TEST_CASE(documents_show_only_their_own_keys) {
  const Mask documents{.documents = {5, 5, 7, 5, /* second sequence */ 1, 2, 2, 2}};
  BOOST_TEST(visible_keys(documents, 0, 0, 4) == (Keys{0, 1, 3}));
  BOOST_TEST(visible_keys(documents, 0, 2, 4) == (Keys{2}));
  BOOST_TEST(visible_keys(documents, 1, 2, 4) == (Keys{1, 2, 3}));
  Mask both = documents;
  both.causal = true;
  BOOST_TEST(visible_keys(both, 1, 2, 4) == (Keys{1, 2}));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused_by_name) {
  const auto names = [](const char* name) {
    return [name](const std::invalid_argument& error) {
      return std::string(error.what()).starts_with(std::string(name) + " is ");
    };
  };
  BOOST_CHECK_EXCEPTION(visible_keys({}, 0, 0, 0), std::invalid_argument, names("keys"));
  BOOST_CHECK_EXCEPTION(visible_keys({.documents = {1, 1, 1, 1}}, 0, 4, 4), std::invalid_argument,
                        names("position"));
  BOOST_CHECK_EXCEPTION(visible_keys({}, -1, 0, 4), std::invalid_argument, names("batch"));
  BOOST_CHECK_EXCEPTION(visible_keys({.window = -2}, 0, 0, 4), std::invalid_argument,
                        names("window (left)"));
  BOOST_CHECK_EXCEPTION(visible_keys({.window = {0, -2}}, 0, 0, 4), std::invalid_argument,
                        names("window (right)"));
  BOOST_CHECK_EXCEPTION(visible_keys({.lengths = {4}}, 1, 0, 4), std::invalid_argument,
                        names("batch"));
  BOOST_CHECK_EXCEPTION(visible_keys({.documents = {1, 1, 1}}, 0, 0, 4), std::invalid_argument,
                        names("documents.size()"));
  BOOST_CHECK_EXCEPTION(visible_keys({.documents = {1, 1, 1, 1}}, 1, 0, 4), std::invalid_argument,
                        names("batch"));
}

BOOST_AUTO_TEST_SUITE_END()
