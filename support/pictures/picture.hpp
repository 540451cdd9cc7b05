// SPDX-License-Identifier: Apache-2.0
// What is drawn: the numbers and the words, before they are lines of a file.
#pragma once

#include <limits>
#include <string>
#include <vector>

namespace plumbline::pictures {

/// One curve, or points without a line. The first curve has the first colour, and so on.
struct Curve {
  std::string label;  ///< in the legend
  std::vector<double> x, y;
  enum class Mark { line, points, steps, dashes, marked_line } mark = Mark::line;
};

struct Axis {
  std::string label;
  double from = 0.0, to = 1.0;
  bool logarithmic = false;     ///< from and to are then above 0
  std::vector<double> at = {};  ///< where the axis has its numbers; none: at round ones
};

/// A square of values by row (the query i) and column (the key j <= i), drawn in shades.
struct Map {
  std::string label;
  std::vector<std::vector<double>> rows;  ///< row i has i + 1 values, or all of them
};

/// Curves over one pair of axes, or maps side by side. Deterministic: the same numbers each time.
struct Picture {
  std::string name;         ///< within the page, [a-z0-9_]+
  std::string title;        ///< what is seen, in a line
  std::string description;  ///< for who cannot see it: what goes where, and what follows
  Axis x, y;
  std::vector<Curve> curves;
  std::vector<Map> maps;
};

/// A table of values, each in a cell of its shade: lengths across, depths down, for example.
struct HeatMap {
  std::string name, title, description;  ///< as Picture's
  std::string x_label, y_label;
  std::vector<std::string> columns, rows;   ///< what stands at them
  std::vector<std::vector<double>> values;  ///< [rows][columns]; not a number: not measured
  double from = 0.0, to = 1.0;              ///< the lowest shade, the highest
  /// Values above it, an infinite one among them, have a colour of their own.
  double limit = std::numeric_limits<double>::infinity();
  bool numbers = true;  ///< in the cells, where there is room
};

}  // namespace plumbline::pictures
