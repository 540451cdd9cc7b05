// SPDX-License-Identifier: Apache-2.0
// The reader's state: what the files parse_*.cpp share.
#ifndef PLUMBLINE_GPU_PTX_READ_PARSER_HPP
#define PLUMBLINE_GPU_PTX_READ_PARSER_HPP

#include <string>
#include <vector>

#include "ptx/read/lexer.hpp"
#include "ptx/read/module.hpp"
#include "ptx/read/scope.hpp"

namespace plumbline::ptx {

class Parser {
 public:
  explicit Parser(Module& module) : module_(module), lexer_(module.text) {}
  void module();

 private:
  // directives of the module (parse_module.cpp)
  void header(const Token& directive);
  void file();
  void section();
  void function(bool entry, bool is_extern);
  void check_size(const Function& function) const;
  void limits(Function& function);
  void declare(Function&& function);
  void resolve_pieces();

  // declarations (parse_variable.cpp)
  struct Declared {
    Type type = Type::none;
    std::uint64_t align = 0, elements = 1;
  };
  Declared type_and_align();
  std::vector<Variable> variables(Space space, bool is_extern);
  std::vector<Variable> parameters(Function& function);
  void dimensions(Variable& variable);
  void initialiser(Variable& variable, std::uint64_t element, std::uint64_t& offset,
                   unsigned depth);
  Piece piece(std::uint64_t bytes);
  void registers(Function& function);
  std::uint32_t new_registers(Function& function, Type type, std::uint64_t count, std::size_t line);

  // bodies (parse_body.cpp)
  void body(Function& function);
  void statement(Function& function);
  bool directive_of_body(Function& function);
  void location(Function& function);
  void table(Function& function, const Token& name);
  void instruction(Function& function, const Token& opcode, std::size_t begin, std::int32_t guard,
                   bool negated);

  // operands (parse_operand.cpp)
  Operand operand(Function& function, bool branch, unsigned depth);
  Operand named(Function& function, const Token& name, bool branch);
  Operand children(Function& function, Operand::Kind kind, char close, bool branch, unsigned depth);
  void keep(Function& function, Operand& operand, std::vector<Operand>&& children);

  // tokens
  const Token& peek() const { return lexer_.peek(); }
  Token take() { return lexer_.take(); }
  bool accept(char c);
  bool accept_word(std::string_view word);
  void expect(char c);
  Token expect_name();
  std::uint64_t expect_integer();
  /// An integer constant expression, with its sign.
  std::uint64_t expect_constant();
  [[noreturn]] void fail(const Token& at, const std::string& expected) const;

  Module& module_;
  Lexer lexer_;
  Scopes scopes_;
  std::uint32_t location_ = 0;
  bool calls_ = false;  ///< the instruction is a call: ( begins a list
};

}  // namespace plumbline::ptx

#endif
