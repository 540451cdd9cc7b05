// SPDX-License-Identifier: Apache-2.0
// What all handlers of instructions need: words, operands, operations.
#include <bit>

#include "ptx/memory/shared.hpp"
#include "ptx/read/place.hpp"
#include "ptx/read/special.hpp"
#include "ptx/translate/translator.hpp"

namespace plumbline::ptx {

bool Translator::has(std::string_view word) const {
  for (std::uint32_t i = 0; i < now_->modifiers; ++i)
    if (function_.modifiers[now_->first_modifier + i] == word) return true;
  return false;
}

std::string_view Translator::word(std::size_t i) const {
  return i < now_->modifiers ? function_.modifiers[now_->first_modifier + i] : std::string_view{};
}

std::vector<Type> Translator::types() const {
  std::vector<Type> all;
  for (std::uint32_t i = 0; i < now_->modifiers; ++i) {
    const Type type = type_of(function_.modifiers[now_->first_modifier + i]);
    if (type != Type::none) all.push_back(type);
  }
  return all;
}

const Operand& Translator::operand(std::size_t i) const {
  if (i >= now_->operands) bad("an operand is missing");
  return function_.operands[now_->first_operand + i];
}

void Translator::lacks() const {
  throw Missing("PTX line " + std::to_string(now_->line) + ": " + on_one_line(now_->text));
}

void Translator::bad(const std::string& text) const {
  throw BadPtx(now_->line, text + ": " + on_one_line(now_->text));
}

void Translator::expect_operands(std::size_t least, std::size_t most) const {
  if (operands() < least || operands() > most) bad("a wrong number of operands");
}

Form Translator::form(Operator op, Type type) const {
  Form form;
  form.op = op;
  form.type = type;
  for (std::uint32_t i = 0; i < now_->modifiers; ++i) {
    const std::string_view word = function_.modifiers[now_->first_modifier + i];
    if (word == "ftz")
      form.ftz = true;
    else if (word == "sat")
      form.sat = true;
    else if (word == "NaN")
      form.nan = true;
    else if (word == "xorsign")
      form.xorsign = true;
    else if (word == "relu")
      form.relu = true;
    else if (word == "approx")
      form.approximate = true;
    else if (word == "full")
      form.full = true;
    else if (word == "rn")
      form.round = Round::rn;
    else if (word == "rz")
      form.round = Round::rz;
    else if (word == "rm")
      form.round = Round::rm;
    else if (word == "rp")
      form.round = Round::rp;
  }
  return form;
}

Virtual Translator::temporary(unsigned bytes) {
  Slot slot;
  slot.bytes = static_cast<std::uint8_t>(bytes);
  slots_.push_back(slot);
  return static_cast<Virtual>(slots_.size() - 1);
}

Virtual Translator::constant(std::uint64_t bits, unsigned bytes) {
  if (bytes == 4) bits &= 0xffffffffu;
  const auto [place, is_new] = constants_.emplace(std::make_pair(bits, bytes), nothing);
  if (is_new) {
    place->second = temporary(bytes);
    slots_[place->second].fixed = true;
    constant_list_.emplace_back(place->second, bits);
  }
  return place->second;
}

Virtual Translator::special(Special which, unsigned axis, unsigned bytes, std::uint64_t add) {
  const auto [place, is_new] = special_.emplace(std::tuple{which, axis, add, bytes}, nothing);
  if (is_new) {
    place->second = temporary(bytes);
    slots_[place->second].fixed = true;
    specials_.push_back({place->second, which, static_cast<std::uint8_t>(axis), add});
  }
  return place->second;
}

Virtual Translator::special(const Operand& operand, unsigned bytes) {
  struct Row {
    std::string_view name;
    Special which;
  };
  static constexpr Row rows[] = {{"%tid", Special::tid},
                                 {"%ntid", Special::ntid},
                                 {"%ctaid", Special::ctaid},
                                 {"%nctaid", Special::nctaid},
                                 {"%laneid", Special::laneid},
                                 {"%warpid", Special::warpid},
                                 {"%nwarpid", Special::nwarpid},
                                 {"%smid", Special::smid},
                                 {"%nsmid", Special::nsmid},
                                 {"%gridid", Special::gridid},
                                 {"%lanemask_eq", Special::lanemask_eq},
                                 {"%lanemask_le", Special::lanemask_le},
                                 {"%lanemask_lt", Special::lanemask_lt},
                                 {"%lanemask_ge", Special::lanemask_ge},
                                 {"%lanemask_gt", Special::lanemask_gt},
                                 {"%clusterid", Special::clusterid},
                                 {"%nclusterid", Special::nclusterid},
                                 {"%cluster_ctaid", Special::cluster_ctaid},
                                 {"%cluster_nctaid", Special::cluster_nctaid},
                                 {"%cluster_ctarank", Special::cluster_ctarank},
                                 {"%cluster_nctarank", Special::cluster_nctarank},
                                 {"%is_explicit_cluster", Special::is_explicit_cluster},
                                 {"%dynamic_smem_size", Special::dynamic_shared},
                                 {"%total_smem_size", Special::total_shared},
                                 {"%aggr_smem_size", Special::total_shared},
                                 {"%current_graph_exec", Special::zero}};
  for (const Row& row : rows)
    if (row.name == operand.name) {
      if (is_special_vector(row.name) && operand.index == 0) bad("a component is missing");
      return special(row.which, operand.index ? operand.index - 1 : 0, bytes);
    }
  // What cooperative groups read: the address of the grid's barrier.
  if (operand.name == "%envreg1") return special(Special::grid_workspace_high, 0, bytes);
  if (operand.name == "%envreg2") return special(Special::grid_workspace_low, 0, bytes);
  if (operand.name.substr(0, 7) == "%envreg") return special(Special::zero, 0, bytes);
  lacks();
}

Virtual Translator::predicate(const Operand& operand) const {
  if (operand.kind != Operand::Kind::reg || slots_[operand.index].bytes != 0)
    bad("a predicate is missing");
  return operand.index;
}

Virtual Translator::destination(const Operand& operand, Type type) const {
  if (operand.kind != Operand::Kind::reg) bad("a register is missing");
  const unsigned bits = bits_of(type), bytes = bits <= 32 ? 4 : bits / 8;
  if (slots_[operand.index].bytes != bytes) bad("a register of another size");
  return operand.index;
}

Virtual Translator::source(const Operand& operand, Type type) {
  const unsigned bits = bits_of(type);
  return source_bytes(operand, bits <= 32 ? 4 : bits / 8, type);
}

Virtual Translator::source_bytes(const Operand& operand, unsigned bytes, Type type) {
  switch (operand.kind) {
    case Operand::Kind::reg:
      if (slots_[operand.index].bytes != bytes) bad("a register of another size");
      return operand.index;
    case Operand::Kind::special:
      return special(operand, bytes);
    case Operand::Kind::integer:
      if (type == Type::f32)
        return constant(std::bit_cast<std::uint32_t>(
                            static_cast<float>(static_cast<std::int64_t>(operand.bits))),
                        4);
      if (type == Type::f64)
        return constant(std::bit_cast<std::uint64_t>(
                            static_cast<double>(static_cast<std::int64_t>(operand.bits))),
                        8);
      return constant(operand.bits, bytes);
    case Operand::Kind::real:
      if (bytes == 8)
        return constant(operand.single
                            ? std::bit_cast<std::uint64_t>(static_cast<double>(
                                  std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits))))
                            : operand.bits,
                        8);
      return constant(operand.single ? operand.bits
                                     : std::bit_cast<std::uint32_t>(
                                           static_cast<float>(std::bit_cast<double>(operand.bits))),
                      4);
    case Operand::Kind::variable:
    case Operand::Kind::module_variable:
    case Operand::Kind::parameter:
    case Operand::Kind::result:
    case Operand::Kind::function:
      return address_of(operand, bytes);
    default:
      bad("an operand of another kind");
  }
}

Virtual Translator::local_address(std::uint64_t offset, unsigned bytes) {
  return function_.entry ? constant(offset, bytes) : special(Special::frame, 0, bytes, offset);
}

Virtual Translator::address_of(const Operand& operand, unsigned bytes) {
  switch (operand.kind) {
    case Operand::Kind::module_variable: {
      const Variable& variable = module_.variables[operand.index];
      if (variable.space == Space::shared)
        return constant(shared_.shared_at.at(&variable) + operand.bits, bytes);
      if (shared_.layout.variables[operand.index] == 0)
        throw Missing("PTX line " + std::to_string(now_->line) + ": " + std::string(variable.name) +
                      " is not defined in the module");
      return constant(shared_.layout.variables[operand.index] + operand.bits, bytes);
    }
    case Operand::Kind::variable: {
      const Variable& variable = function_.variables[operand.index];
      if (variable.space == Space::shared)
        return constant(shared_.shared_at.at(&variable) + operand.bits, bytes);
      if (variable.space != Space::local && variable.space != Space::param) lacks();
      return local_address(local_at_[operand.index] + operand.bits, bytes);
    }
    case Operand::Kind::parameter: {
      if (!function_.entry)
        return local_address(program_.parameter_at[operand.index] + operand.bits, bytes);
      return special(Special::parameters, 0, bytes,
                     kernel_parameter_at_[operand.index] + operand.bits);
    }
    case Operand::Kind::result:
      return local_address(program_.result_at[operand.index] + operand.bits, bytes);
    case Operand::Kind::function:
      return constant(operand.index + 1, bytes);
    default:
      bad("an address is missing");
  }
}

Virtual Translator::source_predicate(const Operand& operand) {
  if (operand.kind == Operand::Kind::integer) return constant(operand.bits ? ~0u : 0, 4);
  // The only special register that is a predicate.
  if (operand.kind == Operand::Kind::special && operand.name == "%is_explicit_cluster")
    return special(Special::is_explicit_cluster, 0, 0);
  return predicate(operand);
}

std::uint32_t Translator::emit(const Form& form) {
  const Run run = select(form);
  if (!run) lacks();
  return emit(run);
}

std::uint32_t Translator::emit(Run run, Flow flow) {
  Operation operation;
  operation.run = run;
  operation.flow = flow;
  operation.target = ~0u;
  program_.operations.push_back(operation);
  return static_cast<std::uint32_t>(program_.operations.size() - 1);
}

void Translator::set(std::uint32_t operation, Field field, std::uint32_t value,
                     std::uint32_t index) {
  Operation& o = at(operation);
  switch (field) {
    case Field::d:
      o.d = value;
      break;
    case Field::a:
      o.a = value;
      break;
    case Field::b:
      o.b = value;
      break;
    case Field::c:
      o.c = value;
      break;
    case Field::target:
      o.target = value;
      break;
    case Field::guard:
      o.guard = value;
      break;
    case Field::list:
      program_.lists[o.list + index] = value;
      break;
  }
}

void Translator::define(std::uint32_t operation, Field field, Virtual reg, std::uint32_t index) {
  set(operation, field, reg, index);
  if (reg == nothing) return;
  references_.push_back({operation, index, reg, field, true});
  std::erase_if(products_, [&](const Product& product) {
    return product.d == reg || product.a == reg || product.b == reg;
  });
}

void Translator::use(std::uint32_t operation, Field field, Virtual reg, std::uint32_t index) {
  set(operation, field, reg, index);
  if (reg != nothing) references_.push_back({operation, index, reg, field, false});
}

void Translator::list(std::uint32_t operation, std::size_t count) {
  at(operation).list = static_cast<std::uint32_t>(program_.lists.size());
  at(operation).count = static_cast<std::uint16_t>(count);
  program_.lists.resize(program_.lists.size() + count, ~0u);
}

std::uint32_t Translator::unary(const Form& form, Virtual d, Virtual a) {
  const std::uint32_t o = emit(form);
  define(o, Field::d, d);
  use(o, Field::a, a);
  return o;
}

std::uint32_t Translator::binary(const Form& form, Virtual d, Virtual a, Virtual b) {
  const std::uint32_t o = unary(form, d, a);
  use(o, Field::b, b);
  return o;
}

}  // namespace plumbline::ptx
