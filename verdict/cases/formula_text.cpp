// SPDX-License-Identifier: Apache-2.0
#include "verdict/cases/formula_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "support/error.hpp"
#include "support/text.hpp"

namespace plumbline::cases {
namespace {

using reference::Formula;
using Op = Formula::Op;

/// A formula of more operations says the wrong thing, or is hostile; so is one nested deeper.
constexpr std::size_t most_nodes = 1000;
constexpr int deepest = 100;

struct Function {
  std::string_view name;
  Op op;
  int operands;
};
constexpr std::array functions{
    Function{"abs", Op::absolute, 1}, Function{"cos", Op::cos, 1},
    Function{"erf", Op::erf, 1},      Function{"exp", Op::exp, 1},
    Function{"floor", Op::floor, 1},  Function{"log", Op::log, 1},
    Function{"log1p", Op::log1p, 1},  Function{"max", Op::maximum, 2},
    Function{"min", Op::minimum, 2},  Function{"sin", Op::sin, 1},
    Function{"sqrt", Op::sqrt, 1},    Function{"tanh", Op::tanh, 1},
    Function{"where", Op::where, 3},
};

/// "abs, cos, ...".
std::string names_of_functions() {
  std::string names;
  for (const Function& function : functions) {
    names += (names.empty() ? "" : ", ") + std::string(function.name);
  }
  return names;
}

class Parser {
 public:
  Parser(std::string_view text, const std::vector<FormulaName>& names, const std::string& field,
         FormulaKind kind)
      : text_(text), names_(names), field_(field), kind_(kind) {}

  Formula formula() {
    comparison();
    skip_space();
    if (at_ < text_.size()) refuse("an operation, or the end");
    // b_ij is the last node, whatever was built last.
    return std::move(formula_);
  }

 private:
  /// @param place in the text, from 0.
  [[noreturn]] void refuse_at(std::size_t place, const std::string& expected) const {
    throw BadInput(
        field_,
        fmt::format("{}, character {}{}", in_quotes(text_, 200), place + 1,
                    place < text_.size() ? fmt::format(" ({})", in_quotes(text_.substr(place, 12)))
                                         : ", its end"),
        expected);
  }
  [[noreturn]] void refuse(const std::string& expected) const { refuse_at(at_, expected); }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) {
      ++at_;
    }
  }
  bool takes(std::string_view symbol) {
    skip_space();
    if (text_.substr(at_, symbol.size()) != symbol) return false;
    at_ += symbol.size();
    return true;
  }
  void expect(std::string_view symbol) {
    if (!takes(symbol)) refuse(fmt::format("\"{}\"", symbol));
  }

  int add(Formula::Node node) {
    node.of_positions = node.op != Op::parameter;
    for (const int operand : {node.a, node.b, node.c}) {
      if (operand >= 0) node.of_positions &= formula_.nodes[operand].of_positions;
    }
    if (formula_.nodes.size() == most_nodes) {
      throw BadInput(field_, in_quotes(text_, 200),
                     fmt::format("at most {} operations", most_nodes));
    }
    formula_.nodes.push_back(node);
    return static_cast<int>(formula_.nodes.size()) - 1;
  }
  int number(double value) { return add({.op = Op::number, .number = value}); }
  int combined(Op op, int a, int b) { return add({.op = op, .a = a, .b = b}); }

  /// @param start where the operands begin in the text.
  void expect_positions(int node, std::size_t start) const {
    if (kind_ == FormulaKind::condition || formula_.nodes[node].of_positions) return;
    refuse_at(start,
              "only i, j, h and constants in a comparison, in floor and in the first argument "
              "of where: what parameters decide has no derivative");
  }

  int comparison() {
    skip_space();
    const std::size_t start = at_;
    const int left = sum();
    // x <= y is not y < x.
    struct Comparison {
      std::string_view symbol;
      Op op;
      bool swapped, negated;
    };
    static constexpr std::array comparisons{
        Comparison{"<=", Op::less, true, true},    Comparison{">=", Op::less, false, true},
        Comparison{"==", Op::equal, false, false}, Comparison{"!=", Op::equal, false, true},
        Comparison{"<", Op::less, false, false},   Comparison{">", Op::less, true, false},
    };
    for (const auto& [symbol, op, swapped, negated] : comparisons) {
      if (!takes(symbol)) continue;
      const int right = sum();
      expect_positions(left, start);
      expect_positions(right, start);
      const int compared = swapped ? combined(op, right, left) : combined(op, left, right);
      return negated ? combined(Op::subtract, number(1), compared) : compared;
    }
    return left;
  }

  int sum() {
    int left = product();
    while (true) {
      if (takes("+")) {
        left = combined(Op::add, left, product());
      } else if (takes("-")) {
        left = combined(Op::subtract, left, product());
      } else {
        return left;
      }
    }
  }

  int product() {
    skip_space();
    const std::size_t start = at_;
    int left = factor();
    while (true) {
      skip_space();
      const bool is_power = text_.substr(at_, 2) == "**";
      if (!is_power && takes("*")) {
        left = combined(Op::multiply, left, factor());
      } else if (takes("//")) {
        const int quotient = combined(Op::divide, left, factor());
        expect_positions(quotient, start);
        left = add({.op = Op::floor, .a = quotient});
      } else if (takes("/")) {
        left = combined(Op::divide, left, factor());
      } else {
        return left;
      }
    }
  }

  /// -x ** y is -(x ** y).
  int factor() {
    if (++depth_ > deepest) {
      throw BadInput(field_, in_quotes(text_, 200),
                     fmt::format("at most {} operations within each other", deepest));
    }
    int result = 0;
    if (takes("-")) {
      const int operand = factor();
      const Formula::Node& node = formula_.nodes[operand];
      result = node.op == Op::number ? number(-node.number) : add({.op = Op::negate, .a = operand});
    } else if (takes("+")) {
      result = factor();
    } else {
      result = atom();
      if (takes("**")) result = power(result, factor());
    }
    --depth_;
    return result;
  }

  int power(int base, int exponent) {
    const Formula::Node node = formula_.nodes[exponent];
    const bool is_product = node.op == Op::number && node.number >= 0 && node.number <= 8 &&
                            node.number == std::floor(node.number);
    if (is_product && node.number == 0) return number(1);
    if (is_product && node.number == 1) return combined(Op::add, base, number(0));
    if (!is_product) return combined(Op::power, base, exponent);
    int result = base;
    for (int n = 1; n < node.number; ++n) result = combined(Op::multiply, result, base);
    return result;
  }

  int atom() {
    if (takes("(")) {
      const int inside = comparison();
      expect(")");
      return inside;
    }
    const char next = at_ < text_.size() ? text_[at_] : '\0';
    if ((next >= '0' && next <= '9') || next == '.') return literal();
    const std::size_t start = at_;
    const std::string_view name = word();
    if (name.empty()) refuse("a number, i, j, h, a parameter, a function or \"(\"");
    if (name == "i") return add({.op = Op::query});
    if (name == "j") return add({.op = Op::key});
    if (name == "h" && kind_ == FormulaKind::condition) {
      refuse_at(start, "no head: all heads see the same keys");
    }
    if (name == "h") return add({.op = Op::head});
    if (takes("(")) return call(name, start);
    return parameter(name, start);
  }

  int literal() {
    double value = 0;
    const char* first = text_.data() + at_;
    const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), value);
    if (error != std::errc() || !(value == 0 || (value >= 0x1p-126 && value <= 0x1p127))) {
      refuse("a number that float32 holds: 0, or 2^-126 to 2^127");
    }
    at_ += static_cast<std::size_t>(end - first);
    return number(value);
  }

  std::string_view word() {
    const std::size_t start = at_;
    const auto is_part = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    while (at_ < text_.size() && is_part(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  int call(std::string_view name, std::size_t start) {
    const auto* found = std::find_if(functions.begin(), functions.end(),
                                     [&](const auto& f) { return f.name == name; });
    if (found == functions.end()) refuse_at(start, "one of the functions " + names_of_functions());
    std::array<int, 3> operand{-1, -1, -1};
    for (int n = 0; n < found->operands; ++n) {
      if (n > 0) expect(",");
      skip_space();
      const std::size_t begin = at_;
      operand[static_cast<std::size_t>(n)] = comparison();
      if (n == 0 && (found->op == Op::floor || found->op == Op::where)) {
        expect_positions(operand[0], begin);
      }
    }
    expect(")");
    return add({.op = found->op, .a = operand[0], .b = operand[1], .c = operand[2]});
  }

  int parameter(std::string_view name, std::size_t start) {
    const auto found = std::find_if(names_.begin(), names_.end(),
                                    [&](const auto& known) { return known.name == name; });
    if (found == names_.end()) {
      std::vector<std::string> known;
      for (const FormulaName& each : names_) known.push_back(each.name);
      refuse_at(start, known.empty() ? "i, j or h: no parameter is declared"
                                     : fmt::format("i, j, h or one of the parameters {}",
                                                   fmt::join(known, ", ")));
    }
    Formula::Node node{.op = Op::parameter, .parameter = static_cast<int>(found - names_.begin())};
    if (takes("[")) {
      skip_space();
      const std::size_t index = at_;
      const bool of_query = takes("i"), of_key = !of_query && takes("j");
      if (!(of_query && found->at_query) && !(of_key && found->at_key)) {
        refuse_at(index, found->at_key     ? "i or j"
                         : found->at_query ? "i: it has a number for each query"
                                           : "no index: it has no number for each position");
      }
      expect("]");
      node.place = of_query ? Formula::Place::of_query : Formula::Place::of_key;
    } else if (found->at_query || found->at_key) {
      refuse(found->at_key ? "\"[i]\" or \"[j]\"" : "\"[i]\"");
    }
    return add(node);
  }

  std::string_view text_;
  const std::vector<FormulaName>& names_;
  const std::string& field_;
  FormulaKind kind_;
  std::size_t at_ = 0;
  int depth_ = 0;
  Formula formula_;
};

}  // namespace

reference::Formula formula_from(std::string_view text, const std::vector<FormulaName>& names,
                                const std::string& field, FormulaKind kind) {
  return Parser(text, names, field, kind).formula();
}

bool is_formula_function(std::string_view name) {
  return std::ranges::find(functions, name, &Function::name) != functions.end();
}

}  // namespace plumbline::cases
