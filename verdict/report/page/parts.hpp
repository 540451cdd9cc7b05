// SPDX-License-Identifier: Apache-2.0
// What the page is put together from.
#pragma once

#include <string>

#include "verdict/report/report.hpp"

namespace plumbline::verdict {

/// "pass", "FAIL", "undecided", "not offered", in a coloured frame.
std::string badge(const CellResult&);
/// A ratio to the bound: "0.265", "1.3e+04", "∞".
std::string ratio_text(double ratio);

/// Of more cells than this only those that do not pass have maps: a page of thousands is slow.
inline constexpr std::size_t most_cells_with_maps = 100;

/// A cell in full. `id` is that of its element, and the beginning of those inside it.
std::string article(const VerifyReport&, const CellResult&, const std::string& id);

/// How many elements of each output have which |error| / bound; empty where every error is 0.
std::string distribution_figure(const CellResult&, const std::string& id);
/// Where the errors are; empty for an output without axes. `of` says of which case.
std::string map_figure(const ErrorMap&, const std::string& output, const std::string& of,
                       const std::string& id);

}  // namespace plumbline::verdict
