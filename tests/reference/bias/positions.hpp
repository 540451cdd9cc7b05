// SPDX-License-Identifier: Apache-2.0
// Where a bias stands in a test.
#pragma once

namespace plumbline::reference {

/// Gains and other numbers of the queries belong to the positions from query_offset on.
struct Positions {
  int queries, keys, query_offset;
};

}  // namespace plumbline::reference
