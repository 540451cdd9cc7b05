// SPDX-License-Identifier: Apache-2.0
// Numbers on the command line: decimal, finite, and refused with what was expected; and words.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace plumbline::cli {

/// Checks for options: a number from `least` to `most`, both among them.
CLI::Validator whole_number_from(long least, long most);
CLI::Validator number_from(double least, double most);

/// One of these words.
CLI::Validator one_of(std::vector<std::string> words);

/// Has every option of a program that reads numbers refuse what is none: CLI11 alone takes "nan",
/// "inf" and "0x1p3", and reads "010" as 8.
void expect_numbers(CLI::App& program);

/// What CLI11 says of an argument, with what was expected where it was to be a number.
std::string described(const CLI::Error& error);

}  // namespace plumbline::cli
