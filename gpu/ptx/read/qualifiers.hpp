// SPDX-License-Identifier: Apache-2.0
// The words after an instruction's name.
#ifndef PLUMBLINE_GPU_PTX_READ_QUALIFIERS_HPP
#define PLUMBLINE_GPU_PTX_READ_QUALIFIERS_HPP

#include <string_view>

namespace plumbline::ptx {

/// Whether an instruction that this device knows may have the word, without its dot, of whatever
/// kind: a type, a shape, a space, a hint for caches, ... With another word an instruction does
/// what nobody here knows.
bool is_qualifier(std::string_view word);

}  // namespace plumbline::ptx

#endif
