// SPDX-License-Identifier: Apache-2.0
#include "verdict/report/error_map.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace plumbline::verdict {

ErrorMap error_map(const OutputJudgement& output) {
  ErrorMap map;
  const std::size_t axes = output.axes.size();
  if (axes == 0 || output.ratios.empty()) return map;
  const std::size_t fixed = axes > 2 ? axes - 2 : 0;
  std::size_t slice = 0;
  for (std::size_t axis = 0; axis < fixed; ++axis) {
    slice = slice * static_cast<std::size_t>(output.shape[axis]) +
            static_cast<std::size_t>(output.worst.index[axis]);
    map.slice +=
        fmt::format("{}{} {}", axis > 0 ? ", " : "", output.axes[axis], output.worst.index[axis]);
  }
  map.column_axis = output.axes[axes - 1];
  map.columns = output.shape[axes - 1];
  map.row_axis = axes > 1 ? output.axes[axes - 2] : "";
  map.rows = axes > 1 ? output.shape[axes - 2] : 1;

  const int height = std::min(map.rows, largest_map), width = std::min(map.columns, largest_map);
  map.cells.assign(static_cast<std::size_t>(height),
                   std::vector<double>(static_cast<std::size_t>(width), 0.0));
  const double* ratio = output.ratios.data() + slice * static_cast<std::size_t>(map.rows) *
                                                   static_cast<std::size_t>(map.columns);
  for (long row = 0; row < map.rows; ++row) {
    auto& cells = map.cells[static_cast<std::size_t>(row * height / map.rows)];
    for (long column = 0; column < map.columns; ++column, ++ratio) {
      double& cell = cells[static_cast<std::size_t>(column * width / map.columns)];
      cell = std::max(cell, *ratio);
    }
  }
  return map;
}

}  // namespace plumbline::verdict
