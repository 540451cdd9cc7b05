// SPDX-License-Identifier: Apache-2.0
// What a run of the property-based check says, as one page that a browser shows without a network.
#pragma once

#include <string>
#include <string_view>

#include "verdict/report/report.hpp"

namespace plumbline::verdict {

/// Stands near the beginning of every page, so that a page of ours can be told from another file.
inline constexpr std::string_view page_generator =
    R"(<meta name="generator" content="plumbline verdict"/>)";

/// A page without a script (support/pages/page.hpp). First the verdict, then a row for every cell,
/// then every cell: the smallest failing case with what is wrong, where, and the line that repeats
/// it; the distribution of |error| / bound by output; a map of the largest one. Same bytes for the
/// same results: no dates, no times.
std::string to_html(const VerifyReport&);

}  // namespace plumbline::verdict
