// SPDX-License-Identifier: Apache-2.0
// A claim's text as HTML.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace plumbline::proofs_checks::formula {

/// The text with formulas as MathML, quotation marks as a printer sets them, names from programs as
/// <code>, and the ids of claims as links to #id where `is_shown` says that the page has them.
/// Everything else is escaped.
std::string html_of(std::string_view text,
                    const std::function<bool(const std::string& id)>& is_shown = {});

}  // namespace plumbline::proofs_checks::formula
