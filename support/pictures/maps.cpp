// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "support/pictures/drawing.hpp"
#include "support/pictures/svg_writer.hpp"

namespace plumbline::pictures {
namespace {

constexpr double panel = 196, gap = 38;

struct Range {
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
};

Range range_of(const Map& map) {
  Range range;
  for (const auto& row : map.rows) {
    for (const double value : row) {
      range.lowest = std::min(range.lowest, value);
      range.highest = std::max(range.highest, value);
    }
  }
  return range;
}

/// The cells of one shade are one path.
std::string cells(const Map& map, const Range& range, double x, double y) {
  std::array<std::string, shades> paths;
  const double side = panel / static_cast<double>(map.rows.size());
  for (std::size_t i = 0; i < map.rows.size(); ++i) {
    const std::vector<double>& row = map.rows[i];
    const auto shade = [&](std::size_t j) { return shade_of(row[j], range.lowest, range.highest); };
    // Neighbours of one shade are one rectangle: a long row of them would be a large file.
    for (std::size_t j = 0, end = 0; j < row.size(); j = end) {
      for (end = j + 1; end < row.size() && shade(end) == shade(j);) ++end;
      // Both ends are rounded for themselves, so that neighbours meet.
      const std::string left = coordinate(x + side * static_cast<double>(j));
      paths[static_cast<std::size_t>(shade(j))] +=
          fmt::format("M{} {}H{}V{}H{}z", left, coordinate(y + side * static_cast<double>(i)),
                      coordinate(x + side * static_cast<double>(end)),
                      coordinate(y + side * static_cast<double>(i + 1)), left);
    }
  }
  std::string out;
  for (std::size_t shade = 0; shade < paths.size(); ++shade) {
    if (!paths[shade].empty()) {
      out += fmt::format("<path class=\"q{}\" d=\"{}\"/>", shade, paths[shade]);
    }
  }
  return out;
}

}  // namespace

Drawing draw_maps(const Picture& picture) {
  std::string out;
  double y = 6;
  for (std::size_t k = 0; k < picture.maps.size(); ++k) {
    const Map& map = picture.maps[k];
    const double x = 24 + (k % 2 == 0 ? 0.0 : panel + gap);
    const Range range = range_of(map);
    out += text_at(x, y + 10, "start", map.label);
    out += cells(map, range, x, y + 18);
    out += fmt::format("<path class=\"frame\" d=\"M{} {}h{}v{}h-{}z\"/>", coordinate(x),
                       coordinate(y + 18), panel, panel, panel);
    out += text_at(x + panel / 2, y + 18 + panel + 15, "middle", picture.x.label);
    const double middle = y + 18 + panel / 2;
    out += text_at(
        x - 8, middle, "middle", picture.y.label,
        fmt::format(" transform=\"rotate(-90 {} {})\"", coordinate(x - 8), coordinate(middle)));
    out += draw_scale(range.lowest, range.highest, x, y + 18 + panel + 24, panel);
    if (k % 2 == 1 || k + 1 == picture.maps.size()) y += 18 + panel + 56;
  }
  return {out, y};
}

}  // namespace plumbline::pictures
