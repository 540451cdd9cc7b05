// SPDX-License-Identifier: Apache-2.0
// What maps and heat maps have in common, and the width of a text.
#include <algorithm>
#include <cmath>

#include "support/pictures/drawing.hpp"
#include "support/pictures/svg_writer.hpp"

namespace plumbline::pictures {

int shade_of(double value, double lowest, double highest) {
  const double part = highest > lowest ? (value - lowest) / (highest - lowest) : 1.0;
  return static_cast<int>(std::clamp(part * shades, 0.0, shades - 1.0));
}

std::string number_text(double value) {
  const std::string text = fmt::format("{:.3g}", std::fabs(value));
  return value < 0 ? "−" + text : text;
}

std::string draw_scale(double lowest, double highest, double x, double y, double width) {
  // What is nothing beside the other end is rounding.
  const double least = 1e-4 * (highest - lowest);
  const auto text = [&](double value) {
    return number_text(std::fabs(value) < least ? 0.0 : value);
  };
  const std::string low = text(lowest), high = text(highest);
  std::string out = text_at(x, y + 10, "start", low);
  const double from = x + 6 + width_of(low), to = x + width - 6 - width_of(high);
  const double side = (to - from) / shades;
  for (int shade = 0; shade < shades; ++shade) {
    out += fmt::format("<path class=\"q{}\" d=\"M{} {}h{}v12h-{}z\"/>", shade,
                       coordinate(from + side * shade), coordinate(y), coordinate(side),
                       coordinate(side));
  }
  return out + text_at(x + width, y + 10, "end", high);
}

double width_of(std::string_view text) {
  double letters = 0;
  for (const char c : text) letters += (static_cast<unsigned char>(c) & 0xC0) == 0x80 ? 0 : 1;
  return 7.8 * letters;
}

}  // namespace plumbline::pictures
