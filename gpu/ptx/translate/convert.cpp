// SPDX-License-Identifier: Apache-2.0
// cvt: the executor's own conversions, or those of arithmetic/convert.hpp.
#include "ptx/arithmetic/convert.hpp"

#include "ptx/execute/calls.hpp"
#include "ptx/translate/translator.hpp"

namespace plumbline::ptx {
namespace {

struct Row {
  Type type;
  arithmetic::Type same;
};
constexpr Row rows[] = {
    {Type::u8, arithmetic::Type::u8},         {Type::u16, arithmetic::Type::u16},
    {Type::u32, arithmetic::Type::u32},       {Type::u64, arithmetic::Type::u64},
    {Type::s8, arithmetic::Type::s8},         {Type::s16, arithmetic::Type::s16},
    {Type::s32, arithmetic::Type::s32},       {Type::s64, arithmetic::Type::s64},
    {Type::f16, arithmetic::Type::f16},       {Type::bf16, arithmetic::Type::bf16},
    {Type::tf32, arithmetic::Type::tf32},     {Type::f32, arithmetic::Type::f32},
    {Type::f64, arithmetic::Type::f64},       {Type::f16x2, arithmetic::Type::f16x2},
    {Type::bf16x2, arithmetic::Type::bf16x2}, {Type::e4m3x2, arithmetic::Type::e4m3x2},
    {Type::e5m2x2, arithmetic::Type::e5m2x2}};

bool known(Type type, arithmetic::Type& same) {
  for (const Row& row : rows)
    if (row.type == type) {
      same = row.same;
      return true;
    }
  return false;
}

bool is_integer(Type type) { return type >= Type::u8 && type <= Type::s64; }

}  // namespace

bool Translator::convert() {
  if (now_->opcode != "cvt" || has("pack")) return false;
  const std::vector<Type> all = types();
  if (all.size() != 2) bad("two types are missing");
  const Type to = all[0], from = all[1];
  expect_operands(2, 3);
  const unsigned to_bytes = bits_of(to) <= 32 ? 4 : 8, from_bytes = bits_of(from) <= 32 ? 4 : 8;

  // Registers may be wider than the types.
  const auto given = [&](std::size_t i) {
    const Operand& a = operand(i);
    if (a.kind != Operand::Kind::reg || slots_[a.index].bytes == from_bytes) return source(a, from);
    if (slots_[a.index].bytes != 8 || from_bytes != 4) bad("a register of another size");
    Form narrow = form(Operator::mov, Type::b32);
    narrow.from = Type::b64;
    const Virtual t = temporary(4);
    unary(narrow, t, a.index);
    return t;
  };
  const Virtual a = given(1), b = operands() == 3 ? given(2) : nothing;
  if (operand(0).kind != Operand::Kind::reg) bad("a register is missing");
  const Virtual result = operand(0).index;
  if (slots_[result].bytes != to_bytes && !(slots_[result].bytes == 8 && to_bytes == 4))
    bad("a register of another size");
  const bool widened = slots_[result].bytes != to_bytes;
  const Virtual d = widened ? temporary(to_bytes) : result;

  Form how = form(Operator::cvt, to);
  how.from = from;
  const bool plain =
      is_integer(to) || how.round != Round::none || (to == Type::f64 && from == Type::f32);
  const Run run =
      plain && operands() == 2 && !how.relu && !has("satfinite") ? select(how) : nullptr;
  if (run) {
    const std::uint32_t o = emit(run);
    define(o, Field::d, d);
    use(o, Field::a, a);
  } else {
    arithmetic::Conversion conversion{};
    if (!known(to, conversion.to) || !known(from, conversion.from)) lacks();
    struct Word {
      std::string_view word;
      arithmetic::Rounding rounding;
    };
    static constexpr Word words[] = {
        {"rn", arithmetic::Rounding::rn},   {"rna", arithmetic::Rounding::rna},
        {"rz", arithmetic::Rounding::rz},   {"rm", arithmetic::Rounding::rm},
        {"rp", arithmetic::Rounding::rp},   {"rni", arithmetic::Rounding::rni},
        {"rzi", arithmetic::Rounding::rzi}, {"rmi", arithmetic::Rounding::rmi},
        {"rpi", arithmetic::Rounding::rpi}};
    for (const Word& one : words)
      if (has(one.word)) conversion.rounding = one.rounding;
    if (has("rs")) lacks();
    conversion.ftz = how.ftz;
    conversion.sat = how.sat;
    conversion.satfinite = has("satfinite");
    conversion.relu = how.relu;
    const arithmetic::Convert function = arithmetic::converter(conversion, arithmetic_level());
    if (!function) lacks();
    program_.conversions.push_back({conversion, function});
    const std::uint32_t o = emit(to_bytes == 8 ? convert_to_64 : convert_to_32);
    at(o).extra = &program_.conversions.back();
    define(o, Field::d, d);
    use(o, Field::a, a);
    use(o, Field::b, b == nothing ? a : b);
  }
  if (widened) {
    Form widen = form(Operator::mov, Type::b64);
    widen.from = is_signed(to) ? Type::s32 : Type::u32;
    unary(widen, result, d);
  }
  return true;
}

}  // namespace plumbline::ptx
