// SPDX-License-Identifier: Apache-2.0
// Logic, shifts, bit fields, dot products of bytes, sums with a carry.
#include "ptx/translate/translator.hpp"

namespace plumbline::ptx {

bool Translator::bits() {
  const std::string_view name = now_->opcode;
  const std::vector<Type> all = types();
  if (all.empty()) return false;
  const Type type = all.back();
  if (has("cc") || name == "addc" || name == "subc" || name == "madc") {
    carry(type);
    return true;
  }
  struct Row {
    std::string_view name;
    Operator op;
    std::size_t sources;  ///< of the type
    std::size_t numbers;  ///< further ones, of u32
    bool to_u32;
  };
  static constexpr Row rows[] = {
      {"and", Operator::bitwise_and, 2, 0, false},  {"or", Operator::bitwise_or, 2, 0, false},
      {"xor", Operator::bitwise_xor, 2, 0, false},  {"not", Operator::bitwise_not, 1, 0, false},
      {"cnot", Operator::cnot, 1, 0, false},        {"shl", Operator::shl, 1, 1, false},
      {"shr", Operator::shr, 1, 1, false},          {"popc", Operator::popc, 1, 0, true},
      {"clz", Operator::clz, 1, 0, true},           {"brev", Operator::brev, 1, 0, false},
      {"bfe", Operator::bfe, 1, 2, false},          {"bfi", Operator::bfi, 2, 2, false},
      {"bfind", Operator::bfind, 1, 0, true},       {"fns", Operator::fns, 1, 2, true},
      {"lop3", Operator::lop3, 3, 0, false},        {"prmt", Operator::prmt, 3, 0, false},
      {"szext", Operator::szext_wrap, 1, 1, false}, {"bmsk", Operator::bmsk_wrap, 2, 0, false},
      {"shf", Operator::shf_l_wrap, 3, 0, false},   {"dp4a", Operator::dp4a, 3, 0, false},
      {"dp2a", Operator::dp2a_lo, 3, 0, false}};
  for (const Row& row : rows) {
    if (row.name != name) continue;
    Form how = form(row.op, type);
    std::size_t sources = row.sources;
    bool tested = false;  // with a predicate
    switch (row.op) {
      case Operator::bfind:
        if (has("shiftamt")) how.op = Operator::bfind_shiftamt;
        break;
      case Operator::szext_wrap:
        if (has("clamp")) how.op = Operator::szext_clamp;
        break;
      case Operator::bmsk_wrap:
        if (has("clamp")) how.op = Operator::bmsk_clamp;
        break;
      case Operator::shf_l_wrap:
        how.op = has("l") ? (has("clamp") ? Operator::shf_l_clamp : Operator::shf_l_wrap)
                          : (has("clamp") ? Operator::shf_r_clamp : Operator::shf_r_wrap);
        break;
      case Operator::prmt:
        how.op = prmt_mode();
        break;
      case Operator::dp2a_lo:
        if (has("hi")) how.op = Operator::dp2a_hi;
        [[fallthrough]];
      case Operator::dp4a:
        if (all.size() != 2) bad("two types are missing");
        how.type = all[0];
        how.from = all[1];
        break;
      case Operator::lop3:
        tested = word(0) == "and" || word(0) == "or";
        break;
      default:
        break;
    }
    const std::size_t table = row.op == Operator::lop3 ? (tested ? 2 : 1) : 0;
    expect_operands(1 + sources + row.numbers + table, 1 + sources + row.numbers + table);
    if (tested && operand(0).kind != Operand::Kind::pair) bad("a predicate is missing");
    const Operand& result = tested ? child(operand(0), 0) : operand(0);
    const Virtual d = tested && result.kind == Operand::Kind::none
                          ? temporary(4)
                          : destination(result, row.to_u32 ? Type::u32 : how.type);
    const std::uint32_t o = emit(how);
    define(o, Field::d, d);
    constexpr Field fields[] = {Field::a, Field::b, Field::c, Field::target};
    for (std::size_t i = 0; i < sources; ++i) {
      const bool c_of_dot = row.op == Operator::dp4a || row.op == Operator::dp2a_lo;
      use(o, fields[i], source(operand(i + 1), c_of_dot ? Type::b32 : how.type));
    }
    for (std::size_t i = sources; i < sources + row.numbers; ++i)
      use(o, fields[i], source(operand(i + 1), Type::u32));
    if (table) {
      if (operand(4).kind != Operand::Kind::integer) bad("a table is missing");
      at(o).immediate = static_cast<std::int64_t>(operand(4).bits & 255);
    }
    if (tested) {  // p = (d != 0) and q
      Form test = form(Operator::setp, Type::b32);
      test.from = Type::b32;
      test.compare = Compare::ne;
      const std::uint32_t p = emit(test);
      const Operand& q = operand(5);
      define(p, Field::d, predicate(child(operand(0), 1)));
      use(p, Field::a, d);
      use(p, Field::b, constant(0, 4));
      use(p, Field::c, source_predicate(q));
      at(p).immediate = q.negated ? 0xffffffff : 0;
      at(p).flags = has("and") ? 1 : 2;
    }
    return true;
  }
  return false;
}

Operator Translator::prmt_mode() const {
  struct Row {
    std::string_view name;
    Operator op;
  };
  static constexpr Row rows[] = {{"f4e", Operator::prmt_f4e}, {"b4e", Operator::prmt_b4e},
                                 {"rc8", Operator::prmt_rc8}, {"ecl", Operator::prmt_ecl},
                                 {"ecr", Operator::prmt_ecr}, {"rc16", Operator::prmt_rc16}};
  for (const Row& row : rows)
    if (has(row.name)) return row.op;
  return Operator::prmt;
}

/// add.cc, addc, sub.cc, subc, mad.cc, madc: the carry is a register of its own.
void Translator::carry(Type type) {
  const std::string_view name = now_->opcode;
  if (carry_ == nothing) {
    carry_ = temporary(0);
  }
  const bool mad = name.substr(0, 3) == "mad", subtract = name.substr(0, 3) == "sub";
  const bool in = name.back() == 'c', out = has("cc");
  Form how = form(mad        ? (has("hi") ? Operator::mad_hi_carry : Operator::mad_lo_carry)
                  : subtract ? Operator::sub_carry
                             : Operator::add_carry,
                  type);
  expect_operands(mad ? 4 : 3, mad ? 4 : 3);
  const std::uint32_t o = emit(how);
  define(o, Field::d, destination(operand(0), type));
  use(o, Field::a, source(operand(1), type));
  use(o, Field::b, source(operand(2), type));
  if (mad) use(o, Field::c, source(operand(3), type));
  use(o, Field::target, carry_);
  if (out) define(o, Field::target, carry_);
  at(o).flags = static_cast<std::uint8_t>((in ? 1 : 0) | (out ? 2 : 0));
}

}  // namespace plumbline::ptx
