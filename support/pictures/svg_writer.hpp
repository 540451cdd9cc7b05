// SPDX-License-Identifier: Apache-2.0
// Elements that curves and maps are drawn with; positions in the units of the picture's viewBox.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "support/markup.hpp"

namespace plumbline::pictures {

/// With one decimal, and no "-0.0": a tenth of a unit is not seen.
inline std::string coordinate(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

inline std::string line(std::string_view css_class, double x1, double y1, double x2, double y2) {
  return fmt::format("<path class=\"{}\" d=\"M{} {}L{} {}\"/>", css_class, coordinate(x1),
                     coordinate(y1), coordinate(x2), coordinate(y2));
}

/// `anchor`: start, middle or end of the text is at x.
inline std::string text_at(double x, double y, std::string_view anchor, std::string_view text,
                           std::string_view more = "") {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\"{}>{}</text>", coordinate(x),
                     coordinate(y), anchor, more, escaped_markup(text));
}

/// Letters of a text, at about 7.8 units each: the page's 13-unit type, if it is a wide one.
double width_of(std::string_view text);

}  // namespace plumbline::pictures
