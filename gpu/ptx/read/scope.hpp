// SPDX-License-Identifier: Apache-2.0
// The names of a function's body: registers, variables and labels, in nested braces.
#ifndef PLUMBLINE_GPU_PTX_READ_SCOPE_HPP
#define PLUMBLINE_GPU_PTX_READ_SCOPE_HPP

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/read/module.hpp"

namespace plumbline::ptx {

class Scopes {
 public:
  struct Register {
    std::uint32_t first = 0;
    std::uint32_t elements = 1;  ///< of a vector register
  };
  void open() { stack_.emplace_back(); }
  std::size_t depth() const { return stack_.size(); }
  /// Closes the innermost: labels used in it but not found there are looked for outside.
  void close();

  /// All throw BadPtx where the innermost scope has the name.
  void add_register(std::string_view name, std::uint32_t first, std::uint32_t elements,
                    std::size_t line);
  /// NAME0 ... NAME(count-1)
  void add_registers(std::string_view prefix, std::uint32_t count, std::uint32_t first,
                     std::uint32_t elements, std::size_t line);
  void add_symbol(std::string_view name, Operand symbol, std::size_t line);

  std::optional<Register> find_register(std::string_view name) const;
  const Operand* find_symbol(std::string_view name) const;
  /// The operand `use` of the function becomes the symbol when it is defined.
  void use_later(std::string_view name, std::uint32_t use, std::size_t line);
  struct Use {
    std::string_view name;
    std::uint32_t operand;
    std::size_t line;
  };
  /// Sets what a scope's symbols resolve; the rest is left to the scope outside.
  void resolve(std::vector<Operand>& operands);
  const std::vector<Use>& open_uses() const { return stack_.back().uses; }

 private:
  struct Range {
    std::uint32_t count, first, elements;
  };
  struct Scope {
    std::unordered_map<std::string_view, Register> registers;
    std::unordered_map<std::string_view, Range> ranges;
    std::unordered_map<std::string_view, Operand> symbols;
    std::vector<Use> uses;
  };
  std::vector<Scope> stack_;
};

}  // namespace plumbline::ptx

#endif
