// SPDX-License-Identifier: Apache-2.0
// How an instruction is named to people.
#ifndef PLUMBLINE_GPU_PTX_READ_PLACE_HPP
#define PLUMBLINE_GPU_PTX_READ_PLACE_HPP

#include <string>
#include <vector>

#include "ptx/read/module.hpp"

namespace plumbline::ptx {

/// What people can read: valid UTF-8 without control characters, and not longer than a few lines.
std::string shown(std::string_view text);

/// On one line, with single spaces, as shown().
std::string on_one_line(std::string_view text);

/// FILE:LINE of the instruction's .loc, or empty.
std::string source_of(const Module& module, const Function& function,
                      const Instruction& instruction);

/// Likewise of the calls that inlining put it in the place of, the innermost first.
std::vector<std::string> callers_of(const Module& module, const Function& function,
                                    const Instruction& instruction);

/// A mangled name as C++ writes it; any other as it is.
std::string readable(const std::string& name);

}  // namespace plumbline::ptx

#endif
