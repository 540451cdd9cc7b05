// SPDX-License-Identifier: Apache-2.0
// PTX text as tokens.
#ifndef PLUMBLINE_GPU_PTX_READ_LEXER_HPP
#define PLUMBLINE_GPU_PTX_READ_LEXER_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace plumbline::ptx {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct Token {
  enum class Kind : std::uint8_t {
    end,
    name,     ///< an identifier: opcode, register (with its %), symbol, label
    dotted,   ///< .WORD, with :: parts; `text` is without the dot
    integer,  ///< `bits`
    real,     ///< `bits`, of a double; or of a float where `single`
    string,   ///< without the quotes
    sign      ///< one character
  };
  Kind kind = Kind::end;
  bool single = false;
  std::size_t line = 1;
  std::string_view text;
  std::uint64_t bits = 0;

  bool is(char c) const { return kind == Kind::sign && text[0] == c; }
  bool is_dotted(std::string_view word) const { return kind == Kind::dotted && text == word; }
};

/// Reads a text token by token; comments and white space are skipped. Throws BadPtx for what is
/// none. The text must outlive the tokens.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { next(); }
  const Token& peek() const { return token_; }
  Token take();
  /// Skips text up to the brace that closes one already taken, and takes that.
  void skip_braces();

 private:
  void next();
  void skip_space();
  void number();
  bool hexadecimal(std::size_t digits);

  std::string_view text_;
  std::size_t at_ = 0, line_ = 1;
  Token token_;
};

}  // namespace plumbline::ptx

#endif
