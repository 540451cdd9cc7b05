// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "proofs_checks/pictures/curves.hpp"
#include "proofs_checks/pictures/svg_writer.hpp"

namespace plumbline::proofs_checks {
namespace {

constexpr int shades = 9;
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

std::string number(double value) {
  const std::string text = fmt::format("{:.3g}", std::fabs(value));
  return value < 0 ? "−" + text : text;
}

/// The cells of one shade are one path.
std::string cells(const Map& map, const Range& range, double x, double y) {
  std::array<std::string, shades> paths;
  const double side = panel / static_cast<double>(map.rows.size());
  const double extent = range.highest - range.lowest;
  for (std::size_t i = 0; i < map.rows.size(); ++i) {
    for (std::size_t j = 0; j < map.rows[i].size(); ++j) {
      const double part = extent > 0 ? (map.rows[i][j] - range.lowest) / extent : 1.0;
      const int shade = std::clamp(static_cast<int>(part * shades), 0, shades - 1);
      paths[static_cast<std::size_t>(shade)] +=
          fmt::format("M{} {}h{}v{}h-{}z", coordinate(x + side * static_cast<double>(j)),
                      coordinate(y + side * static_cast<double>(i)), coordinate(side),
                      coordinate(side), coordinate(side));
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

/// The shades from the lowest value to the highest, with both.
std::string scale(const Range& range, double x, double y) {
  const std::string low = number(range.lowest), high = number(range.highest);
  std::string out = text_at(x, y + 10, "start", low);
  const double from = x + 6 + width_of(low), to = x + panel - 6 - width_of(high);
  const double side = (to - from) / shades;
  for (int shade = 0; shade < shades; ++shade) {
    out += fmt::format("<path class=\"q{}\" d=\"M{} {}h{}v12h-{}z\"/>", shade,
                       coordinate(from + side * shade), coordinate(y), coordinate(side),
                       coordinate(side));
  }
  return out + text_at(x + panel, y + 10, "end", high);
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
    out += scale(range, x, y + 18 + panel + 24);
    if (k % 2 == 1 || k + 1 == picture.maps.size()) y += 18 + panel + 56;
  }
  return {out, y};
}

}  // namespace plumbline::proofs_checks
