// SPDX-License-Identifier: Apache-2.0
// What a command reads and where it writes, looked at before its work.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace plumbline::cli {

/// The option names files or folders that are read, but for these names, which are no files.
CLI::Option* reads(CLI::Option* option, std::vector<std::string> names = {});
/// It names a tokenizer: byte, gpt2, or a file.
CLI::Option* reads_tokenizer(CLI::Option* option);
/// The option names a file that is written ("-": standard output), or a folder for one of this
/// name.
CLI::Option* writes(CLI::Option* option, const std::string& in_folder = "");

/// Of the options that were given. What an option names is not all that is read: see is_read.
/// @throws WouldOverwrite as will_write and will_read.
void expect_apart();

/// The folder that --out names, made if it is not there, in which files of these names can be
/// written; made for nothing, it goes again.
/// @throws BadInput if they cannot; WouldOverwrite where one of them is another option's.
std::filesystem::path made_folder(const std::string& out, const std::vector<std::string>& names);

}  // namespace plumbline::cli
