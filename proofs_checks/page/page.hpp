// SPDX-License-Identifier: Apache-2.0
// The claims as one page that a browser shows without a network.
#pragma once

#include <string>
#include <string_view>

#include "proofs_checks/report.hpp"

namespace plumbline::proofs_checks {

/// Stands near the beginning of every page, so that a page of ours can be told from another file.
inline constexpr std::string_view page_generator =
    R"(<meta name="generator" content="plumbline claims"/>)";

/// A page with a script for the search (support/pages/page.hpp). First what is refuted and why,
/// then what needs a condition, then every claim with statement, hypotheses, counterexample,
/// pictures, derivation and checks. Same bytes for the same report, but for the widths of
/// enclosures, whose last digits depend on the C library.
std::string html(const ClaimsReport&);

}  // namespace plumbline::proofs_checks
