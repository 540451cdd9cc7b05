// SPDX-License-Identifier: Apache-2.0
// The translation of a kernel: its functions one by one, and where shared variables lie.
#include <algorithm>
#include <set>
#include <stdexcept>

#include "ptx/memory/shared.hpp"
#include "ptx/read/qualifiers.hpp"
#include "ptx/translate/translator.hpp"

namespace plumbline::ptx {
namespace {

constexpr std::uint64_t most_local_bytes = 512 << 10;  ///< of a thread, as CUDA has it

/// The entry and what it calls, or whose address it takes, from a variable's initial value perhaps:
/// a table of functions, or that of a class with virtual ones.
std::vector<const Function*> reachable(const Module& module, const Function& entry) {
  std::vector<const Function*> all = {&entry};
  std::set<const Function*> seen = {&entry};
  std::set<std::uint32_t> seen_variables;
  const auto visit_function = [&](std::uint32_t index) {
    const Function* function = &module.functions[index];
    if (function->defined && seen.insert(function).second) all.push_back(function);
  };
  const auto visit_variable = [&](std::uint32_t index) {
    std::vector<std::uint32_t> variables = {index};
    while (!variables.empty()) {
      const std::uint32_t one = variables.back();
      variables.pop_back();
      if (!seen_variables.insert(one).second) continue;
      for (const Piece& piece : module.variables[one].pieces) {
        if (const auto function = module.function_of.find(piece.symbol);
            function != module.function_of.end())
          visit_function(function->second);
        if (const auto variable = module.variable_of.find(piece.symbol);
            variable != module.variable_of.end())
          variables.push_back(variable->second);
      }
    }
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto visit = [&](const Operand& operand) {
      if (operand.kind == Operand::Kind::function) visit_function(operand.index);
      if (operand.kind == Operand::Kind::module_variable) visit_variable(operand.index);
    };
    for (const Operand& operand : all[i]->operands) visit(operand);
    for (const Table& table : all[i]->tables)
      for (const Operand& operand : table.targets) visit(operand);
  }
  return all;
}

std::uint64_t up(std::uint64_t value, std::uint64_t align) {
  return (value + align - 1) / align * align;
}

}  // namespace

std::unique_ptr<KernelProgram> translate(const Module& module, const Function& entry,
                                         const Layout& layout, bool profiled) {
  auto kernel = std::make_unique<KernelProgram>();
  Translator::Shared shared{module, layout, *kernel, {}, profiled, target_named(module.target)};
  const std::vector<const Function*> functions = reachable(module, entry);

  std::vector<const Variable*> used, open;
  std::set<const Variable*> seen;
  const auto visit = [&](const Variable& variable) {
    if (variable.space != Space::shared || !seen.insert(&variable).second) return;
    (variable.bytes == 0 ? open : used).push_back(&variable);
  };
  for (const Function* function : functions)
    for (const Operand& operand : function->operands) {
      if (operand.kind == Operand::Kind::variable) visit(function->variables[operand.index]);
      if (operand.kind == Operand::Kind::module_variable) visit(module.variables[operand.index]);
    }
  std::uint64_t at = 0;
  for (const Variable* variable : used) {
    at = up(at, variable->align);
    shared.shared_at[variable] = static_cast<std::uint32_t>(at) + shared_begin;
    at += variable->bytes;
    if (at > (1u << 30)) throw BadPtx(variable->line, "more shared memory than any device has");
  }
  kernel->static_shared = static_cast<std::uint32_t>(at);
  std::uint64_t align = 16;
  for (const Variable* variable : open) align = std::max(align, variable->align);
  if (!open.empty()) at = up(at, align);
  kernel->dynamic_shared = static_cast<std::uint32_t>(at);
  for (const Variable* variable : open)
    shared.shared_at[variable] = kernel->dynamic_shared + shared_begin;

  for (const Function* function : functions)
    kernel->programs.emplace(function, std::make_unique<Program>());
  for (const Function* function : functions) {
    Program& program = *kernel->programs.at(function);
    program.module = &module;
    program.function = function;
    Translator translator(shared, *function, program);
    try {
      translator.run();
    } catch (const Missing& missing) {
      if (kernel->missing.empty()) kernel->missing = missing.what();
      break;
    }
  }
  kernel->entry = kernel->programs.at(&entry).get();
  return kernel;
}

Translator::Translator(Shared& shared, const Function& function, Program& program)
    : shared_(shared), module_(shared.module), function_(function), program_(program) {
  slots_.resize(function.registers);
  for (const RegisterRange& range : function.ranges) {
    const unsigned bits = bits_of(range.type);
    const unsigned bytes = range.type == Type::pred ? 0 : bits <= 32 ? 4 : bits <= 64 ? 8 : 16;
    for (std::uint32_t i = 0; i < range.count; ++i)
      slots_[range.first + i].bytes = static_cast<std::uint8_t>(bytes);
  }
}

void Translator::layout_locals() {
  std::uint64_t at = 0;
  const auto place = [&](const Variable& variable) {
    // Parameters of calls are read as vectors whatever their alignment.
    at = up(at, variable.space == Space::param ? 16 : variable.align);
    const std::uint64_t here = at;
    at += variable.bytes;
    if (at > most_local_bytes)
      throw BadPtx(variable.line, "more than 512 KiB of local memory in a function");
    return static_cast<std::uint32_t>(here);
  };
  for (const Variable& variable : function_.variables)
    local_at_.push_back(
        variable.space == Space::local || variable.space == Space::param ? place(variable) : 0);
  if (!function_.entry) {
    for (const Variable& parameter : function_.parameters)
      program_.parameter_at.push_back(parameter.is_register ? parameter.reg : place(parameter));
    for (const Variable& result : function_.results)
      program_.result_at.push_back(result.is_register ? result.reg : place(result));
  }
  std::uint64_t next = 0;
  for (const Variable& parameter : function_.parameters) {
    kernel_parameter_at_.push_back(up(next, parameter.align));
    next = kernel_parameter_at_.back() + parameter.bytes;
  }
  program_.local_bytes = static_cast<std::uint32_t>(up(at, 16));
}

void Translator::run() {
  layout_locals();
  begins_block_.resize(function_.instructions.size() + 1);
  const auto begins = [&](const Operand& operand) {
    if (operand.kind == Operand::Kind::label) begins_block_[operand.index] = true;
  };
  std::ranges::for_each(function_.operands, begins);
  for (const Table& table : function_.tables) std::ranges::for_each(table.targets, begins);
  for (std::size_t i = 0; i < function_.instructions.size(); ++i) {
    first_operation_.push_back(static_cast<std::uint32_t>(program_.operations.size()));
    now_ = &function_.instructions[i];
    if (begins_block_[i]) products_.clear();
    try {
      instruction(*now_);
    } catch (const std::logic_error& error) {  // a look-up that the reader should have refused
      bad(error.what());
    }
    program_.instruction_of.resize(program_.operations.size(), static_cast<std::uint32_t>(i));
  }
  finish();
}

/// ptxas refuses what the .target does not have.
void Translator::expect_target() const {
  if (!shared_.target) return;
  const auto first = function_.modifiers.begin() + now_->first_modifier;
  std::vector<std::string_view> all(first, first + now_->modifiers);
  if (now_->opcode == "mbarrier" && (has("arrive") || has("arrive_drop")) && !has("noComplete") &&
      operands() > 2)
    all.push_back("count");
  std::string needed = lacking(*shared_.target, now_->opcode, all);
  for (std::size_t i = 0; needed.empty() && i < operands(); ++i)
    if (operand(i).kind == Operand::Kind::special)
      needed = lacking(*shared_.target, operand(i).name);
  if (!needed.empty())
    bad("it needs .target " + needed + ", and the module's is " + shared_.target->name());
}

void Translator::instruction(const Instruction& instruction) {
  for (std::size_t i = 0; i < words(); ++i)
    if (!is_qualifier(word(i))) lacks();
  expect_target();
  const std::uint32_t probe = shared_.profiled ? emit(ptx::probe) : 0;
  const auto begin = static_cast<std::uint32_t>(program_.operations.size());
  if (!(wide() || arithmetic() || memory() || moves() || compare() || control() || bits() ||
        convert() || approximate() || half() || atomics() || warps() || matrices() ||
        warpgroups() || warp_matrices() || copies() || mbarriers() || bulk() || tensors() ||
        distributed()))
    lacks();
  if (shared_.profiled) fill_probe(probe);
  if (instruction.guard < 0) return;
  for (auto i = begin; i < program_.operations.size(); ++i) {
    use(i, Field::guard, static_cast<Virtual>(instruction.guard));
    at(i).negate = instruction.guard_negated ? ~0u : 0;
  }
}

/// One more register in the operation's list.
std::uint32_t Translator::add_to_list(std::uint32_t operation) {
  if (at(operation).count == 0) list(operation, 16);
  at(operation).count = 16;
  for (std::uint32_t i = 0; i < 16; ++i)
    if (program_.lists[at(operation).list + i] == ~0u) return i;
  throw Missing("PTX line " + std::to_string(function_.line) + ": more than 16 results");
}

void Translator::finish() {
  const std::uint32_t end = emit(nullptr, function_.entry ? Flow::exit : Flow::leave);
  program_.instruction_of.resize(
      program_.operations.size(),
      function_.instructions.empty()
          ? 0
          : static_cast<std::uint32_t>(function_.instructions.size() - 1));
  first_operation_.push_back(end);
  // Registers of parameters have values at the begin, those of results are read at the end.
  for (const Variable& result : function_.results)
    if (result.is_register)
      for (std::uint32_t i = 0; i < program_.operations.size(); ++i)
        if (at(i).flow == Flow::leave) use(i, Field::list, result.reg, add_to_list(i));
  for (Operation& operation : program_.operations)
    if (operation.flow == Flow::branch) operation.target = first_operation_[operation.target];
  for (auto& table : program_.branch_tables)
    for (std::uint32_t& target : table) target = first_operation_[target];
  for (const auto& [reg, bits] : constant_list_)
    program_.constants.push_back({reg, slots_[reg].bytes, bits});
  for (const SpecialUse& special : specials_)
    program_.specials.push_back(
        {special.reg, slots_[special.reg].bytes, special.which, special.axis, special.add});
  watch_registers(program_, slots_, references_);
  place_registers(program_, slots_, references_);
  // Parameters and results in registers.
  for (std::size_t i = 0; i < program_.parameter_at.size(); ++i)
    if (function_.parameters[i].is_register)
      program_.parameter_at[i] = slots_[function_.parameters[i].reg].offset;
  for (std::size_t i = 0; i < program_.result_at.size(); ++i)
    if (function_.results[i].is_register)
      program_.result_at[i] = slots_[function_.results[i].reg].offset;
}

}  // namespace plumbline::ptx
