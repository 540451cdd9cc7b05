// SPDX-License-Identifier: Apache-2.0
// The folders below name the field that they refuse; a person typed an option.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>

namespace plumbline::cli {

/// The options of fields that are called otherwise, e.g. {"max_norm", "--clip"}.
using OptionNames = std::map<std::string, std::string>;

/// The option that sets a field: that of `others`, else the one of the field's own name with - for
/// _, as the command has it; the field itself where there is neither.
std::string option_of(const std::string& field, const CLI::App& command, const OptionNames& others);

/// Runs `body` and returns its exit status. A BadInput that leaves it names options in place of
/// fields: the refused one, and those whose value stands in what was expected ("a divisor of width,
/// 64").
int naming_options(const CLI::App& command, const OptionNames& others,
                   const std::function<int()>& body);

}  // namespace plumbline::cli
