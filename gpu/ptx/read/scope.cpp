// SPDX-License-Identifier: Apache-2.0
#include "ptx/read/scope.hpp"

#include <charconv>
#include <string>

#include "ptx/device.hpp"

namespace plumbline::ptx {
namespace {

[[noreturn]] void twice(std::string_view name, std::size_t line) {
  throw BadPtx(line, std::string(name) + " is declared twice");
}

}  // namespace

void Scopes::add_register(std::string_view name, std::uint32_t first, std::uint32_t elements,
                          std::size_t line) {
  if (!stack_.back().registers.emplace(name, Register{first, elements}).second) twice(name, line);
}

void Scopes::add_registers(std::string_view prefix, std::uint32_t count, std::uint32_t first,
                           std::uint32_t elements, std::size_t line) {
  if (!stack_.back().ranges.emplace(prefix, Range{count, first, elements}).second)
    twice(prefix, line);
}

void Scopes::add_symbol(std::string_view name, Operand symbol, std::size_t line) {
  if (!stack_.back().symbols.emplace(name, symbol).second) twice(name, line);
}

std::optional<Scopes::Register> Scopes::find_register(std::string_view name) const {
  std::size_t letters = name.size();
  while (letters > 0 && name[letters - 1] >= '0' && name[letters - 1] <= '9') --letters;
  const std::string_view prefix = name.substr(0, letters), digits = name.substr(letters);
  std::uint32_t number = 0;
  const bool numbered =
      !digits.empty() && (digits.size() == 1 || digits[0] != '0') &&
      std::from_chars(digits.data(), digits.data() + digits.size(), number).ec == std::errc{};
  for (std::size_t i = stack_.size(); i-- > 0;) {
    const Scope& scope = stack_[i];
    if (numbered) {
      const auto range = scope.ranges.find(prefix);
      if (range != scope.ranges.end() && number < range->second.count)
        return Register{range->second.first + number * range->second.elements,
                        range->second.elements};
    }
    const auto found = scope.registers.find(name);
    if (found != scope.registers.end()) return found->second;
  }
  return std::nullopt;
}

const Operand* Scopes::find_symbol(std::string_view name) const {
  for (std::size_t i = stack_.size(); i-- > 0;) {
    const auto found = stack_[i].symbols.find(name);
    if (found != stack_[i].symbols.end()) return &found->second;
  }
  return nullptr;
}

void Scopes::use_later(std::string_view name, std::uint32_t use, std::size_t line) {
  stack_.back().uses.push_back({name, use, line});
}

void Scopes::resolve(std::vector<Operand>& operands) {
  Scope& scope = stack_.back();
  std::vector<Use> rest;
  for (const Use& use : scope.uses) {
    const auto found = scope.symbols.find(use.name);
    if (found == scope.symbols.end()) {
      rest.push_back(use);
    } else {
      Operand& operand = operands[use.operand];
      operand.kind = found->second.kind;
      operand.index = found->second.index;
    }
  }
  scope.uses.swap(rest);
}

void Scopes::close() {
  std::vector<Use> rest = std::move(stack_.back().uses);
  stack_.pop_back();
  if (!stack_.empty())
    stack_.back().uses.insert(stack_.back().uses.end(), rest.begin(), rest.end());
}

}  // namespace plumbline::ptx
