// SPDX-License-Identifier: Apache-2.0
// What is drawn of a claim: the numbers and the words, before they are lines on a page.
#pragma once

#include <string>
#include <vector>

namespace plumbline::proofs_checks {

/// One curve, or points without a line. The first curve has the first colour, and so on.
struct Curve {
  std::string label;  ///< in the legend
  std::vector<double> x, y;
  enum class Mark { line, points, steps, dashes } mark = Mark::line;
};

struct Axis {
  std::string label;
  double from = 0.0, to = 1.0;
  bool logarithmic = false;  ///< base 10; from and to are then above 0
};

/// A square of values by row (the query i) and column (the key j <= i), drawn in shades.
struct Map {
  std::string label;
  std::vector<std::vector<double>> rows;  ///< row i has i + 1 values, or all of them
};

/// Curves over one pair of axes, or maps side by side. Deterministic: the same numbers each time.
struct Picture {
  std::string name;         ///< within the page, [a-z_]+
  std::string title;        ///< what is seen, in a line
  std::string description;  ///< for who cannot see it: what goes where, and what follows
  Axis x, y;
  std::vector<Curve> curves;
  std::vector<Map> maps;
};

}  // namespace plumbline::proofs_checks
