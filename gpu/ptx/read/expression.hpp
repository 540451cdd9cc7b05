// SPDX-License-Identifier: Apache-2.0
// Constant expressions (PTX ISA 4.5).
#ifndef PLUMBLINE_GPU_PTX_READ_EXPRESSION_HPP
#define PLUMBLINE_GPU_PTX_READ_EXPRESSION_HPP

#include <cstdint>

#include "ptx/read/lexer.hpp"

namespace plumbline::ptx {

struct Constant {
  /// f32: the exact 0f form, which stands alone or after signs.
  enum class Type : std::uint8_t { s64, u64, f64, f32 } type = Type::s64;
  std::uint64_t bits = 0;
};

/// Whether the next token begins one: a number, WARP_SZ, a parenthesis, or one of + - ~ !, of which
/// ! may also begin a predicate: then it is none.
bool starts_expression(const Lexer& lexer);
/// Takes one. Throws BadPtx for what is none, and for a division by 0.
Constant constant_expression(Lexer& lexer);

}  // namespace plumbline::ptx

#endif
