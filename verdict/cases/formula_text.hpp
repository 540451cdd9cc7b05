// SPDX-License-Identifier: Apache-2.0
// A formula as text: "-r * log1p(a * abs(i - j))".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reference/bias/formula.hpp"

namespace plumbline::cases {

/// How a formula reads a parameter: by its name alone, or by name[i] and name[j].
struct FormulaName {
  std::string name;
  bool at_query = false, at_key = false;
};

/// A bias has derivatives; a condition has none, and may compare parameters, but knows no head.
enum class FormulaKind { bias, condition };

/// Numbers, i, j, h, names, + - * / ** and parentheses, comparisons, and functions
/// (is_formula_function), as Python writes them. A whole power from 2 to 8 is a product. What a
/// comparison, floor and the first argument of where depend on must be i, j, h and constants alone
/// in a bias.
/// @throws BadInput naming `field` and the place of what is wrong.
reference::Formula formula_from(std::string_view text, const std::vector<FormulaName>& names,
                                const std::string& field, FormulaKind kind);

bool is_formula_function(std::string_view name);

}  // namespace plumbline::cases
