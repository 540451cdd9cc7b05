// SPDX-License-Identifier: Apache-2.0
// A PTX module as it was read: names are resolved, meanings are not looked at.
#ifndef PLUMBLINE_GPU_PTX_READ_MODULE_HPP
#define PLUMBLINE_GPU_PTX_READ_MODULE_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/read/types.hpp"

namespace plumbline::ptx {

enum class Space : std::uint8_t { generic, global, constant, shared, local, param };

struct Operand {
  enum class Kind : std::uint8_t {
    none,             ///< _
    reg,              ///< `index`: of the function's registers
    special,          ///< `name`, as in "%tid.x"
    integer,          ///< `bits`
    real,             ///< `bits` of a float (`single`) or of a double
    variable,         ///< of the function: `index`; plus `bits`
    parameter,        ///< of the function: `index`; plus `bits`
    result,           ///< return parameter of the function: `index`; plus `bits`
    module_variable,  ///< `index`; plus `bits`
    function,         ///< `index`
    label,            ///< `index`: of an instruction
    table,            ///< .branchtargets, .calltargets or .callprototype: `index`
    address,          ///< [child + bits, further children]
    vector,           ///< {children}
    list,             ///< (children): of a call
    pair              ///< a|b: two children
  };
  Kind kind = Kind::none;
  bool single = false;
  bool negated = false;  ///< !p
  std::uint32_t index = 0;
  std::uint64_t bits = 0;
  std::string_view name;
  std::uint32_t first = 0, count = 0;  ///< children, in Function::operands
};

struct Instruction {
  std::string_view text;    ///< from the guard to before the semicolon
  std::string_view opcode;  ///< its first word
  std::uint32_t first_modifier = 0, modifiers = 0;
  std::uint32_t first_operand = 0, operands = 0;
  std::int32_t guard = -1;  ///< a register
  bool guard_negated = false;
  std::uint32_t line = 0, location = 0;  ///< `location`: of Function::locations, counted from 1
};

struct Piece {  ///< of a variable's initial value
  std::uint64_t offset = 0, bytes = 0, bits = 0;
  std::string_view symbol;  ///< whose address plus `bits` stands there; or empty
  bool generic = false;
  std::size_t line = 0;
};

struct Variable {
  std::string_view name;
  Space space = Space::global;
  Type type = Type::none;
  bool is_register = false, is_extern = false, is_array = false;
  std::uint64_t align = 1, bytes = 0;
  std::uint32_t reg = 0;  ///< where is_register
  std::size_t line = 0;
  std::vector<Piece> pieces;
};

struct RegisterRange {
  std::uint32_t first = 0, count = 0;
  Type type = Type::none;
};

struct Location {
  std::uint32_t file = 0, line = 0, column = 0;
  /// Where the function that has this line was inlined, of Function::locations, counted from 1; 0:
  /// nowhere.
  std::uint32_t caller = 0;
};

struct Table {  ///< .branchtargets: labels; .calltargets: functions; .callprototype: parameters
  std::vector<Operand> targets;
  std::vector<Variable> parameters, results;
};

struct Function {
  std::string_view name;
  std::size_t line = 0;
  bool entry = false, defined = false;
  std::vector<Variable> parameters, results, variables;
  std::vector<RegisterRange> ranges;  ///< in the order of `first`
  std::uint32_t registers = 0;
  std::vector<Instruction> instructions;
  std::vector<Operand> operands;
  std::vector<std::string_view> modifiers;
  std::vector<Table> tables;
  std::vector<Location> locations;
  std::uint32_t max_threads[3] = {0, 0, 0};       ///< .maxntid; 0: not said
  std::uint32_t required_threads[3] = {0, 0, 0};  ///< .reqntid
  std::uint32_t cluster[3] = {0, 0, 0};           ///< .reqnctapercluster
  std::uint32_t max_registers = 0;                ///< .maxnreg; 0: not said
  std::uint32_t min_blocks = 0;                   ///< .minnctapersm

  Type type_of_register(std::uint32_t reg) const;
};

struct Module {
  std::string text;  ///< what the views look into
  std::string_view target;
  unsigned version_major = 0, version_minor = 0;
  unsigned address_bits = 64;
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::unordered_map<std::string_view, std::uint32_t> function_of, variable_of;
  std::unordered_map<std::uint32_t, std::string_view> files;
};

/// Reads PTX of ISA 7.0 to 9.x. Throws BadPtx.
std::unique_ptr<Module> read_module(std::string text);

}  // namespace plumbline::ptx

#endif
