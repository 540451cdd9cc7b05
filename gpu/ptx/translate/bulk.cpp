// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk, cp.reduce.async.bulk and their tensor forms; tensormap.
#include "ptx/execute/bulk.hpp"

#include <algorithm>

#include "ptx/execute/memory_flags.hpp"
#include "ptx/execute/store_async.hpp"
#include "ptx/translate/translator.hpp"

namespace plumbline::ptx {
namespace {

struct Reduction {
  std::string_view name;
  Atomic op;
};
constexpr Reduction reductions[] = {{"add", Atomic::add},       {"min", Atomic::min},
                                    {"max", Atomic::max},       {"inc", Atomic::inc},
                                    {"dec", Atomic::dec},       {"and", Atomic::bitwise_and},
                                    {"or", Atomic::bitwise_or}, {"xor", Atomic::bitwise_xor}};

bool is_place(std::string_view word) {
  return word == "global" || word == "shared::cta" || word == "shared::cluster" || word == "shared";
}

constexpr std::uint8_t most_registers = 16;  ///< that a copy names

}  // namespace

/// An address, whose register becomes the last of the copy's.
BulkCopy::Address Translator::bulk_address(std::vector<Virtual>& registers, const Place& place) {
  BulkCopy::Address address;
  address.base = static_cast<std::uint8_t>(registers.size());
  address.wide = width(place.base) == 8;
  address.space = place.space;
  address.offset = place.offset;
  registers.push_back(place.base);
  return address;
}

void Translator::emit_bulk(Run run, const BulkCopy& copy, const std::vector<Virtual>& registers) {
  shared_.kernel.fixed_granules = true;
  program_.bulk_copies.push_back(copy);
  const std::uint32_t o = emit(run);
  at(o).extra = &program_.bulk_copies.back();
  list(o, most_registers);
  for (std::uint32_t i = 0; i < registers.size(); ++i) use(o, Field::list, registers[i], i);
}

bool Translator::bulk() {
  if ((now_->opcode == "st" || now_->opcode == "red") && has("async")) {
    // [to], value, [mbarrier]
    if (!has("mbarrier::complete_tx::bytes")) lacks();
    const std::vector<Type> all = types();
    expect_operands(3, 3);
    if (all.size() != 1) bad("a type is missing");
    BulkCopy copy;
    std::vector<Virtual> registers;
    std::string_view space = "shared::cluster";
    for (std::size_t i = 0; i < words(); ++i)
      if (is_place(word(i))) space = word(i);
    copy.to = bulk_address(registers, place(operand(0), space));
    copy.barrier = bulk_address(registers, place(operand(2), space));
    copy.element_bytes = bytes_of(all[0]);
    if (copy.element_bytes != 4 && copy.element_bytes != 8) bad("a type of another size");
    copy.coordinates = static_cast<std::uint8_t>(registers.size());
    for (const Operand* part : parts_of(operand(1), all[0])) {
      registers.push_back(source(*part, all[0]));
      ++copy.rank;
    }
    if (copy.rank > 4) bad("a vector of another size");
    if (now_->opcode == "red") {
      for (std::size_t k = 0; k < words(); ++k)
        for (const Reduction& one : reductions)
          if (one.name == word(k)) copy.combine = combination(one.op, all[0]);
      if (!copy.combine) lacks();
    }
    emit_bulk(store_async, copy, registers);
    return true;
  }
  if (now_->opcode != "cp" || !has("async") || !has("bulk") || has("tensor")) return false;
  if (has("commit_group")) {
    emit(bulk_commit);
    return true;
  }
  if (has("wait_group")) {
    if (operand(0).kind != Operand::Kind::integer) bad("a number is missing");
    const std::uint32_t o = emit(bulk_wait);
    at(o).immediate = static_cast<std::int64_t>(operand(0).bits & 0x7fffffff);
    return true;
  }
  if (has("prefetch")) return true;
  if (has("cp_mask") || has("ignore_oob")) lacks();
  std::vector<std::string_view> spaces;  // to, from
  for (std::size_t i = 0; i < words(); ++i)
    if (is_place(word(i))) spaces.push_back(word(i));
  if (spaces.size() != 2) bad("two state spaces are missing");
  const bool to_global = spaces[0] == "global";
  if (to_global == (spaces[1] == "global") && to_global) lacks();
  BulkCopy copy;
  std::vector<Virtual> registers;
  const auto next_word = [&](std::size_t i, Type type) {
    registers.push_back(source(operand(i), type));
    return static_cast<std::uint8_t>(registers.size() - 1);
  };
  copy.to = bulk_address(registers, place(operand(0), spaces[0]));
  copy.from = bulk_address(registers, place(operand(1), spaces[1]));
  copy.size = next_word(2, Type::u32);
  std::size_t i = 3;
  if (!to_global) copy.barrier = bulk_address(registers, place(operand(i++), spaces[0]));
  if (has("multicast::cluster")) copy.mask = next_word(i++, Type::u16);
  if (has("L2::cache_hint")) source(operand(i++), Type::b64);
  expect_operands(i, i);
  if (has("reduce")) {
    const std::vector<Type> all = types();
    const Reduction* row = nullptr;
    for (std::size_t k = 0; k < words(); ++k)
      for (const Reduction& one : reductions)
        if (one.name == word(k)) row = &one;
    if (!row || all.size() != 1) bad("an operation or a type is missing");
    copy.combine = combination(row->op, all[0]);
    copy.element_bytes = bytes_of(all[0]);
    if (!copy.combine) lacks();
    if (to_global) shared_.kernel.ordered = true;
  }
  emit_bulk(to_global ? bulk_to_global : bulk_to_shared, copy, registers);
  return true;
}

bool Translator::tensors() {
  if (now_->opcode == "tensormap") return tensor_map();
  if (now_->opcode != "cp" || !has("async") || !has("bulk") || !has("tensor")) return false;
  BulkCopy copy;
  std::vector<std::string_view> spaces;
  for (std::size_t i = 0; i < words(); ++i) {
    const std::string_view one = word(i);
    if (one.size() == 2 && one[1] == 'd' && one[0] >= '1' && one[0] <= '5')
      copy.rank = static_cast<std::uint8_t>(one[0] - '0');
    if (one.substr(0, 6) == "im2col" || one.substr(0, 6) == "tile::" ||
        one.substr(0, 9) == "cta_group")
      lacks();
    if (is_place(one)) spaces.push_back(one);
    for (const Reduction& row : reductions)
      if (row.name == one) {
        copy.op = row.op;
        copy.reduces = has("reduce");
      }
  }
  if (copy.rank == 0) bad("the tensor's dimensions are missing");
  if (has("reduce") && !copy.reduces) bad("an operation is missing");
  copy.prefetches = has("prefetch");
  copy.loads = !copy.prefetches && !spaces.empty() && spaces[0] != "global";
  std::vector<Virtual> registers;
  // [map, {coordinates}]
  const auto take_map = [&](const Operand& given) {
    if (given.kind != Operand::Kind::address || given.count != 2) bad("coordinates are missing");
    Operand base = given;
    base.count = 1;
    copy.map = bulk_address(registers, place(base, ""));
    if (!copy.map.wide) bad("an address of another size");
    const Operand& vector = child(given, 1);
    copy.coordinates = static_cast<std::uint8_t>(registers.size());
    std::vector<const Operand*> parts;
    if (vector.kind == Operand::Kind::vector)
      for (std::uint32_t i = 0; i < vector.count; ++i) parts.push_back(&child(vector, i));
    else
      parts.push_back(&vector);
    if (parts.size() != copy.rank) bad("a wrong number of coordinates");
    for (const Operand* part : parts) registers.push_back(source(*part, Type::s32));
  };
  std::size_t i = 0;
  if (copy.prefetches) {
    take_map(operand(i++));
  } else if (copy.loads) {
    copy.to = bulk_address(registers, place(operand(i++), spaces[0]));
    take_map(operand(i++));
    copy.barrier = bulk_address(registers, place(operand(i++), spaces[0]));
    if (has("multicast::cluster")) {
      copy.mask = static_cast<std::uint8_t>(registers.size());
      registers.push_back(source(operand(i++), Type::u16));
    }
  } else {
    take_map(operand(i++));
    copy.from = bulk_address(registers, place(operand(i++), "shared::cta"));
    if (copy.reduces) shared_.kernel.ordered = true;
  }
  if (has("L2::cache_hint")) source(operand(i++), Type::b64);
  expect_operands(i, i);
  emit_bulk(tensor_copy, copy, registers);
  return true;
}

bool Translator::tensor_map() {
  if (has("cp_fenceproxy")) {
    expect_operands(3, 3);
    BulkCopy copy;
    std::vector<Virtual> registers;
    copy.to = bulk_address(registers, place(operand(0), "global"));
    copy.from = bulk_address(registers, place(operand(1), "shared::cta"));
    emit_bulk(tensor_map_copy, copy, registers);
    return true;
  }
  if (!has("replace") || !has("tile")) return false;
  struct Named {
    std::string_view name;
    TensorField field;
    bool ordinal;
  };
  static constexpr Named fields[] = {{"global_address", TensorField::global_address, false},
                                     {"rank", TensorField::rank, false},
                                     {"box_dim", TensorField::box_dim, true},
                                     {"global_dim", TensorField::global_dim, true},
                                     {"global_stride", TensorField::global_stride, true},
                                     {"element_stride", TensorField::element_stride, true},
                                     {"elemtype", TensorField::elemtype, false},
                                     {"interleave_layout", TensorField::interleave_layout, false},
                                     {"swizzle_mode", TensorField::swizzle_mode, false},
                                     {"fill_mode", TensorField::fill_mode, false}};
  const Named* found = nullptr;
  std::string_view space;
  for (std::size_t i = 0; i < words(); ++i) {
    for (const Named& one : fields)
      if (one.name == word(i)) found = &one;
    if (is_place(word(i))) space = word(i);
  }
  if (!found) lacks();
  TensorField field = found->field;
  // "in units of 16 bytes" before PTX ISA 8.5
  const bool old =
      module_.version_major < 8 || (module_.version_major == 8 && module_.version_minor < 5);
  if (field == TensorField::global_stride && old) field = TensorField::global_stride_16;
  const std::size_t value = found->ordinal ? 2 : 1;
  expect_operands(value + 1, value + 1);
  std::uint64_t ordinal = 0;
  if (found->ordinal) {
    const std::uint64_t most = found->field == TensorField::global_stride ? 3 : 4;
    if (operand(1).kind != Operand::Kind::integer || operand(1).bits > most)
      bad("an ordinal that is no number up to " + std::to_string(most));
    ordinal = operand(1).bits;
  }
  const Virtual b = source(operand(value), has("b64") ? Type::b64 : Type::b32);
  const bool wide =
      found->field == TensorField::global_address || found->field == TensorField::global_stride;
  if ((width(b) == 8) != wide) bad("a value of another size");
  const Place where = place(operand(0), space);
  const std::uint32_t o = emit(tensor_map_replace);
  apply(o, where);
  use(o, Field::b, b);
  list(o, 2);
  program_.lists[at(o).list] = static_cast<std::uint32_t>(field);
  program_.lists[at(o).list + 1] = static_cast<std::uint32_t>(ordinal);
  return true;
}

}  // namespace plumbline::ptx
