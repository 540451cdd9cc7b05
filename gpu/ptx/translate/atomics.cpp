// SPDX-License-Identifier: Apache-2.0
// atom and red.
#include "ptx/execute/atomic.hpp"

#include "ptx/execute/memory_flags.hpp"
#include "ptx/translate/translator.hpp"

namespace plumbline::ptx {

bool Translator::atomics() {
  const std::string_view name = now_->opcode;
  if (name != "atom" && name != "red") return false;
  if (has("async")) return false;
  struct Row {
    std::string_view name;
    Atomic op;
  };
  static constexpr Row rows[] = {{"add", Atomic::add},       {"min", Atomic::min},
                                 {"max", Atomic::max},       {"inc", Atomic::inc},
                                 {"dec", Atomic::dec},       {"and", Atomic::bitwise_and},
                                 {"or", Atomic::bitwise_or}, {"xor", Atomic::bitwise_xor},
                                 {"exch", Atomic::exch},     {"cas", Atomic::cas}};
  const Row* row = nullptr;
  std::string_view space;
  for (std::size_t i = 0; i < words(); ++i) {
    for (const Row& one : rows)
      if (one.name == word(i)) row = &one;
    const std::string_view first = word(i).substr(0, word(i).find("::"));
    if (first == "global" || first == "shared") space = word(i);
  }
  const std::vector<Type> all = types();
  if (!row || all.size() != 1) bad("an operation or a type is missing");
  const Run run = atomic(row->op, all[0]);
  if (!run) lacks();
  const bool gives = name == "atom";
  const std::size_t first = gives ? 1 : 0;
  const std::size_t needed = row->op == Atomic::cas ? 2 : 1;
  if (operands() < first + 1 + needed) bad("an operand is missing");

  std::vector<Virtual> values, results;
  const unsigned bytes = bits_of(all[0]) == 64 ? 8 : 4;
  const auto each = [&](const Operand& operand, auto take) {
    if (operand.kind == Operand::Kind::vector)
      for (std::uint32_t i = 0; i < operand.count; ++i) take(child(operand, i));
    else
      take(operand);
  };
  for (std::size_t i = 0; i < needed; ++i)
    each(operand(first + 1 + i),
         [&](const Operand& one) { values.push_back(source_bytes(one, bytes, all[0])); });
  if (gives)
    each(operand(0), [&](const Operand& one) {
      results.push_back(one.kind == Operand::Kind::none ? nothing : destination(one, all[0]));
    });
  const std::size_t elements = row->op == Atomic::cas ? 1 : values.size();
  results.resize(elements, nothing);
  if (values.size() * bits_of(all[0]) > 256) bad("a vector of another size");
  const Place where = place(operand(first), space);
  const std::uint32_t o = emit(run);
  apply(o, where);
  list(o, row->op == Atomic::cas ? 3 : 2 * elements);
  for (std::uint32_t i = 0; i < values.size(); ++i) use(o, Field::list, values[i], i);
  for (std::uint32_t i = 0; i < results.size(); ++i)
    define(o, Field::list, results[i], static_cast<std::uint32_t>(values.size()) + i);
  if (where.space != memory_shared && where.space != memory_cluster) shared_.kernel.ordered = true;
  if (where.space != memory_global)
    shared_.kernel.granule = std::min(shared_.kernel.granule, bytes_of(all[0]) == 2 ? 1u : 2u);
  return true;
}

}  // namespace plumbline::ptx
