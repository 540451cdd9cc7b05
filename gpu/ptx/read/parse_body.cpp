// SPDX-License-Identifier: Apache-2.0
// Bodies of functions: statements and operands.
#include <string>
#include <utility>

#include "ptx/device.hpp"
#include "ptx/read/expression.hpp"
#include "ptx/read/parser.hpp"
#include "ptx/read/special.hpp"

namespace plumbline::ptx {
namespace {

constexpr std::size_t most_scopes = 256;      ///< in one another
constexpr unsigned most_nested_operands = 8;  ///< operands in one another

/// The component that .x, .y, .z, .w or .r, .g, .b, .a name; 4: none.
unsigned component(std::string_view word) {
  constexpr std::string_view names = "xyzwrgba";
  const std::size_t at = word.size() == 1 ? names.find(word[0]) : names.npos;
  return at == names.npos ? 4 : static_cast<unsigned>(at % 4);
}

}  // namespace

void Parser::body(Function& function) {
  scopes_.open();
  const std::size_t outside = scopes_.depth() - 1;
  while (scopes_.depth() > outside) {
    if (peek().kind == Token::Kind::end)
      throw BadPtx(function.line, std::string(function.name) + " has no closing brace");
    if (peek().is('{')) {
      if (scopes_.depth() >= most_scopes)
        throw BadPtx(peek().line, "too many braces in one another");
      take();
      scopes_.open();
    } else if (peek().is('}')) {
      take();
      scopes_.resolve(function.operands);
      if (scopes_.depth() - 1 == outside && !scopes_.open_uses().empty()) {
        const auto& use = scopes_.open_uses().front();
        throw BadPtx(use.line, std::string(use.name) + " is not declared");
      }
      scopes_.close();
    } else {
      statement(function);
    }
  }
}

void Parser::location(Function& function) {
  take();
  const auto position = [&] {
    Location one;
    one.file = static_cast<std::uint32_t>(expect_integer());
    one.line = static_cast<std::uint32_t>(expect_integer());
    one.column = static_cast<std::uint32_t>(expect_integer());
    return one;
  };
  Location place = position();
  if (accept(',')) {  // function_name LABEL[+n], inlined_at file line column
    expect_name();
    expect_name();
    if (peek().is('+') || peek().is('-')) expect_constant();
    expect(',');
    expect_name();
    // Its .loc has come before, a few lines ago in what compilers write, and tells where that was
    // inlined.
    const Location caller = position();
    const std::size_t count = function.locations.size();
    for (std::size_t back = 1; back <= std::min<std::size_t>(count, 64) && !place.caller; ++back) {
      const Location& one = function.locations[count - back];
      if (one.file == caller.file && one.line == caller.line && one.column == caller.column)
        place.caller = static_cast<std::uint32_t>(count - back + 1);
    }
    if (!place.caller) {
      function.locations.push_back(caller);
      place.caller = static_cast<std::uint32_t>(function.locations.size());
    }
  }
  function.locations.push_back(place);
  location_ = static_cast<std::uint32_t>(function.locations.size());
}

void Parser::table(Function& function, const Token& name) {
  const Token kind = take();
  Table table;
  if (kind.text == "callprototype") {
    // The parameters' names are of no use: they may be _ or stand twice.
    Function unused;
    Scopes kept = std::move(scopes_);
    scopes_ = Scopes{};
    scopes_.open();
    if (peek().is('(')) table.results = parameters(unused);
    if (!accept('_')) expect_name();
    scopes_ = Scopes{};
    scopes_.open();
    if (peek().is('(')) table.parameters = parameters(unused);
    scopes_ = std::move(kept);
    while (peek().kind == Token::Kind::dotted) {
      take();
      if (peek().kind == Token::Kind::integer) take();
    }
  } else {
    std::vector<Operand> targets;
    do {
      const Token target = expect_name();
      Operand operand;
      operand.name = target.text;
      if (kind.text == "calltargets") {
        const auto found = module_.function_of.find(target.text);
        if (found == module_.function_of.end())
          throw BadPtx(target.line, std::string(target.text) + " is not declared");
        operand.kind = Operand::Kind::function;
        operand.index = found->second;
      }
      targets.push_back(operand);
    } while (accept(','));
    // Their labels may follow: they are operands of the function until then.
    for (Operand& target : targets) {
      Operand place;
      place.kind = Operand::Kind::address;
      place.bits = function.operands.size();
      if (kind.text == "branchtargets") {
        scopes_.use_later(target.name, static_cast<std::uint32_t>(function.operands.size()),
                          kind.line);
        function.operands.push_back(target);
        target = place;
      }
    }
    table.targets = std::move(targets);
  }
  expect(';');
  Operand symbol;
  symbol.kind = Operand::Kind::table;
  symbol.index = static_cast<std::uint32_t>(function.tables.size());
  function.tables.push_back(std::move(table));
  scopes_.add_symbol(name.text, symbol, name.line);
}

void Parser::statement(Function& function) {
  if (accept(';') || directive_of_body(function)) return;
  const auto begin = static_cast<std::size_t>(peek().text.data() - module_.text.data());
  std::int32_t guard = -1;
  bool negated = false;
  if (accept('@')) {
    negated = accept('!');
    const Token name = expect_name();
    const auto found = scopes_.find_register(name.text);
    if (!found || function.type_of_register(found->first) != Type::pred)
      throw BadPtx(name.line, std::string(name.text) + " is no predicate");
    guard = static_cast<std::int32_t>(found->first);
  }
  const Token word = expect_name();
  if (guard < 0 && accept(':')) {
    if (peek().is_dotted("branchtargets") || peek().is_dotted("calltargets") ||
        peek().is_dotted("callprototype")) {
      table(function, word);
      return;
    }
    Operand label;
    label.kind = Operand::Kind::label;
    label.index = static_cast<std::uint32_t>(function.instructions.size());
    scopes_.add_symbol(word.text, label, word.line);
    return;
  }
  instruction(function, word, begin, guard, negated);
}

void Parser::instruction(Function& function, const Token& opcode, std::size_t begin,
                         std::int32_t guard, bool negated) {
  Instruction instruction;
  instruction.opcode = opcode.text;
  instruction.line = static_cast<std::uint32_t>(opcode.line);
  instruction.location = location_;
  instruction.guard = guard;
  instruction.guard_negated = negated;
  instruction.first_modifier = static_cast<std::uint32_t>(function.modifiers.size());
  while (peek().kind == Token::Kind::dotted) function.modifiers.push_back(take().text);
  instruction.modifiers =
      static_cast<std::uint32_t>(function.modifiers.size()) - instruction.first_modifier;
  const bool branch = opcode.text == "bra";
  calls_ = opcode.text == "call";
  std::vector<Operand> operands;
  if (!peek().is(';')) do {
      operands.push_back(operand(function, branch, 0));
    } while (accept(','));
  const auto end = static_cast<std::size_t>(peek().text.data() - module_.text.data());
  if (!peek().is(';')) fail(peek(), "a semicolon after " + std::string(opcode.text));
  take();
  instruction.text = std::string_view(module_.text).substr(begin, end - begin);
  Operand all;
  keep(function, all, std::move(operands));
  instruction.first_operand = all.first;
  instruction.operands = all.count;
  function.instructions.push_back(instruction);
}

/// Stores the children side by side. What was to be resolved later moves along.
void Parser::keep(Function& function, Operand& operand, std::vector<Operand>&& children) {
  operand.first = static_cast<std::uint32_t>(function.operands.size());
  operand.count = static_cast<std::uint32_t>(children.size());
  for (const Operand& child : children) {
    const bool later = child.kind == Operand::Kind::label && child.index == ~0u;
    if (later)
      scopes_.use_later(child.name, static_cast<std::uint32_t>(function.operands.size()),
                        static_cast<std::size_t>(child.bits));
    function.operands.push_back(child);
    if (later) function.operands.back().bits = 0;
  }
}

Operand Parser::children(Function& function, Operand::Kind kind, char close, bool branch,
                         unsigned depth) {
  take();
  Operand operand;
  operand.kind = kind;
  std::vector<Operand> all;
  if (!peek().is(close)) do {
      all.push_back(this->operand(function, branch, depth + 1));
    } while (accept(','));
  if (kind == Operand::Kind::address && (peek().is('+') || peek().is('-')))
    operand.bits = expect_constant();
  expect(close);
  if (kind == Operand::Kind::address && all.empty()) fail(peek(), "an address");
  keep(function, operand, std::move(all));
  return operand;
}

Operand Parser::named(Function& function, const Token& name, bool branch) {
  Operand operand;
  operand.name = name.text;
  if (const auto found = scopes_.find_register(name.text); found && !branch) {
    const unsigned element = peek().kind == Token::Kind::dotted ? component(peek().text) : 4;
    if (element < found->elements) {
      take();
      operand.kind = Operand::Kind::reg;
      operand.index = found->first + element;
      return operand;
    }
    if (found->elements == 1) {
      operand.kind = Operand::Kind::reg;
      operand.index = found->first;
      return operand;
    }
    std::vector<Operand> all(found->elements);
    for (std::uint32_t i = 0; i < found->elements; ++i) {
      all[i].kind = Operand::Kind::reg;
      all[i].index = found->first + i;
    }
    operand.kind = Operand::Kind::vector;
    keep(function, operand, std::move(all));
    return operand;
  }
  if (name.text[0] == '%' && is_special(name.text)) {
    operand.kind = Operand::Kind::special;
    if (peek().kind == Token::Kind::dotted) {
      const Token axis = take();
      if (!is_special_vector(name.text) || component(axis.text) > 3)
        fail(axis, "a component of " + std::string(name.text));
      const auto begin = static_cast<std::size_t>(name.text.data() - module_.text.data());
      operand.index = component(axis.text) + 1;
      operand.name = std::string_view(module_.text).substr(begin, name.text.size());
    }
    return operand;
  }
  if (name.text[0] == '%')
    throw BadPtx(name.line, "the register " + std::string(name.text) + " is not declared");
  if (!branch) {
    if (const Operand* symbol = scopes_.find_symbol(name.text)) {
      operand.kind = symbol->kind;
      operand.index = symbol->index;
      return operand;
    }
    if (const auto found = module_.variable_of.find(name.text);
        found != module_.variable_of.end()) {
      operand.kind = Operand::Kind::module_variable;
      operand.index = found->second;
      return operand;
    }
    if (const auto found = module_.function_of.find(name.text);
        found != module_.function_of.end()) {
      operand.kind = Operand::Kind::function;
      operand.index = found->second;
      return operand;
    }
  }
  operand.kind = Operand::Kind::label;  // of which the body has not come to yet
  operand.index = ~0u;
  operand.bits = name.line;
  return operand;
}

Operand Parser::operand(Function& function, bool branch, unsigned depth) {
  if (depth > most_nested_operands) throw BadPtx(peek().line, "operands nested too deeply");
  const Token token = peek();
  if (token.is('{')) return children(function, Operand::Kind::vector, '}', branch, depth);
  if (token.is('[')) return children(function, Operand::Kind::address, ']', branch, depth);
  if (token.is('(') && calls_) return children(function, Operand::Kind::list, ')', branch, depth);
  Operand operand;
  if (starts_expression(lexer_)) {
    const Constant value = constant_expression(lexer_);
    operand.kind = value.type == Constant::Type::f64 || value.type == Constant::Type::f32
                       ? Operand::Kind::real
                       : Operand::Kind::integer;
    operand.single = value.type == Constant::Type::f32;
    operand.bits = value.bits;
    return operand;
  }
  if (token.is('!')) {
    take();
    operand = named(function, expect_name(), branch);
    if (operand.kind != Operand::Kind::reg) fail(token, "a predicate");
    operand.negated = true;
    return operand;
  }
  if (token.is('_')) {
    take();
    if (!accept('|')) return operand;  // none
  } else {
    operand = named(function, expect_name(), branch);
    if ((peek().is('+') || peek().is('-')) && operand.kind != Operand::Kind::reg) {
      if (operand.kind == Operand::Kind::label && operand.index == ~0u)
        throw BadPtx(token.line, std::string(token.text) + " is not declared");
      operand.bits += expect_constant();
    } else if (operand.kind == Operand::Kind::reg && depth > 0 &&
               (peek().is('+') || peek().is('-'))) {
      operand.bits = expect_constant();  // of an address: [reg+n]
    }
    if (!accept('|')) return operand;
  }
  std::vector<Operand> both(2);
  both[0] = operand;
  if (!accept('_')) both[1] = this->operand(function, branch, depth + 1);
  Operand pair;
  pair.kind = Operand::Kind::pair;
  keep(function, pair, std::move(both));
  return pair;
}

}  // namespace plumbline::ptx
