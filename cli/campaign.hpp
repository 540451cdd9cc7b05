// SPDX-License-Identifier: Apache-2.0
// The cells of `plumbline verify`, checked by this process or by all ranks of an mpirun.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "support/ranks.hpp"
#include "verdict/property/property.hpp"

namespace plumbline::cli {

/// What is checked at a time.
struct Cell {
  const verdict::Kernel* kernel;
  cases::Pass pass;
  cases::Bias bias;
  cases::Format format;
  verdict::Offer offer{};  ///< what the kernel takes of it
};

/// The chosen cells that the kernels offer in the shapes, kernel by kernel.
/// @param not_offered gets those that no kernel does: a format, a pass, a pass and a bias, or a
/// whole cell.
/// @throws BadInput where there are none, naming the options without which there would be some.
std::vector<Cell> offered_cells(const Selection& selection, const verdict::Shapes& shapes,
                                const std::vector<verdict::Kernel>& kernels,
                                std::vector<std::string>& not_offered);

struct Campaign {
  std::vector<Cell> cells;
  int cases_per_cell = 0;
  std::uint64_t seed = 1;
  verdict::Shard shard;  ///< its `before` is 0
  verdict::Shapes shapes;
  double most_work = std::numeric_limits<double>::infinity();  ///< of all cells: verdict::Draws
  int threads = 1;
};

/// @throws MachineLacks where the ranks' kernels offer different cells.
void expect_same_cells(const Campaign& campaign, Ranks& ranks);

/// Called with each cell that is done.
using CellDone = std::function<void(const Cell&, verdict::CellResult&)>;

/// Checks a shard of one cell.
verdict::CellResult check_shard(
    const Campaign& campaign, std::size_t cell, const verdict::Shard& shard,
    const verdict::CaseDone& case_done = [](int) {});

/// Checks the campaign's shard of cell after cell. After one that has lost the device for good the
/// rest is left out.
std::vector<verdict::CellResult> check_own_cells(const Campaign& campaign,
                                                 const CellDone& cell_done);

/// The same by all ranks: of the shard's cases rank r has every count-th, from the r-th on. Rank 0
/// returns what one process finds, the others nothing. A cell ends at its first failing case: what
/// a rank has beyond it does not count, and that rank checks its cases before it once more. Rank 0
/// runs the failing case itself and makes it smaller.
/// @throws RankFailed, and what check_own_cells throws.
std::vector<verdict::CellResult> check_cells(Campaign campaign, Ranks& ranks,
                                             const CellDone& cell_done);

}  // namespace plumbline::cli
