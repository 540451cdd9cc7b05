// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "support/pictures/drawing.hpp"
#include "support/pictures/svg_writer.hpp"

namespace plumbline::pictures {
namespace {

constexpr double map_right = picture_width - 22, map_top = 8, letter = 7.8;

struct Grid {
  double left, cell_width, cell_height;
  double x(std::size_t column) const { return left + cell_width * static_cast<double>(column); }
  double y(std::size_t row) const { return map_top + cell_height * static_cast<double>(row); }
};

Grid grid_of(const HeatMap& map) {
  double widest = 0;
  for (const std::string& row : map.rows) widest = std::max(widest, width_of(row));
  const double left = 36 + widest;
  const auto rows = static_cast<double>(map.rows.size());
  // Few rows are high enough together for the words beside them.
  const double height =
      std::max(std::clamp(320.0 / rows, 16.0, 32.0), width_of(map.y_label) / rows);
  return {left, (map_right - left) / static_cast<double>(map.columns.size()), height};
}

/// Rectangles in their shades, one path a shade, with their values where there is room for them.
std::string cells(const HeatMap& map, const Grid& grid) {
  std::array<std::string, shades + 1> paths;  // the last one: above the limit
  std::string out, texts;
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    for (std::size_t column = 0; column < map.columns.size(); ++column) {
      const double value = map.values[row][column], x = grid.x(column), y = grid.y(row);
      const double middle = x + grid.cell_width / 2, base = y + grid.cell_height / 2 + 4;
      const bool above = value > map.limit;
      if (!std::isfinite(value) && !above) {
        texts += text_at(middle, base, "middle", "–", " class=\"small\"");
        continue;
      }
      const int shade = above ? shades : shade_of(value, map.from, map.to);
      paths[static_cast<std::size_t>(shade)] += fmt::format(
          "M{} {}h{}v{}h-{}z", coordinate(x), coordinate(y), coordinate(grid.cell_width),
          coordinate(grid.cell_height), coordinate(grid.cell_width));
      const std::string text = std::isfinite(value) ? number_text(value) : "∞";
      if (!map.numbers || width_of(text) > grid.cell_width) continue;
      texts += text_at(middle, base, "middle", text,
                       shade < 5 || above ? " class=\"light small\"" : " class=\"dark small\"");
    }
  }
  for (std::size_t shade = 0; shade < paths.size(); ++shade) {
    if (paths[shade].empty()) continue;
    out += fmt::format("<path class=\"q{}\" d=\"{}\"/>", shade, paths[shade]);
  }
  return out + texts;
}

bool has_values_above_the_limit(const HeatMap& map) {
  return std::ranges::any_of(map.values, [&](const auto& row) {
    return std::ranges::any_of(row, [&](double value) { return value > map.limit; });
  });
}

}  // namespace

Drawing draw_heat_map(const HeatMap& map) {
  const Grid grid = grid_of(map);
  const double bottom = grid.y(map.rows.size());
  std::string out = cells(map, grid);
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    out += text_at(grid.left - 6, grid.y(row) + grid.cell_height / 2 + 4.5, "end", map.rows[row]);
  }
  out += fmt::format("<path class=\"frame\" d=\"M{} {}H{}V{}H{}z\"/>", coordinate(grid.left),
                     coordinate(map_top), coordinate(map_right), coordinate(bottom),
                     coordinate(grid.left));
  double taken = 0;  // up to where the labels below the columns have come
  for (std::size_t column = 0; column < map.columns.size(); ++column) {
    const double middle = grid.x(column) + grid.cell_width / 2;
    const double half = width_of(map.columns[column]) / 2;
    if (column > 0 && middle - half < taken + letter / 2) continue;
    out += text_at(middle, bottom + 17, "middle", map.columns[column]);
    taken = middle + half;
  }
  out += text_at((grid.left + map_right) / 2, bottom + 37, "middle", map.x_label);
  const double middle = (map_top + bottom) / 2;
  out += text_at(14, middle, "middle", map.y_label,
                 fmt::format(" transform=\"rotate(-90 14 {})\"", coordinate(middle)));
  out += draw_scale(map.from, map.to, grid.left, bottom + 50, map_right - grid.left);
  if (!has_values_above_the_limit(map)) return {out, bottom + 70};
  out += fmt::format("<path class=\"q{}\" d=\"M{} {}h12v12h-12z\"/>", shades, coordinate(grid.left),
                     coordinate(bottom + 70));
  out += text_at(grid.left + 18, bottom + 80, "start", "above " + number_text(map.limit));
  return {out, bottom + 90};
}

}  // namespace plumbline::pictures
