// SPDX-License-Identifier: Apache-2.0
// Registers of 128 bits, which are two of 64: mov, ld, st and atom of .b128.
#include "ptx/execute/atomic.hpp"
#include "ptx/execute/memory_flags.hpp"
#include "ptx/translate/translator.hpp"

namespace plumbline::ptx {

/// The low and the high half of a register of 128 bits, or of a vector {low, high}.
Translator::Halves Translator::halves(const Operand& operand) {
  if (operand.kind == Operand::Kind::vector && operand.count == 2)
    return {source(child(operand, 0), Type::b64), source(child(operand, 1), Type::b64)};
  if (operand.kind != Operand::Kind::reg || slots_[operand.index].bytes != 16)
    bad("a register of 128 bits is missing");
  const auto [place, is_new] = halves_.try_emplace(operand.index);
  if (is_new) {
    place->second.low = temporary(8);
    place->second.high = temporary(8);
  }
  return place->second;
}

bool Translator::wide() {
  const std::string_view name = now_->opcode;
  const std::vector<Type> all = types();
  if (all.size() != 1 || all[0] != Type::b128) return false;
  if (name == "mov") {
    expect_operands(2, 2);
    const Halves from = halves(operand(1)), to = halves(operand(0));
    // Into temporaries first: {a, b} may name what is written.
    const Virtual low = temporary(8), high = temporary(8);
    unary(form(Operator::mov, Type::b64), low, from.low);
    unary(form(Operator::mov, Type::b64), high, from.high);
    unary(form(Operator::mov, Type::b64), to.low, low);
    unary(form(Operator::mov, Type::b64), to.high, high);
    return true;
  }
  const bool loads = name == "ld" || name == "ldu", stores = name == "st";
  const bool exchanges = name == "atom" && has("exch"), compares = name == "atom" && has("cas");
  if (!loads && !stores && !exchanges && !compares) return false;
  const std::size_t values = loads ? 0 : compares ? 2 : 1;
  const std::size_t address = stores ? 0 : 1;
  if (operands() < address + 1 + values) bad("an operand is missing");
  std::string_view space;
  for (std::size_t i = 0; i < words(); ++i) {
    const std::string_view first = word(i).substr(0, word(i).find("::"));
    if (first == "global" || first == "shared" || first == "local" || first == "const" ||
        first == "param")
      space = word(i);
  }
  std::vector<Halves> given;
  for (std::size_t i = 0; i < values; ++i) given.push_back(halves(operand(address + 1 + i)));
  const Place where = place(operand(address), space);
  std::uint32_t o = 0;
  if (loads || stores) {
    Form how = form(loads ? Operator::load : Operator::store, Type::b64);
    how.register_bits = 64;
    o = emit(how);
  } else {
    o = emit(exchanges ? atomic(Atomic::exch, Type::b64) : compare_and_swap_128);
  }
  apply(o, where);
  if (loads || stores) at(o).flags |= strength();
  const bool strong = exchanges || compares || at(o).flags & memory_strong;
  if (strong && loads) at(o).flags |= memory_poll;
  if (strong && where.space != memory_shared) shared_.kernel.ordered = true;
  list(o, 2 * values + (stores ? 0 : 2));
  std::uint32_t index = 0;
  for (const Halves& one : given) {
    use(o, Field::list, one.low, index++);
    use(o, Field::list, one.high, index++);
  }
  if (!stores) {
    const Halves d = halves(operand(0));
    define(o, Field::list, d.low, index++);
    define(o, Field::list, d.high, index);
  }
  return true;
}

}  // namespace plumbline::ptx
