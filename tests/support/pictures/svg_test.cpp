// SPDX-License-Identifier: Apache-2.0
// How pictures are drawn: coordinates computed by hand, and files that are whole XML.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <stdexcept>
#include <string>

#include "support/pictures/svg.hpp"
#include "support/pictures/ticks.hpp"
#include "tests/support/markup.hpp"

using namespace plumbline::pictures;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t number = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++number;
  }
  return number;
}

Picture two_points() {
  Picture picture;
  picture.name = "two_points";
  picture.title = "a < b";
  picture.description = "\"one\" & two";
  picture.x = {"x", 0, 10};
  picture.y = {"y", 0, 1};
  picture.curves = {{"line", {0, 10}, {0, 1}}};
  return picture;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_line_from_corner_to_corner_of_the_axes) {
  const std::string drawn = svg(two_points());
  BOOST_TEST(drawn.find("class=\"curve c0\" d=\"M62 274L438 14\"") != std::string::npos, drawn);
  BOOST_TEST(drawn.find("<title id=\"title-two_points\">a &lt; b</title>") != std::string::npos);
  BOOST_TEST(drawn.find("&quot;one&quot; &amp; two</desc>") != std::string::npos);
  BOOST_TEST(count(drawn, ">line</text>") == 1u);
}

BOOST_AUTO_TEST_CASE(a_number_that_is_not_finite_ends_a_line_and_points_outside_are_left_out) {
  Picture picture = two_points();
  picture.curves[0] = {"line", {0, 2, 4, 6, 8}, {0, 0.5, NAN, 0.5, 1}};
  BOOST_TEST(count(svg(picture), "M62 274L137.2 144M287.6 144L362.8 14") == 1u);
  picture.curves[0] = {"points", {0, 5, 5}, {0.5, 0.5, 2}, Curve::Mark::points};
  BOOST_TEST(count(svg(picture), "m-3.5 0") == 2u + 1u);  // and one in the legend
}

BOOST_AUTO_TEST_CASE(a_map_has_a_cell_for_every_value_in_its_shade) {
  Picture picture = two_points();
  picture.curves.clear();
  picture.maps = {{"map", {{0}, {8, 4}}}};
  const std::string drawn = svg(picture);
  // 196 units across two cells: the lowest above the highest, the middle beside it.
  BOOST_TEST(drawn.find("class=\"q0\" d=\"M24 24H122V122H24z\"") != std::string::npos, drawn);
  BOOST_TEST(drawn.find("class=\"q8\" d=\"M24 122H122V220H24z\"") != std::string::npos);
  BOOST_TEST(drawn.find("class=\"q4\" d=\"M122 122H220V220H122z\"") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(ticks_are_round_numbers_within_the_axis) {
  BOOST_TEST(ticks({"", 0, 1}) == (std::vector<double>{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1}),
             boost::test_tools::per_element());
  BOOST_TEST(ticks({"", -32, 0}).front() == -30.0);
  BOOST_TEST(ticks({"", 0.5, 2000, true}) == (std::vector<double>{1, 10, 100, 1000}),
             boost::test_tools::per_element());
  for (const Axis& axis : {Axis{"", 0, 3}, {"", 0.9, 2.2}, {"", 1e-8, 1, true}, {"", 1, 64}}) {
    BOOST_TEST(ticks(axis).size() >= 3u);
    BOOST_TEST(ticks(axis).size() <= 8u);
  }
  BOOST_TEST(tick_text(-2, {"", -3, 5}) == "−2");
  BOOST_TEST(tick_text(0.2, {"", 0, 0.5}) == "0.2");
  BOOST_TEST(tick_text(1e-3, {"", 1e-5, 1, true}) == "10⁻³");
  BOOST_TEST(tick_text(100, {"", 1, 1000, true}) == "100");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_drawn_is_refused) {
  Picture both = two_points(), unequal = both, logarithm = both, flat = both, unnamed = both;
  both.maps = {{"map", {{0}}}};
  unequal.curves[0].y.pop_back();
  logarithm.y = {"y", 0, 1, true};
  flat.x.to = flat.x.from;
  unnamed.description.clear();
  for (const Picture& picture : {both, unequal, logarithm, flat, unnamed}) {
    BOOST_CHECK_THROW(svg(picture), std::logic_error);
  }
}

BOOST_AUTO_TEST_CASE(a_marked_line_has_its_marks_and_the_ninth_curve_the_first_colour) {
  Picture picture = two_points();
  picture.curves = std::vector<Curve>(9, {"line", {0, 10}, {0, 1}, Curve::Mark::marked_line});
  const std::string drawn = svg(picture);
  BOOST_TEST(count(drawn, "<path class=\"curve c0\" d=\"M62 274L438 14\"/>") == 2u);
  // Curve 1: squares of 6 around both ends.
  BOOST_TEST(count(drawn,
                   "<path class=\"points c1\" "
                   "d=\"M62 274m-3 -3h6v6h-6zM438 14m-3 -3h6v6h-6z\"/>") == 1u);
}

BOOST_AUTO_TEST_CASE(an_axis_has_its_numbers_where_it_is_told_and_those_that_overlap_are_left_out) {
  Picture picture = two_points();
  picture.x = {"x", 64, 512, true, {64, 65, 128, 512}};
  picture.curves[0].x = {64, 512};
  const std::string drawn = svg(picture);
  // 128 is a third of the way: 62 + 376 / 3.
  BOOST_TEST(count(drawn, "<text x=\"187.3\" y=\"292\" text-anchor=\"middle\">128</text>") == 1u);
  BOOST_TEST(count(drawn, ">64</text>") == 1u);
  BOOST_TEST(count(drawn, ">65</text>") == 0u);
}

BOOST_AUTO_TEST_CASE(short_logarithmic_axes_have_numbers_too) {
  BOOST_TEST(ticks({"", 4, 60, true}) == (std::vector<double>{5, 10, 20, 50}),
             boost::test_tools::per_element());
  BOOST_TEST(ticks({"", 6.5, 9.1, true}) == (std::vector<double>{6.5, 7, 7.5, 8, 8.5, 9}),
             boost::test_tools::per_element());
  BOOST_TEST(tick_text(20, {"", 4, 60, true}) == "20");
}

BOOST_AUTO_TEST_CASE(an_axis_holds_its_values_with_a_twentieth_to_spare) {
  const Axis linear = axis_over("a", {1, NAN, 21, 5});
  BOOST_TEST(linear.from == 0.0);
  BOOST_TEST(linear.to == 22.0);
  const Axis logarithmic = axis_over("a", {0, 1, 1e20}, true);
  BOOST_TEST(std::fabs(std::log10(logarithmic.from) + 1) < 1e-12);
  BOOST_TEST(std::fabs(std::log10(logarithmic.to) - 21) < 1e-12);
  const Axis zeros = axis_over("a", {0, 0}, true);  // no logarithm
  BOOST_TEST(!zeros.logarithmic);
  BOOST_TEST(zeros.from == -0.05);
  BOOST_TEST(zeros.to == 0.05);
  const Axis none = axis_over("a", {NAN}, true);
  BOOST_TEST(!none.logarithmic);
  BOOST_TEST(none.from == 0.0);
  BOOST_TEST(none.to == 1.0);
}

BOOST_AUTO_TEST_CASE(axes_without_a_value_say_so) {
  Picture gap = two_points(), empty = gap;
  gap.curves[0].y = {NAN, INFINITY};
  empty.curves.clear();
  BOOST_TEST(count(svg(gap), ">no values</text>") == 1u);
  BOOST_TEST(count(svg(empty), ">no values</text>") == 1u);
  BOOST_TEST(count(svg(two_points()), "no values") == 0u);
}

BOOST_AUTO_TEST_CASE(a_heat_map_has_a_cell_for_every_value_with_its_number_and_none_for_no_value) {
  const HeatMap map{"heat",  "Heat",        "two by two", "length",
                    "depth", {"64", "128"}, {"0", "1"},   {{0, 1}, {0.5, NAN}}};
  const std::string drawn = svg_file(map);
  // Rows are named by one letter of 7.8: cells begin at 43.8, and are (438 - 43.8) / 2 wide, 32
  // high.
  BOOST_TEST(count(drawn, "<path class=\"q0\" d=\"M43.8 8h197.1v32h-197.1z\"/>") == 1u, drawn);
  BOOST_TEST(count(drawn, "<path class=\"q8\" d=\"M240.9 8h197.1v32h-197.1z\"/>") == 1u);
  BOOST_TEST(count(drawn, "<path class=\"q4\" d=\"M43.8 40h197.1v32h-197.1z\"/>") == 1u);
  BOOST_TEST(count(drawn, "class=\"light small\">0.5</text>") == 1u);
  BOOST_TEST(count(drawn, "class=\"dark small\">1</text>") == 1u);
  BOOST_TEST(count(drawn, "M240.9 40") == 0u);
  BOOST_TEST(count(drawn, ">–</text>") == 1u);

  // Words of 34 letters beside two rows: these are half as high each, not 32.
  HeatMap labelled = map;
  labelled.y_label = "share of the filler before the key";
  BOOST_TEST(count(svg_file(labelled), "<path class=\"q0\" d=\"M43.8 8h197.1v132.6h-197.1z\"/>") ==
             1u);

  HeatMap ragged = map, flat = map;
  ragged.values[0].pop_back();
  flat.to = flat.from;
  for (const HeatMap& wrong : {ragged, flat}) BOOST_CHECK_THROW(svg_file(wrong), std::logic_error);
}

BOOST_AUTO_TEST_CASE(values_above_the_limit_of_a_heat_map_have_a_colour_of_their_own) {
  HeatMap map{"heat", "Heat", "two", "key", "head", {"0", "1", "2"}, {"0"}, {{0.5, INFINITY, 1.5}}};
  const auto swatch = "above 1</text>";
  BOOST_TEST(count(svg(map), "class=\"q9\"") == 0u);  // without a limit
  map.limit = 1;
  const std::string drawn = svg(map);
  // As above, with a third of the width: 131.4.
  BOOST_TEST(count(drawn, "<path class=\"q4\" d=\"M43.8 8h131.4v32h-131.4z\"/>") == 1u, drawn);
  BOOST_TEST(count(drawn, "<path class=\"q9\" d=\"M175.2 8h131.4v32h-131.4zM306.6 8h131.4v32") ==
             1u);
  BOOST_TEST(count(drawn, ">∞</text>") == 1u);
  BOOST_TEST(count(drawn, swatch) == 1u);
  map.numbers = false;
  BOOST_TEST(count(svg(map), ">∞</text>") == 0u);
  map.values[0] = {0.5, 1, 0};
  BOOST_TEST(count(svg(map), swatch) == 0u);
}

BOOST_AUTO_TEST_CASE(files_are_whole_xml_and_name_every_colour) {
  Picture maps = two_points();
  maps.curves.clear();
  maps.maps = {{"map", {{0}, {8, 4}}}};
  for (const Picture& picture : {two_points(), maps}) {
    const auto elements = plumbline::test::Markup::elements(svg_file(picture), "");
    BOOST_TEST(elements.front().name == "svg");
    BOOST_TEST(elements.front().attributes.at("role") == "img");
    const auto style = std::find_if(elements.begin(), elements.end(),
                                    [](const auto& e) { return e.name == "style"; });
    BOOST_REQUIRE(style != elements.end());
    BOOST_TEST(style->text.find("var(") == std::string::npos);
    // Curve 0 on light paper and on dark.
    BOOST_TEST(count(style->text, ".curve.c0{stroke:#0072b2}") == 1u);
    BOOST_TEST(count(style->text, ".curve.c0{stroke:#56b4e9}") == 1u);
  }
}
