// SPDX-License-Identifier: Apache-2.0
// The directives of a module.
#include <algorithm>
#include <charconv>
#include <string>

#include "ptx/device.hpp"
#include "ptx/read/expression.hpp"
#include "ptx/read/parser.hpp"

namespace plumbline::ptx {
namespace {

constexpr std::uint64_t most_parameter_bytes = 32764;  ///< PTX ISA 5.1.6.1

}  // namespace

bool Parser::accept(char c) {
  if (!peek().is(c)) return false;
  take();
  return true;
}

bool Parser::accept_word(std::string_view word) {
  if (!peek().is_dotted(word)) return false;
  take();
  return true;
}

void Parser::fail(const Token& at, const std::string& expected) const {
  std::string found = at.kind == Token::Kind::end ? "the end of the text" : std::string(at.text);
  if (at.kind == Token::Kind::dotted) found = "." + found;
  if (found.size() > 80) found = found.substr(0, 77) + "...";
  throw BadPtx(at.line, expected + " expected, not " + found);
}

void Parser::expect(char c) {
  if (!peek().is(c)) fail(peek(), std::string(1, c));
  take();
}

Token Parser::expect_name() {
  if (peek().kind != Token::Kind::name) fail(peek(), "a name");
  return take();
}

std::uint64_t Parser::expect_integer() {
  if (peek().kind != Token::Kind::integer) fail(peek(), "an integer");
  return take().bits;
}

std::uint64_t Parser::expect_constant() {
  const Token begin = peek();
  const Constant value = constant_expression(lexer_);  // nvcc writes +-8
  if (value.type != Constant::Type::s64 && value.type != Constant::Type::u64)
    fail(begin, "an integer");
  return value.bits;
}

void Parser::module() {
  if (!peek().is_dotted("version")) fail(peek(), ".version");
  bool is_extern = false;
  while (peek().kind != Token::Kind::end) {
    if (peek().kind != Token::Kind::dotted) {
      if (accept(';')) continue;
      fail(peek(), "a directive");
    }
    const Token directive = take();
    const std::string_view word = directive.text;
    if (word == "visible" || word == "weak" || word == "common") continue;
    if (word == "extern") {
      is_extern = true;
      continue;
    }
    if (word == "entry" || word == "func") {
      function(word == "entry", is_extern);
    } else if (word == "global" || word == "const" || word == "shared") {
      const Space space = word == "global"  ? Space::global
                          : word == "const" ? Space::constant
                                            : Space::shared;
      for (Variable& variable : variables(space, is_extern)) {
        const auto index = static_cast<std::uint32_t>(module_.variables.size());
        const auto [at, is_new] = module_.variable_of.emplace(variable.name, index);
        if (is_new) {
          module_.variables.push_back(std::move(variable));
        } else {  // declared before, .extern
          Variable& earlier = module_.variables[at->second];
          if (!variable.is_extern && !earlier.is_extern)
            throw BadPtx(variable.line, std::string(variable.name) + " is declared twice");
          if (!variable.is_extern) earlier = std::move(variable);
        }
      }
    } else {
      header(directive);
    }
    is_extern = false;
  }
  resolve_pieces();
}

void Parser::header(const Token& directive) {
  const std::string_view word = directive.text;
  if (word == "version") {
    const Token number = take();  // 9.0 is read as a real number
    if (number.kind != Token::Kind::real && number.kind != Token::Kind::integer)
      fail(number, "a version");
    const char* end = number.text.data() + number.text.size();
    const auto major = std::from_chars(number.text.data(), end, module_.version_major);
    if (major.ptr != end) std::from_chars(major.ptr + 1, end, module_.version_minor);
  } else if (word == "target") {
    module_.target = expect_name().text;
    while (accept(',')) expect_name();
  } else if (word == "address_size") {
    const Token at = peek();
    module_.address_bits = static_cast<unsigned>(expect_integer());
    if (module_.address_bits != 64 && module_.address_bits != 32) fail(at, "32 or 64");
  } else if (word == "file") {
    file();
  } else if (word == "section") {
    section();
  } else if (word == "pragma") {
    if (take().kind != Token::Kind::string) fail(peek(), "a string");
    while (accept(',')) take();
    expect(';');
  } else if (word == "alias") {
    const Token alias = expect_name();
    expect(',');
    const Token name = expect_name();
    expect(';');
    const auto found = module_.function_of.find(name.text);
    if (found == module_.function_of.end())
      throw BadPtx(name.line, std::string(name.text) + " is not declared");
    module_.function_of[alias.text] = found->second;
  } else if (word == "loc") {
    while (peek().kind != Token::Kind::dotted && peek().kind != Token::Kind::end) take();
  } else if (word == "tex" || word == "surf" || word == "sampler") {
    while (!peek().is(';') && peek().kind != Token::Kind::end) take();
    expect(';');
  } else {
    fail(directive, "a directive of the module");
  }
}

void Parser::file() {
  const std::uint64_t number = expect_integer();
  if (peek().kind != Token::Kind::string) fail(peek(), "a file's name");
  module_.files[static_cast<std::uint32_t>(number)] = take().text;
  while (accept(',')) expect_integer();
}

void Parser::section() {
  while (!peek().is('{') && peek().kind != Token::Kind::end) take();
  expect('{');
  lexer_.skip_braces();
}

void Parser::function(bool entry, bool is_extern) {
  Function function;
  function.entry = entry;
  scopes_ = Scopes{};
  scopes_.open();
  location_ = 0;
  if (accept_word("attribute")) {
    while (!peek().is(')') && peek().kind != Token::Kind::end) take();
    expect(')');
  }
  if (!entry && peek().is('(')) {
    function.results = parameters(function);
    std::uint32_t index = 0;
    for (const Variable& result : function.results) {
      Operand symbol;
      symbol.kind = Operand::Kind::result;
      symbol.index = index++;
      if (!result.is_register) scopes_.add_symbol(result.name, symbol, result.line);
    }
  }
  const Token name = expect_name();
  function.name = name.text;
  function.line = name.line;
  if (peek().is('(')) {
    function.parameters = parameters(function);
    std::uint32_t index = 0;
    for (const Variable& parameter : function.parameters) {
      Operand symbol;
      symbol.kind = Operand::Kind::parameter;
      symbol.index = index++;
      if (!parameter.is_register) scopes_.add_symbol(parameter.name, symbol, parameter.line);
    }
  }
  if (entry) check_size(function);
  limits(function);
  if (accept(';')) {
    declare(std::move(function));
    return;
  }
  if (is_extern && !peek().is('{')) fail(peek(), ";");
  expect('{');
  function.defined = true;
  // A function may call itself: it is declared before its body is read.
  Function declaration;
  declaration.name = function.name;
  declaration.line = function.line;
  declaration.entry = function.entry;
  declare(std::move(declaration));
  body(function);
  Function& place = module_.functions[module_.function_of.at(function.name)];
  if (place.defined) throw BadPtx(name.line, std::string(name.text) + " is defined twice");
  place = std::move(function);
}

/// Of a kernel's parameters, as ptxas does.
void Parser::check_size(const Function& function) const {
  std::uint64_t bytes = 0;
  for (const Variable& parameter : function.parameters) {
    if (parameter.is_register) throw BadPtx(parameter.line, "a kernel's parameter in a register");
    bytes = (bytes + parameter.align - 1) / parameter.align * parameter.align + parameter.bytes;
    if (bytes > most_parameter_bytes)
      throw BadPtx(parameter.line, "more than " + std::to_string(most_parameter_bytes) +
                                       " bytes of parameters of a kernel");
  }
}

void Parser::limits(Function& function) {
  while (peek().kind == Token::Kind::dotted) {
    const Token word = take();
    std::uint32_t* three = word.text == "maxntid"             ? function.max_threads
                           : word.text == "reqntid"           ? function.required_threads
                           : word.text == "reqnctapercluster" ? function.cluster
                                                              : nullptr;
    if (three) {
      std::fill(three, three + 3, 1);
      for (int i = 0; i < 3; ++i) {
        const std::uint64_t number = expect_integer();
        if (number > 0xffffffffu) throw BadPtx(word.line, "a number of more than 32 bits");
        three[i] = static_cast<std::uint32_t>(number);
        if (i == 2 || !accept(',')) break;
      }
    } else if (word.text == "maxnreg" || word.text == "minnctapersm") {
      const std::uint64_t number = expect_integer();
      (word.text == "maxnreg" ? function.max_registers : function.min_blocks) =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(number, 0xffffffffu));
    } else if (word.text == "maxnctapersm" || word.text == "maxclusterrank" ||
               word.text == "abi_preserve" || word.text == "abi_preserve_control") {
      expect_integer();
    } else if (word.text == "pragma") {
      if (take().kind != Token::Kind::string) fail(peek(), "a string");
      while (accept(',')) take();
      expect(';');
    } else if (word.text != "noreturn" && word.text != "explicitcluster" &&
               word.text != "blocksareclusters" && word.text != "unified") {
      fail(word, "a function's body");
    }
  }
}

void Parser::declare(Function&& function) {
  if (module_.variable_of.count(function.name))
    throw BadPtx(function.line, std::string(function.name) + " is declared twice");
  const auto index = static_cast<std::uint32_t>(module_.functions.size());
  if (module_.function_of.emplace(function.name, index).second)
    module_.functions.push_back(std::move(function));
}

void Parser::resolve_pieces() {
  for (const Variable& variable : module_.variables)
    for (const Piece& piece : variable.pieces)
      if (!piece.symbol.empty() && !module_.variable_of.count(piece.symbol) &&
          !module_.function_of.count(piece.symbol))
        throw BadPtx(piece.line, std::string(piece.symbol) + " is not declared");
}

Type Function::type_of_register(std::uint32_t reg) const {
  auto range =
      std::upper_bound(ranges.begin(), ranges.end(), reg,
                       [](std::uint32_t value, const RegisterRange& r) { return value < r.first; });
  return range == ranges.begin() ? Type::none : (range - 1)->type;
}

std::unique_ptr<Module> read_module(std::string text) {
  auto module = std::make_unique<Module>();
  module->text = std::move(text);
  Parser(*module).module();
  return module;
}

}  // namespace plumbline::ptx
