// SPDX-License-Identifier: Apache-2.0
#include "ptx/read/lexer.hpp"

#include <bit>
#include <charconv>

#include "ptx/device.hpp"

namespace plumbline::ptx {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$'; }
int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Token Lexer::take() {
  Token token = token_;
  next();
  return token;
}

void Lexer::skip_space() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') {
      ++at_;
    } else if (text_.compare(at_, 2, "//") == 0) {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else if (text_.compare(at_, 2, "/*") == 0) {
      const std::size_t first = line_;
      at_ += 2;
      while (at_ < text_.size() && text_.compare(at_, 2, "*/") != 0)
        if (text_[at_++] == '\n') ++line_;
      if (at_ >= text_.size()) throw BadPtx(first, "a comment that does not end");
      at_ += 2;
    } else {
      return;
    }
  }
}

void Lexer::next() {
  skip_space();
  token_ = Token{};
  token_.line = line_;
  if (at_ >= text_.size() || text_[at_] == '\0') {  // nvcc's images end with a zero
    token_.text = text_.substr(text_.size(), 0);
    at_ = text_.size();
    return;
  }
  const std::size_t begin = at_;
  const char c = text_[at_];
  const char after = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
  if (is_letter(c) || ((c == '_' || c == '$' || c == '%') && is_word(after))) {
    ++at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    token_.kind = Token::Kind::name;
    token_.text = text_.substr(begin, at_ - begin);
  } else if (c == '.' && is_word(after)) {
    ++at_;
    while (at_ < text_.size() && (is_word(text_[at_]) || text_.compare(at_, 2, "::") == 0))
      at_ += text_[at_] == ':' ? 2 : 1;
    token_.kind = Token::Kind::dotted;
    token_.text = text_.substr(begin + 1, at_ - begin - 1);
  } else if (is_digit(c)) {
    number();
    token_.text = text_.substr(begin, at_ - begin);
  } else if (c == '"') {
    ++at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') ++at_;
    if (at_ >= text_.size() || text_[at_] != '"') throw BadPtx(line_, "a string that does not end");
    token_.kind = Token::Kind::string;
    token_.text = text_.substr(begin + 1, at_ - begin - 1);
    ++at_;
  } else {
    if (c < ' ' || c > '~') throw BadPtx(line_, "a character that PTX does not have");
    token_.kind = Token::Kind::sign;
    token_.text = text_.substr(at_++, 1);
  }
}

bool Lexer::hexadecimal(std::size_t digits) {
  if (at_ + 2 + digits > text_.size()) return false;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    const int digit = hex_digit(text_[at_ + 2 + i]);
    if (digit < 0) return false;
    value = value << 4 | static_cast<std::uint64_t>(digit);
  }
  token_.bits = value;
  at_ += 2 + digits;
  return true;
}

void Lexer::number() {
  const char c = text_[at_], kind = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
  token_.kind = Token::Kind::integer;
  if (c == '0' && (kind == 'f' || kind == 'F' || kind == 'd' || kind == 'D')) {
    token_.kind = Token::Kind::real;
    token_.single = kind == 'f' || kind == 'F';
    if (!hexadecimal(token_.single ? 8 : 16))
      throw BadPtx(line_, "a number 0f or 0d without its 8 or 16 digits");
  } else {
    unsigned base = 10;
    std::size_t begin = at_;
    if (c == '0' && (kind == 'x' || kind == 'X'))
      base = 16, at_ = begin += 2;
    else if (c == '0' && (kind == 'b' || kind == 'B'))
      base = 2, at_ = begin += 2;
    else if (c == '0')
      base = 8;
    if (base == 10 || base == 8) {  // a decimal number with a point or an exponent?
      std::size_t end = at_;
      while (end < text_.size() && is_digit(text_[end])) ++end;
      const bool point = end < text_.size() && text_[end] == '.';
      if (point) {
        ++end;
        while (end < text_.size() && is_digit(text_[end])) ++end;
      }
      const bool exponent = end < text_.size() && (text_[end] == 'e' || text_[end] == 'E');
      if (point || exponent) {
        double value = 0;
        const auto result = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
        if (result.ec == std::errc::invalid_argument) throw BadPtx(line_, "a bad number");
        token_.kind = Token::Kind::real;
        token_.bits = std::bit_cast<std::uint64_t>(value);
        at_ = static_cast<std::size_t>(result.ptr - text_.data());
        return;
      }
    }
    std::uint64_t value = 0;
    for (; at_ < text_.size(); ++at_) {
      const int digit = hex_digit(text_[at_]);
      if (digit < 0 || static_cast<unsigned>(digit) >= base) break;
      if (value > (~std::uint64_t{0} - static_cast<unsigned>(digit)) / base)
        throw BadPtx(line_, "an integer of more than 64 bits");
      value = value * base + static_cast<unsigned>(digit);
    }
    if (at_ == begin) throw BadPtx(line_, "a number without digits");
    if (at_ < text_.size() && text_[at_] == 'U') ++at_;
    token_.bits = value;
  }
  if (at_ < text_.size() && is_word(text_[at_])) throw BadPtx(line_, "a bad number");
}

void Lexer::skip_braces() {
  // token_ has been read already and may itself be the brace.
  const std::size_t first = token_.line;
  std::size_t depth = 1;
  for (;;) {
    if (token_.is('{')) ++depth;
    if (token_.is('}') && --depth == 0) break;
    if (token_.kind == Token::Kind::end) throw BadPtx(first, "a brace that is not closed");
    next();
  }
  next();
}

}  // namespace plumbline::ptx
