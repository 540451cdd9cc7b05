// SPDX-License-Identifier: Apache-2.0
// Where in an output the errors are.
#pragma once

#include <string>
#include <vector>

#include "verdict/judge/judge.hpp"

namespace plumbline::verdict {

/// |error| / bound over the last two axes of an output, in the slice of the worst element: of o and
/// grad_q the queries and components of one head, of grad_k and grad_v the keys and components, of
/// lse the heads and queries of one sequence.
struct ErrorMap {
  std::string slice;  ///< "batch 0, head 3"; empty where the map is the whole output
  std::string row_axis, column_axis;  ///< "query", "component"; no row axis: the map is one row
  int rows = 0, columns = 0;          ///< of the slice
  /// At most largest_map each way; each the largest of the elements that it stands for, infinite
  /// where one is not a number. None of an output without axes.
  std::vector<std::vector<double>> cells;
};
inline constexpr int largest_map = 32;

ErrorMap error_map(const OutputJudgement&);

}  // namespace plumbline::verdict
