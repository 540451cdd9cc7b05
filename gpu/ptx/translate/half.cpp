// SPDX-License-Identifier: Apache-2.0
// f16, bf16 and their pairs.
#include "ptx/translate/translator.hpp"

namespace plumbline::ptx {
namespace {

bool is_half(Type type) { return type >= Type::f16 && type <= Type::bf16x2; }

}  // namespace

bool Translator::half() {
  const std::string_view name = now_->opcode;
  const std::vector<Type> all = types();
  if (all.empty() || !is_half(all.back())) return false;
  const Type type = all.back();
  if (name == "setp" || name == "set") {
    half_compare(all.front(), type);
    return true;
  }
  if (all.size() != 1) return false;
  struct Row {
    std::string_view name;
    Operator op;
    std::size_t sources;
  };
  static constexpr Row rows[] = {{"add", Operator::add, 2},    {"sub", Operator::sub, 2},
                                 {"mul", Operator::mul_lo, 2}, {"fma", Operator::fma, 3},
                                 {"neg", Operator::neg, 1},    {"abs", Operator::abs, 1},
                                 {"min", Operator::min, 2},    {"max", Operator::max, 2}};
  for (const Row& row : rows) {
    if (row.name != name) continue;
    if (has("oob")) lacks();
    const Form how = form(row.op, type);
    same_type(row.op, type, row.sources);
    Operation& o = program_.operations.back();
    o.flags = static_cast<std::uint8_t>((how.ftz ? 1 : 0) | (how.sat ? 2 : 0) | (how.relu ? 4 : 0) |
                                        (how.nan ? 8 : 0) | (how.xorsign ? 16 : 0));
    // What is not given is read all the same, and not used.
    const auto index = static_cast<std::uint32_t>(program_.operations.size() - 1);
    if (row.sources < 2) use(index, Field::b, source(operand(1), type));
    if (row.sources < 3) use(index, Field::c, source(operand(1), type));
    return true;
  }
  return false;
}

void Translator::half_compare(Type to, Type from) {
  const bool is_set = now_->opcode == "set", pair = bits_of(from) == 32;
  Form how = form(is_set ? Operator::set : Operator::setp, to);
  how.from = from;
  how.compare = comparison();
  const std::uint8_t boolean = has("and") ? 1 : has("or") ? 2 : has("xor") ? 3 : 0;
  expect_operands(boolean ? 4 : 3, boolean ? 4 : 3);
  const Virtual a = source(operand(1), from), b = source(operand(2), from);
  const std::uint32_t o = emit(how);
  std::uint64_t immediate = 0;
  if (is_set) {
    define(o, Field::d, destination(operand(0), to));
    const std::uint64_t yes = to == Type::f32      ? 0x3f800000u
                              : to == Type::f16    ? 0x3c00u
                              : to == Type::bf16   ? 0x3f80u
                              : to == Type::f16x2  ? 0x3c003c00u
                              : to == Type::bf16x2 ? 0x3f803f80u
                                                   : 0xffffffffu;
    if (pair != (to == Type::f16x2 || to == Type::bf16x2) && pair) lacks();
    immediate = yes << 32;
  } else if (operand(0).kind == Operand::Kind::pair) {
    const Operand &p = child(operand(0), 0), &q = child(operand(0), 1);
    define(o, Field::d, p.kind == Operand::Kind::none ? nothing : predicate(p));
    define(o, Field::target, q.kind == Operand::Kind::none ? nothing : predicate(q));
  } else {
    define(o, Field::d, predicate(operand(0)));
  }
  use(o, Field::a, a);
  use(o, Field::b, b);
  if (boolean) {
    const Operand& c = operand(3);
    use(o, Field::c, source_predicate(c));
    immediate |= c.negated ? 0xffffffffu : 0;
  }
  at(o).immediate = static_cast<std::int64_t>(immediate);
  at(o).flags = static_cast<std::uint8_t>(boolean | (how.ftz ? 4 : 0));
  at(o).count = static_cast<std::uint16_t>(how.compare);
}

}  // namespace plumbline::ptx
