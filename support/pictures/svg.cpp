// SPDX-License-Identifier: Apache-2.0
#include "support/pictures/svg.hpp"

#include <stdexcept>

#include "support/pictures/drawing.hpp"
#include "support/pictures/style.hpp"
#include "support/pictures/svg_writer.hpp"

namespace plumbline::pictures {
namespace {

template <class AnyPicture>
void require(bool condition, const AnyPicture& picture, const std::string& what) {
  if (!condition) throw std::logic_error("picture " + picture.name + ": " + what);
}

template <class AnyPicture>
void check_words(const AnyPicture& picture) {
  require(!picture.name.empty() && !picture.title.empty() && !picture.description.empty(), picture,
          "no name, title or description");
}

void check(const Picture& picture) {
  check_words(picture);
  require(picture.curves.empty() || picture.maps.empty(), picture, "either curves or maps");
  for (const Curve& curve : picture.curves) {
    require(!curve.x.empty() && curve.x.size() == curve.y.size(), picture,
            curve.label + ": as many x as y, and one at least");
  }
  for (const Map& map : picture.maps) require(!map.rows.empty(), picture, map.label + ": no rows");
  if (picture.maps.empty()) {
    for (const Axis& axis : {picture.x, picture.y}) {
      require(axis.from < axis.to, picture, axis.label + ": from is not below to");
      require(!axis.logarithmic || axis.from > 0, picture, axis.label + ": logarithm of 0");
    }
  }
}

void check(const HeatMap& map) {
  check_words(map);
  require(map.from < map.to, map, "from is not below to");
  require(!map.rows.empty() && !map.columns.empty() && map.values.size() == map.rows.size(), map,
          "as many rows of values as rows, and one at least");
  for (const auto& row : map.values)
    require(row.size() == map.columns.size(), map, "as many values in a row as columns");
}

Drawing drawn(const Picture& picture) {
  check(picture);
  return picture.maps.empty() ? draw_curves(picture) : draw_maps(picture);
}

Drawing drawn(const HeatMap& map) {
  check(map);
  return draw_heat_map(map);
}

template <class AnyPicture>
std::string framed(const AnyPicture& picture, double height, const std::string& elements) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" role=\"img\" "
      "aria-labelledby=\"title-{} desc-{}\"><title id=\"title-{}\">{}</title>"
      "<desc id=\"desc-{}\">{}</desc>{}</svg>",
      coordinate(picture_width), coordinate(height), picture.name, picture.name, picture.name,
      escaped_markup(picture.title), picture.name, escaped_markup(picture.description), elements);
}

/// The text in lines of at most so many letters, broken between words.
std::vector<std::string> lines_of(const std::string& text, std::size_t letters) {
  std::vector<std::string> lines{""};
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > letters)
      lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
    begin = end + 1;
  }
  return lines;
}

template <class AnyPicture>
std::string file(const AnyPicture& picture) {
  const Drawing drawing = drawn(picture);
  std::string elements = fmt::format(
      "<style>{}</style><rect class=\"paper\" width=\"100%\" "
      "height=\"100%\"/>",
      escaped_markup(style_of_files()));
  double y = 8;
  for (const std::string& line : lines_of(picture.title, 58))
    elements += text_at(22, y += 17, "start", line);
  y += 8;
  elements +=
      fmt::format("<g transform=\"translate(0 {})\">{}</g>", coordinate(y), drawing.elements);
  return framed(picture, y + drawing.height + 4, elements) + "\n";
}

template <class AnyPicture>
std::string part_of_page(const AnyPicture& picture) {
  const Drawing drawing = drawn(picture);
  return framed(picture, drawing.height, drawing.elements);
}

}  // namespace

std::string svg(const Picture& picture) { return part_of_page(picture); }
std::string svg(const HeatMap& map) { return part_of_page(map); }

std::string svg_file(const Picture& picture) { return file(picture); }
std::string svg_file(const HeatMap& map) { return file(map); }

}  // namespace plumbline::pictures
