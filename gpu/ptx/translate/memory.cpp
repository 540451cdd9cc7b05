// SPDX-License-Identifier: Apache-2.0
// ld and st: addresses, spaces, vectors.
#include "ptx/execute/memory_flags.hpp"
#include "ptx/translate/translator.hpp"

namespace plumbline::ptx {
namespace {

/// The first part of "shared::cta".
std::string_view before_colons(std::string_view word) { return word.substr(0, word.find("::")); }

bool is_space(std::string_view word) {
  return word == "global" || word == "shared" || word == "local" || word == "const" ||
         word == "param";
}

}  // namespace

/// Where an address operand points. `space` is the instruction's word, or empty.
Translator::Place Translator::place(const Operand& address, std::string_view space) {
  if (address.kind != Operand::Kind::address || address.count != 1) bad("an address is missing");
  const bool cluster = space == "shared::cluster";
  space = before_colons(space);
  Place place;
  const Operand& base = child(address, 0);
  place.offset = static_cast<std::int64_t>(address.bits);
  place.space = space == "global" || space == "const" ? memory_global
                : cluster                             ? memory_cluster
                : space == "shared"                   ? memory_shared
                : space == "local"                    ? memory_local
                                                      : memory_generic;
  if (space == "param") place.space = function_.entry ? memory_global : memory_local;
  switch (base.kind) {
    case Operand::Kind::reg:
      if (slots_[base.index].bytes != 4 && slots_[base.index].bytes != 8)
        bad("an address of another size");
      place.base = base.index;
      place.offset += static_cast<std::int64_t>(base.bits);
      break;
    case Operand::Kind::integer:
      place.base = constant(0, 8);
      place.offset += static_cast<std::int64_t>(base.bits);
      break;
    case Operand::Kind::variable:
      if (space == "param") place.space = memory_local;
      [[fallthrough]];
    case Operand::Kind::module_variable:
    case Operand::Kind::parameter:
    case Operand::Kind::result:
      place.base = address_of(base, 8);
      break;
    default:
      bad("an address of another kind");
  }
  return place;
}

void Translator::apply(std::uint32_t operation, const Place& place) {
  use(operation, Field::a, place.base);
  Operation& o = at(operation);
  o.immediate = place.offset;
  o.c = place.space;
  if (width(place.base) == 8) o.flags |= memory_wide;
  o.site = shared_.kernel.sites++;
}

/// Flags of a ld, st, atom or red by its words.
std::uint8_t Translator::strength() {
  const bool strong = has("volatile") || has("relaxed") || has("acquire") || has("release") ||
                      has("acq_rel") || has("mmio");
  return strong ? memory_strong : std::uint8_t{0};
}

std::vector<const Operand*> Translator::parts_of(const Operand& given, Type type) {
  std::vector<const Operand*> parts;
  if (given.kind == Operand::Kind::vector)
    for (std::uint32_t i = 0; i < given.count; ++i) parts.push_back(&child(given, i));
  else
    parts.push_back(&given);
  if (bits_of(type) > 64) lacks();
  if (parts.size() * bits_of(type) > 256 || parts.empty() || (parts.size() & (parts.size() - 1)))
    bad("a vector of another size");
  return parts;
}

void Translator::load() {
  const std::vector<Type> all = types();
  if (all.size() != 1 || operands() < 2) bad("a type or an operand is missing");
  const Type type = all[0];
  std::string_view space;
  for (std::size_t i = 0; i < words(); ++i)
    if (is_space(before_colons(word(i)))) space = word(i);
  const std::vector<const Operand*> parts = parts_of(operand(0), type);
  unsigned register_bytes = 0;
  for (const Operand* part : parts) {
    if (part->kind == Operand::Kind::none) continue;
    if (part->kind != Operand::Kind::reg) bad("a register is missing");
    const unsigned bytes = slots_[part->index].bytes;
    if (bytes != 4 && bytes != 8) bad("a register of another size");
    if (register_bytes && register_bytes != bytes) bad("registers of several sizes");
    register_bytes = bytes;
  }
  if (register_bytes == 0) register_bytes = bits_of(type) == 64 ? 8 : 4;
  if (register_bytes == 4 && bits_of(type) > 32) bad("a register that is too small");

  const Operand& address = operand(1);
  const bool parameter = function_.entry && before_colons(space) == "param" &&
                         address.kind == Operand::Kind::address && address.count == 1 &&
                         child(address, 0).kind == Operand::Kind::parameter;
  Form how = form(parameter ? Operator::load_param : Operator::load, type);
  how.register_bits = static_cast<std::uint8_t>(8 * register_bytes);
  std::uint32_t o = 0;
  if (parameter) {
    std::uint64_t at_byte = 0, size = 0;
    for (std::uint32_t i = 0; i <= child(address, 0).index; ++i) {
      const Variable& one = function_.parameters[i];
      at_byte = (at_byte + one.align - 1) / one.align * one.align;
      size = one.bytes;
      if (i < child(address, 0).index) at_byte += one.bytes;
    }
    const std::uint64_t inside = address.bits + child(address, 0).bits;
    const std::uint64_t bytes = parts.size() * bytes_of(type);
    if (inside > size || size - inside < bytes) bad("bytes that the parameter does not have");
    o = emit(how);
    at(o).immediate = static_cast<std::int64_t>(at_byte + inside);
  } else {
    const Place where = place(address, space);
    o = emit(how);
    apply(o, where);
    at(o).flags |= strength();
    if (at(o).flags & memory_strong) {
      at(o).flags |= memory_poll;
      if (where.space == memory_global || where.space == memory_generic)
        shared_.kernel.ordered = true;
    }
    if (where.space != memory_global && where.space != memory_local)
      shared_.kernel.granule = std::min(shared_.kernel.granule, bytes_of(type) == 1   ? 0u
                                                                : bytes_of(type) == 2 ? 1u
                                                                                      : 2u);
  }
  if (is_signed(type)) at(o).flags |= memory_signed;
  list(o, parts.size());
  for (std::uint32_t i = 0; i < parts.size(); ++i)
    define(o, Field::list, parts[i]->kind == Operand::Kind::none ? nothing : parts[i]->index, i);
}

void Translator::store() {
  const std::vector<Type> all = types();
  if (all.size() != 1 || operands() < 2) bad("a type or an operand is missing");
  const Type type = all[0];
  std::string_view space;
  for (std::size_t i = 0; i < words(); ++i)
    if (is_space(before_colons(word(i)))) space = word(i);
  const std::vector<const Operand*> parts = parts_of(operand(1), type);
  unsigned register_bytes = 0;
  for (const Operand* part : parts)
    if (part->kind == Operand::Kind::reg) {
      if (register_bytes && register_bytes != slots_[part->index].bytes)
        bad("registers of several sizes");
      register_bytes = slots_[part->index].bytes;
    }
  if (register_bytes == 0) register_bytes = bits_of(type) == 64 ? 8 : 4;
  if (register_bytes == 4 && bits_of(type) > 32) bad("a register that is too small");
  std::vector<Virtual> values;
  for (const Operand* part : parts) values.push_back(source_bytes(*part, register_bytes, type));
  const Place where = place(operand(0), space);
  Form how = form(Operator::store, type);
  how.register_bits = static_cast<std::uint8_t>(8 * register_bytes);
  const std::uint32_t o = emit(how);
  apply(o, where);
  at(o).flags |= strength();
  if (at(o).flags & memory_strong &&
      (where.space == memory_global || where.space == memory_generic))
    shared_.kernel.ordered = true;
  if (where.space != memory_global && where.space != memory_local)
    shared_.kernel.granule = std::min(shared_.kernel.granule, bytes_of(type) == 1   ? 0u
                                                              : bytes_of(type) == 2 ? 1u
                                                                                    : 2u);
  list(o, parts.size());
  for (std::uint32_t i = 0; i < parts.size(); ++i) use(o, Field::list, values[i], i);
}

bool Translator::memory() {
  const std::string_view name = now_->opcode;
  if (name == "ld" || name == "ldu") {
    load();
    return true;
  }
  if (name == "st" && !has("async")) {
    store();
    return true;
  }
  // A policy of the cache changes nothing that is read.
  if (name == "createpolicy") {
    unary(form(Operator::mov, Type::b64), destination(operand(0), Type::b64), constant(0, 8));
    return true;
  }
  return name == "prefetch" || name == "prefetchu" || name == "applypriority" || name == "discard";
}

}  // namespace plumbline::ptx
