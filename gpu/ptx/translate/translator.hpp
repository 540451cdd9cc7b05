// SPDX-License-Identifier: Apache-2.0
// The translation of one function: what the files of this folder share.
#ifndef PLUMBLINE_GPU_PTX_TRANSLATE_TRANSLATOR_HPP
#define PLUMBLINE_GPU_PTX_TRANSLATE_TRANSLATOR_HPP

#include <optional>
#include <stdexcept>
#include <tuple>

#include "ptx/execute/form.hpp"
#include "ptx/execute/instructions/select.hpp"
#include "ptx/read/target.hpp"
#include "ptx/translate/program.hpp"

namespace plumbline::ptx {

/// An instruction that the device lacks.
struct Missing : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A register before it has a place: of the function, a constant, a special one or a temporary.
using Virtual = std::uint32_t;
constexpr Virtual nothing = ~0u;

enum class Field : std::uint8_t { d, a, b, c, target, guard, list };

class Translator {
 public:
  /// What all functions of a kernel share.
  struct Shared {
    const Module& module;
    const Layout& layout;
    KernelProgram& kernel;
    /// Of .shared variables, by name's address: module's and functions'.
    std::map<const Variable*, std::uint32_t> shared_at;
    bool profiled = false;         ///< with a probe before each instruction
    std::optional<Target> target;  ///< the module's, where it is one of sm_...
  };
  Translator(Shared& shared, const Function& function, Program& program);
  void run();

  // ---- what the handlers use
  struct Reference {
    std::uint32_t operation;
    std::uint32_t index;  ///< of the list, where field is list
    Virtual reg;
    Field field;
    bool defines;
  };
  struct Slot {
    std::uint8_t bytes = 4;  ///< a lane; 0: a predicate
    bool fixed = false;      ///< a constant or a special register
    std::uint32_t offset = ~0u;
  };

 private:
  friend class Registers;
  void instruction(const Instruction& instruction);
  void expect_target() const;
  void layout_locals();
  void fill_probe(std::uint32_t operation);
  void probe_access(std::uint32_t operation, std::uint32_t access, Probe& probe);

  // words of the instruction
  bool has(std::string_view word) const;
  std::string_view word(std::size_t i) const;
  std::size_t words() const { return now_->modifiers; }
  /// The types among the modifiers, in their order.
  std::vector<Type> types() const;
  const Operand& operand(std::size_t i) const;
  std::size_t operands() const { return now_->operands; }
  const Operand& child(const Operand& parent, std::size_t i) const {
    return function_.operands[parent.first + i];
  }
  Form form(Operator op, Type type) const;
  [[noreturn]] void lacks() const;
  [[noreturn]] void bad(const std::string& text) const;
  void expect_operands(std::size_t least, std::size_t most) const;

  // registers
  Virtual temporary(unsigned bytes);
  Virtual constant(std::uint64_t bits, unsigned bytes);
  Virtual special(Special which, unsigned axis, unsigned bytes, std::uint64_t add = 0);
  Virtual special(const Operand& operand, unsigned bytes);
  unsigned width(Virtual reg) const { return slots_[reg].bytes; }
  /// The operand's value as one of this type.
  Virtual source(const Operand& operand, Type type);
  Virtual source_bytes(const Operand& operand, unsigned bytes, Type type);
  Virtual predicate(const Operand& operand) const;
  /// To be read: a constant as well.
  Virtual source_predicate(const Operand& operand);
  Virtual destination(const Operand& operand, Type type) const;
  Virtual local_address(std::uint64_t offset, unsigned bytes);
  /// The address of a variable, a parameter or a function.
  Virtual address_of(const Operand& operand, unsigned bytes);

  // operations
  std::uint32_t emit(const Form& form);
  std::uint32_t emit(Run run, Flow flow = Flow::plain);
  Operation& at(std::uint32_t operation) { return program_.operations[operation]; }
  void define(std::uint32_t operation, Field field, Virtual reg, std::uint32_t index = 0);
  void use(std::uint32_t operation, Field field, Virtual reg, std::uint32_t index = 0);
  void set(std::uint32_t operation, Field field, std::uint32_t value, std::uint32_t index);
  void list(std::uint32_t operation, std::size_t count);
  std::uint32_t unary(const Form& form, Virtual d, Virtual a);
  std::uint32_t binary(const Form& form, Virtual d, Virtual a, Virtual b);

  // handlers, by kind of instruction
  bool arithmetic();
  bool bits();
  bool half();
  bool approximate();
  bool compare();
  bool convert();
  bool moves();
  bool memory();
  bool atomics();
  bool control();
  bool warps();
  bool matrices();
  bool warpgroups();
  bool warp_matrices();
  bool wide();
  bool copies();
  bool mbarriers();
  bool bulk();
  bool tensors();
  bool tensor_map();
  bool distributed();

  void same_type(Operator op, Type type, std::size_t sources);
  void remember_product(Type type);
  bool fused(Type type);
  std::pair<const Operand*, const Operand*> two_results() const;
  std::uint32_t exchange(Run run, const Operand& members);
  void set_by_comparison();
  Compare comparison() const;
  void multiply();
  void multiply_by_group();
  void multiply_matrices();
  void matrix_access(bool stores);
  struct Halves {
    Virtual low = nothing, high = nothing;
  };
  Halves halves(const Operand& operand);
  void convert_packed();
  void matrix_memory(bool stores);
  Operator prmt_mode() const;
  void carry(Type type);
  bool vector_move(Type type);
  void load();
  void store();
  struct Place {
    Virtual base = nothing;
    std::int64_t offset = 0;
    std::uint32_t space = 0;
  };
  Place place(const Operand& address, std::string_view space);
  void apply(std::uint32_t operation, const Place& place);
  BulkCopy::Address bulk_address(std::vector<Virtual>& registers, const Place& place);
  void emit_bulk(Run run, const BulkCopy& copy, const std::vector<Virtual>& registers);
  /// The registers, or constants, that a ld or st of the type names: one, or a vector's.
  std::vector<const Operand*> parts_of(const Operand& given, Type type);
  std::uint8_t strength();
  void barrier();
  void cluster_barrier();
  void fence();
  std::string_view space_word() const;
  void call();
  Program::Call::Place call_place(std::uint32_t o, std::uint32_t& index, const Operand& operand,
                                  const Variable& formal, bool result);
  void branch_table();
  void branch();
  std::uint32_t add_to_list(std::uint32_t operation);
  void finish();

  Shared& shared_;
  const Module& module_;
  const Function& function_;
  Program& program_;
  const Instruction* now_ = nullptr;
  Virtual carry_ = nothing;  ///< CC.CF
  /// Of a mul without a rounding mode, whose operands and result are still what they were.
  struct Product {
    Virtual d, a, b;
    Type type;
    bool ftz;
  };
  std::vector<Product> products_;   ///< of the basic block, where they are to be fused
  std::vector<bool> begins_block_;  ///< for each instruction: a label stands before it
  std::vector<Slot> slots_;
  std::map<Virtual, Halves> halves_;  ///< of registers of 128 bits
  std::vector<Reference> references_;
  std::map<std::pair<std::uint64_t, unsigned>, Virtual> constants_;
  std::vector<std::pair<Virtual, std::uint64_t>> constant_list_;
  struct SpecialUse {
    Virtual reg;
    Special which;
    std::uint8_t axis;
    std::uint64_t add;
  };
  std::vector<SpecialUse> specials_;
  std::map<std::tuple<Special, unsigned, std::uint64_t, unsigned>, Virtual> special_;
  std::map<std::uint32_t, std::uint32_t> branch_table_;  ///< of Function::tables: of the program's
  std::vector<std::uint32_t> local_at_;                  ///< for Function::variables
  std::vector<std::uint64_t> kernel_parameter_at_;       ///< for a kernel's Function::parameters
  std::vector<std::uint32_t> first_operation_;           ///< for each instruction
};

/// Finds the operations that have to be watched for registers of wgmma in flight.
void watch_registers(Program& program, const std::vector<Translator::Slot>& slots,
                     const std::vector<Translator::Reference>& references);

/// Gives places to the registers, so that few bytes are in use at once, and puts them into the
/// operations.
void place_registers(Program& program, std::vector<Translator::Slot>& slots,
                     const std::vector<Translator::Reference>& references);

}  // namespace plumbline::ptx

#endif
