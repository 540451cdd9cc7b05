// SPDX-License-Identifier: Apache-2.0
// Options whose value is a list: 512,1024,2048.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace plumbline::cli {

/// An option that takes items between commas (or several arguments). While it is read, an item that
/// is empty or stands there twice is refused by BadInput, as is one that is no number in a list of
/// numbers. @param items what is shown as the default.
CLI::Option* add_list(CLI::App& command, const std::string& option, std::vector<std::string>& items,
                      const std::string& description);
CLI::Option* add_list(CLI::App& command, const std::string& option, std::vector<int>& items,
                      const std::string& description);
CLI::Option* add_list(CLI::App& command, const std::string& option, std::vector<double>& items,
                      const std::string& description);

/// @throws BadInput naming the option for an item that stands there twice.
void expect_each_once(const std::string& option, const std::vector<std::string>& items);

}  // namespace plumbline::cli
