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

/// ", called at A, called at B" of callers_of's calls; of many the first two and the last two.
std::string called_at(const std::vector<std::string>& calls);

/// An instruction, of whose long lists of registers the first and the last are left.
std::string brief_instruction(const std::string& text);

/// A mangled name as C++ writes it; any other as it is.
std::string readable(const std::string& name);

/// Likewise, without the inner arguments of templates where it is long.
std::string brief_name(const std::string& name);

}  // namespace plumbline::ptx

#endif
