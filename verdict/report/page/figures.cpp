// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "support/markup.hpp"
#include "support/pages/page.hpp"
#include "support/pictures/svg.hpp"
#include "verdict/report/page/parts.hpp"

namespace plumbline::verdict {
namespace {

/// The middle of a bin on the logarithmic axis.
double middle(int bin) {
  const double half_a_bin = std::pow(10.0, 0.5 / Distribution::bins_per_decade);
  return Distribution::upper_edge(bin) / half_a_bin;
}

/// What stands at the rows or columns of a map: the first index of each, where there is room.
std::vector<std::string> indices(int size, std::size_t cells, std::size_t most) {
  const std::size_t step = (cells + most - 1) / most;
  std::vector<std::string> texts(cells);
  for (std::size_t n = 0; n < cells; n += step) {
    // The first one that falls into the cell: see error_map().
    const auto count = static_cast<std::size_t>(size);
    texts[n] = std::to_string((n * count + cells - 1) / cells);
  }
  return texts;
}

}  // namespace

std::string distribution_figure(const CellResult& cell, const std::string& id) {
  // The bins of some output that have elements, without the one of the ratio 0.
  int first_used = Distribution::last_bin, last_used = 0;
  for (const auto& [output, summary] : cell.outputs) {
    for (int bin = 1; bin <= Distribution::last_bin; ++bin) {
      if (summary.distribution.count(bin) == 0) continue;
      first_used = std::min(first_used, bin);
      last_used = std::max(last_used, bin);
    }
  }
  if (last_used == 0) return "";
  // An empty bin at each end is seen too, and the bound, and two decades at least.
  const int bound = -Distribution::smallest_decade * Distribution::bins_per_decade;
  const int first = std::clamp(first_used - 1, 1, bound - 2 * Distribution::bins_per_decade);
  const int last = std::max(last_used + 1, bound + 2);
  pictures::Picture picture;
  picture.name = id + "_distribution";
  picture.title = "Distribution of |error| / bound";
  picture.description =
      "Horizontal: the error of an element relative to its bound; vertical: the fraction of the "
      "output's elements with this error. To the right of the dashed line, elements are outside "
      "their bounds.";
  double highest = 0;
  for (const auto& [output, summary] : cell.outputs) {
    if (summary.elements == 0) continue;
    pictures::Curve curve{output, {}, {}, pictures::Curve::Mark::steps};
    for (int bin = first; bin <= last; ++bin) {
      const long count = bin <= Distribution::last_bin ? summary.distribution.count(bin) : 0;
      curve.x.push_back(middle(bin));
      curve.y.push_back(100.0 * static_cast<double>(count) / static_cast<double>(summary.elements));
      highest = std::max(highest, curve.y.back());
    }
    picture.curves.push_back(std::move(curve));
  }
  highest *= 1.05;
  picture.curves.push_back({"bound", {1, 1}, {0, highest}, pictures::Curve::Mark::dashes});
  picture.x = {"|error| / bound", middle(first), middle(last), true};
  picture.y = {"% of the elements", 0, highest};
  return pages::figure(
      pictures::svg(picture),
      "How far elements are from the oracle, relative to their bounds, over all cases. "
      "Elements equal to the oracle are part of the 100 % but not drawn.");
}

std::string map_figure(const ErrorMap& map, const std::string& output, const std::string& of,
                       const std::string& id) {
  if (map.cells.empty()) return "";
  pictures::HeatMap picture;
  picture.name = id;
  picture.title = "Errors of " + output;
  const std::string where = map.slice.empty() ? "" : ", " + map.slice;
  picture.description = output + where + ": |error| / bound by " +
                        (map.row_axis.empty() ? "" : map.row_axis + " (down) and ") +
                        map.column_axis + " (across).";
  picture.x_label = map.column_axis;
  picture.y_label = map.row_axis;
  picture.rows = indices(map.rows, map.cells.size(), 32);
  if (map.row_axis.empty()) picture.rows = {""};
  picture.columns = indices(map.columns, map.cells.front().size(), 8);
  picture.values = map.cells;
  picture.limit = 1;
  // In narrow cells only 0 and ∞ would fit.
  picture.numbers = map.cells.front().size() <= 12;
  picture.to = 0;
  for (const auto& row : map.cells) {
    for (const double value : row) {
      if (value <= 1) picture.to = std::max(picture.to, value);
    }
  }
  if (picture.to == 0) picture.to = 1;
  std::string caption = output + where + ", of " + of + ": |error| / bound.";
  if (map.cells.size() < static_cast<std::size_t>(map.rows) ||
      map.cells.front().size() < static_cast<std::size_t>(map.columns)) {
    caption += " A cell shows the largest of its elements.";
  }
  return pages::figure(pictures::svg(picture), escaped_markup(caption));
}

}  // namespace plumbline::verdict
