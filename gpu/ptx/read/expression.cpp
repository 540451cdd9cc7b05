// SPDX-License-Identifier: Apache-2.0
#include "ptx/read/expression.hpp"

#include <bit>
#include <string>

#include "ptx/device.hpp"

namespace plumbline::ptx {
namespace {

constexpr unsigned most_nested = 256;

[[noreturn]] void bad(const Token& at, const std::string& text) {
  throw BadPtx(at.line, "a constant expression: " + text);
}

double real(const Constant& a) { return std::bit_cast<double>(a.bits); }
Constant of(double value) { return {Constant::Type::f64, std::bit_cast<std::uint64_t>(value)}; }
Constant of(bool value) { return {Constant::Type::s64, value}; }
bool is_integer(const Constant& a) {
  return a.type == Constant::Type::s64 || a.type == Constant::Type::u64;
}

struct Operator {
  std::string_view text;
  unsigned rank;  ///< 10: binds most
};
// Those of two characters first.
constexpr Operator operators[] = {{"<<", 8}, {">>", 8}, {"<=", 7}, {">=", 7}, {"==", 6}, {"!=", 6},
                                  {"&&", 2}, {"||", 1}, {"*", 10}, {"/", 10}, {"%", 10}, {"+", 9},
                                  {"-", 9},  {"<", 7},  {">", 7},  {"&", 5},  {"^", 4},  {"|", 3}};

/// The binary operator that follows, or null.
const Operator* next_operator(const Lexer& lexer) {
  if (lexer.peek().kind != Token::Kind::sign) return nullptr;
  Lexer ahead = lexer;
  const char* first = ahead.take().text.data();
  const bool two = ahead.peek().kind == Token::Kind::sign && ahead.peek().text.data() == first + 1;
  for (const Operator& one : operators)
    if ((one.text.size() == 1 || two) && std::string_view(first, one.text.size()) == one.text)
      return &one;
  return nullptr;
}

Constant binary(const Token& at, std::string_view op, Constant a, Constant b) {
  if (a.type == Constant::Type::f32 || b.type == Constant::Type::f32)
    bad(at, "a number of 0f and 8 digits has to stand alone");
  if (is_integer(a) != is_integer(b)) bad(at, "an integer and a floating-point number");
  if (!is_integer(a)) {
    const double x = real(a), y = real(b);
    if (op == "+") return of(x + y);
    if (op == "-") return of(x - y);
    if (op == "*") return of(x * y);
    if (op == "/") return of(x / y);
    if (op == "<") return of(x < y);
    if (op == ">") return of(x > y);
    if (op == "<=") return of(x <= y);
    if (op == ">=") return of(x >= y);
    if (op == "==") return of(x == y);
    if (op == "!=") return of(x != y);
    bad(at, std::string(op) + " of floating-point numbers");
  }
  const std::uint64_t x = a.bits, y = b.bits;
  const auto sx = static_cast<std::int64_t>(x), sy = static_cast<std::int64_t>(y);
  const bool is_signed = a.type == Constant::Type::s64 && b.type == Constant::Type::s64;
  const Constant::Type usual = is_signed ? Constant::Type::s64 : Constant::Type::u64;
  if (op == "+") return {usual, x + y};
  if (op == "-") return {usual, x - y};
  if (op == "*") return {usual, x * y};
  if (op == "/" || op == "%") {
    if (y == 0) bad(at, "a division by 0");
    if (op == "%") return {Constant::Type::s64, x % y};  // of unsigned numbers, always
    if (!is_signed) return {usual, x / y};
    return {usual, sy == -1 ? 0 - x : static_cast<std::uint64_t>(sx / sy)};
  }
  // C++ leaves shifts by 64 and more open: all bits leave.
  if (op == "<<") return {a.type, y > 63 ? 0 : x << y};
  if (op == ">>") {
    if (a.type == Constant::Type::u64) return {a.type, y > 63 ? 0 : x >> y};
    return {a.type, static_cast<std::uint64_t>(sx >> (y > 63 ? 63 : y))};
  }
  if (op == "&") return {usual, x & y};
  if (op == "|") return {usual, x | y};
  if (op == "^") return {usual, x ^ y};
  if (op == "&&") return of(x && y);
  if (op == "||") return of(x || y);
  if (op == "==") return of(x == y);
  if (op == "!=") return of(x != y);
  if (op == "<") return of(is_signed ? sx < sy : x < y);
  if (op == ">") return of(is_signed ? sx > sy : x > y);
  if (op == "<=") return of(is_signed ? sx <= sy : x <= y);
  return of(is_signed ? sx >= sy : x >= y);
}

class Reader {
 public:
  explicit Reader(Lexer& lexer) : lexer_(lexer) {}

  Constant conditional() {
    if (++depth_ > most_nested) bad(lexer_.peek(), "nested too deeply");
    const Constant a = conditional_inside();
    --depth_;
    return a;
  }

 private:
  Constant conditional_inside() {
    const Token at = lexer_.peek();
    const Constant a = binaries(1);
    if (!lexer_.peek().is('?')) return a;
    if (!is_integer(a)) bad(at, "a condition that is no integer");
    lexer_.take();
    const Constant yes = conditional();
    if (!lexer_.peek().is(':')) bad(lexer_.peek(), "a ? without its colon");
    lexer_.take();
    const Constant no = conditional();
    if (is_integer(yes) != is_integer(no) || yes.type == Constant::Type::f32 ||
        no.type == Constant::Type::f32)
      bad(at, "two values of different types after the ?");
    Constant chosen = a.bits ? yes : no;
    if (yes.type == Constant::Type::u64 || no.type == Constant::Type::u64)
      chosen.type = Constant::Type::u64;
    return chosen;
  }

  Constant binaries(unsigned least) {
    Constant a = unary();
    for (;;) {
      const Operator* op = next_operator(lexer_);
      if (!op || op->rank < least) return a;
      const Token at = lexer_.take();
      if (op->text.size() == 2) lexer_.take();
      a = binary(at, op->text, a, binaries(op->rank + 1));
    }
  }

  Constant unary() {
    if (++depth_ > most_nested) bad(lexer_.peek(), "nested too deeply");
    const Constant a = unary_inside();
    --depth_;
    return a;
  }

  Constant unary_inside() {
    const Token token = lexer_.take();
    if (token.kind == Token::Kind::integer) {
      const bool is_unsigned = token.text.back() == 'U' || token.bits >> 63;
      return {is_unsigned ? Constant::Type::u64 : Constant::Type::s64, token.bits};
    }
    if (token.kind == Token::Kind::real)
      return {token.single ? Constant::Type::f32 : Constant::Type::f64, token.bits};
    if (token.kind == Token::Kind::name && token.text == "WARP_SZ")
      return {Constant::Type::s64, 32};
    if (token.is('(')) {
      if (lexer_.peek().is_dotted("s64") || lexer_.peek().is_dotted("u64")) {
        const Constant::Type type =
            lexer_.take().text == "s64" ? Constant::Type::s64 : Constant::Type::u64;
        close();
        const Constant a = unary();
        if (!is_integer(a)) bad(token, "a cast of what is no integer");
        return {type, a.bits};
      }
      const Constant a = conditional();
      close();
      return a;
    }
    if (!token.is('+') && !token.is('-') && !token.is('~') && !token.is('!'))
      bad(token, "a number expected");
    Constant a = unary();
    if (token.is('-')) {
      if (is_integer(a))
        a.bits = 0 - a.bits;
      else
        a.bits ^= std::uint64_t{1} << (a.type == Constant::Type::f32 ? 31 : 63);
    } else if (!token.is('+')) {
      if (!is_integer(a)) bad(token, "! or ~ of what is no integer");
      return token.is('~') ? Constant{Constant::Type::u64, ~a.bits} : of(a.bits == 0);
    }
    return a;
  }

  void close() {
    if (!lexer_.peek().is(')')) bad(lexer_.peek(), "a closing parenthesis expected");
    lexer_.take();
  }

  Lexer& lexer_;
  unsigned depth_ = 0;
};

}  // namespace

bool starts_expression(const Lexer& lexer) {
  const Token& token = lexer.peek();
  if (token.is('!')) {
    Lexer ahead = lexer;
    while (ahead.peek().is('!')) ahead.take();
    return starts_expression(ahead);
  }
  return token.kind == Token::Kind::integer || token.kind == Token::Kind::real || token.is('(') ||
         token.is('+') || token.is('-') || token.is('~') ||
         (token.kind == Token::Kind::name && token.text == "WARP_SZ");
}

Constant constant_expression(Lexer& lexer) { return Reader(lexer).conditional(); }

}  // namespace plumbline::ptx
