// SPDX-License-Identifier: Apache-2.0
// Declarations: registers, variables and their initial values, parameters.
#include <bit>
#include <limits>
#include <string>

#include "ptx/device.hpp"
#include "ptx/read/expression.hpp"
#include "ptx/read/parser.hpp"

namespace plumbline::ptx {
namespace {

constexpr std::uint64_t most_registers = 1u << 20;  ///< of a function
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 40;
constexpr unsigned most_braces = 16;  ///< in one another

std::uint64_t times(std::uint64_t a, std::uint64_t b, std::size_t line) {
  if (b != 0 && a > most_bytes / b) throw BadPtx(line, "a variable of more than 2^40 bytes");
  return a * b;
}

Space space_of(std::string_view word) {
  if (word == "shared") return Space::shared;
  if (word == "local") return Space::local;
  if (word == "const") return Space::constant;
  if (word == "param") return Space::param;
  return Space::global;
}

}  // namespace

Parser::Declared Parser::type_and_align() {
  Declared declared;
  while (peek().kind == Token::Kind::dotted) {
    const Token word = peek();
    if (word.text == "align") {
      take();
      declared.align = expect_integer();
      if (!std::has_single_bit(declared.align) || declared.align > 4096)
        throw BadPtx(word.line, "an alignment that is no power of 2 up to 4096");
    } else if (word.text == "v2" || word.text == "v4" || word.text == "v8") {
      take();
      declared.elements = static_cast<std::uint64_t>(word.text[1] - '0');
    } else if (word.text == "attribute") {
      take();
      while (!peek().is(')') && peek().kind != Token::Kind::end) take();
      expect(')');
    } else if (word.text == "ptr") {  // of a kernel's parameter: what it points to
      take();
      while (peek().kind == Token::Kind::dotted &&
             (peek().text == "global" || peek().text == "const" || peek().text == "shared" ||
              peek().text == "local" || peek().text == "param"))
        take();
      if (accept_word("align")) expect_integer();
    } else {
      const Type type = type_of(word.text);
      if (type == Type::none) fail(word, "a type");
      if (declared.type != Type::none) fail(word, "a name");
      declared.type = type;
      take();
    }
  }
  if (declared.type == Type::none) fail(peek(), "a type");
  return declared;
}

void Parser::dimensions(Variable& variable) {
  bool open_end = false;
  while (accept('[')) {
    variable.is_array = true;
    if (accept(']')) {
      open_end = true;
      continue;
    }
    const std::uint64_t count = expect_constant();
    expect(']');
    variable.bytes = times(variable.bytes, count, variable.line);
  }
  if (open_end) variable.bytes = 0;
}

std::vector<Variable> Parser::variables(Space space, bool is_extern) {
  const Declared declared = type_and_align();
  const std::uint64_t value = bytes_of(declared.type), element = value * declared.elements;
  std::vector<Variable> all;
  do {
    Variable variable;
    const Token name = expect_name();
    variable.name = name.text;
    variable.line = name.line;
    variable.space = space;
    variable.type = declared.type;
    variable.is_extern = is_extern;
    variable.align = declared.align ? declared.align : element;
    variable.bytes = element;
    if (peek().is('<')) fail(peek(), "a register before numbered names, not");
    dimensions(variable);
    if (accept('=')) {
      std::uint64_t offset = 0;
      initialiser(variable, value, offset, 0);
      if (variable.bytes == 0) variable.bytes = offset;
      if (offset > variable.bytes)
        throw BadPtx(name.line, std::string(name.text) + " has more initial values than places");
    }
    all.push_back(std::move(variable));
  } while (accept(','));
  expect(';');
  return all;
}

Piece Parser::piece(std::uint64_t bytes) {
  Piece piece;
  piece.bytes = bytes;
  piece.line = peek().line;
  const Token token = peek();
  if (token.kind == Token::Kind::name && token.text != "WARP_SZ") {
    take();
    piece.symbol = token.text;
    if (token.text == "generic" || token.text == "mask") {
      if (token.text == "mask") throw BadPtx(token.line, "mask() is not supported");
      expect('(');
      piece.symbol = expect_name().text;
      piece.generic = true;
      expect(')');
    }
    if (peek().is('+') || peek().is('-')) piece.bits = expect_constant();
    return piece;
  }
  const Constant value = constant_expression(lexer_);
  piece.bits = value.bits;
  if (value.type == Constant::Type::f64 && bytes == 4)
    piece.bits =
        std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(value.bits)));
  return piece;
}

void Parser::initialiser(Variable& variable, std::uint64_t element, std::uint64_t& offset,
                         unsigned depth) {
  if (depth > most_braces) throw BadPtx(peek().line, "too many braces in one another");
  if (!accept('{')) {
    Piece value = piece(element);
    value.offset = offset;
    offset += element;
    variable.pieces.push_back(value);
    return;
  }
  if (accept('}')) return;
  do {
    initialiser(variable, element, offset, depth + 1);
  } while (accept(','));
  expect('}');
}

std::vector<Variable> Parser::parameters(Function& function) {
  std::vector<Variable> all;
  expect('(');
  if (accept(')')) return all;
  do {
    Variable variable;
    variable.space = Space::param;
    if (accept_word("reg"))
      variable.is_register = true;
    else if (!accept_word("param"))
      fail(peek(), ".param or .reg");
    const Declared declared = type_and_align();
    variable.type = declared.type;
    variable.bytes = bytes_of(declared.type) * declared.elements;
    variable.align = declared.align ? declared.align : variable.bytes;
    const Token name = peek();
    variable.line = name.line;
    if (name.kind == Token::Kind::name)
      variable.name = take().text;
    else if (name.text != "_")
      fail(name, "a parameter's name");
    else
      take();
    dimensions(variable);
    if (variable.is_register) {
      variable.reg = new_registers(function, variable.type, 1, variable.line);
      scopes_.add_register(variable.name, variable.reg, 1, variable.line);
    }
    all.push_back(variable);
  } while (accept(','));
  expect(')');
  return all;
}

std::uint32_t Parser::new_registers(Function& function, Type type, std::uint64_t count,
                                    std::size_t line) {
  if (count > most_registers || function.registers + count > most_registers)
    throw BadPtx(line, "more than 2^20 registers in a function");
  const std::uint32_t first = function.registers;
  function.ranges.push_back({first, static_cast<std::uint32_t>(count), type});
  function.registers += static_cast<std::uint32_t>(count);
  return first;
}

void Parser::registers(Function& function) {
  const Declared declared = type_and_align();
  const auto elements = static_cast<std::uint32_t>(declared.elements);
  do {
    const Token name = expect_name();
    if (accept('<')) {
      const std::uint64_t count = expect_integer();
      expect('>');
      if (count > most_registers) throw BadPtx(name.line, "more than 2^20 registers in a function");
      const std::uint32_t first =
          new_registers(function, declared.type, count * elements, name.line);
      scopes_.add_registers(name.text, static_cast<std::uint32_t>(count), first, elements,
                            name.line);
    } else {
      const std::uint32_t first = new_registers(function, declared.type, elements, name.line);
      scopes_.add_register(name.text, first, elements, name.line);
    }
  } while (accept(','));
  expect(';');
}

bool Parser::directive_of_body(Function& function) {
  const Token word = peek();
  if (word.kind != Token::Kind::dotted) return false;
  if (word.text == "loc") {
    location(function);
    return true;
  }
  take();
  if (word.text == "reg") {
    registers(function);
  } else if (word.text == "shared" || word.text == "local" || word.text == "param" ||
             word.text == "const" || word.text == "global") {
    for (Variable& variable : variables(space_of(word.text), false)) {
      Operand symbol;
      symbol.kind = Operand::Kind::variable;
      symbol.index = static_cast<std::uint32_t>(function.variables.size());
      scopes_.add_symbol(variable.name, symbol, variable.line);
      function.variables.push_back(std::move(variable));
    }
  } else if (word.text == "extern") {
    if (!accept_word("shared")) fail(peek(), ".shared");
    for (Variable& variable : variables(Space::shared, true)) {
      Operand symbol;
      symbol.kind = Operand::Kind::variable;
      symbol.index = static_cast<std::uint32_t>(function.variables.size());
      scopes_.add_symbol(variable.name, symbol, variable.line);
      function.variables.push_back(std::move(variable));
    }
  } else if (word.text == "pragma") {
    if (take().kind != Token::Kind::string) fail(peek(), "a string");
    while (accept(',')) take();
    expect(';');
  } else if (word.text == "file") {
    file();
  } else if (word.text == "branchtargets" || word.text == "calltargets" ||
             word.text == "callprototype") {
    fail(word, "a label before this directive, not");
  } else if (word.text == "maxnreg" || word.text == "minnctapersm") {
    expect_integer();
  } else {
    fail(word, "a directive of a function");
  }
  return true;
}

}  // namespace plumbline::ptx
