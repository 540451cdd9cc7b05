// SPDX-License-Identifier: Apache-2.0
// cvt: the executor's own conversions, or those of arithmetic/convert.hpp.
#include "ptx/arithmetic/convert.hpp"

#include "ptx/execute/calls.hpp"
#include "ptx/translate/translator.hpp"

namespace plumbline::ptx {
namespace {

bool is_integer_scalar(Type type) { return type >= Type::u8 && type <= Type::s64; }

}  // namespace

void Translator::convert_packed() {
  std::uint32_t bits = 0;
  bool is_signed = false;
  struct Row {
    std::string_view name;
    std::uint32_t bits;
  };
  static constexpr Row narrow[] = {{"16", 16}, {"8", 8}, {"4", 4}, {"2", 2}};
  for (const Row& row : narrow)
    if (words() > 2 && word(2).substr(1) == row.name) bits = row.bits;
  if (bits == 0 || !has("sat")) lacks();
  is_signed = word(2)[0] == 's';
  const bool has_c = bits < 16;
  expect_operands(has_c ? 4 : 3, has_c ? 4 : 3);
  const Virtual a = source(operand(1), Type::s32), b = source(operand(2), Type::s32);
  const Virtual c = has_c ? source(operand(3), Type::b32) : nothing;
  const std::uint32_t o = emit(pack_saturated);
  at(o).immediate = bits | (is_signed ? 256 : 0);
  define(o, Field::d, destination(operand(0), Type::b32));
  use(o, Field::a, a);
  use(o, Field::b, b);
  use(o, Field::c, c);
}

bool Translator::convert() {
  if (now_->opcode != "cvt") return false;
  if (has("pack")) {
    convert_packed();
    return true;
  }
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
  const bool to_whole = has("rni") || has("rzi") || has("rmi") || has("rpi");
  const bool plain = is_integer_scalar(to) || how.round != Round::none ||
                     (to == Type::f64 && from == Type::f32) ||
                     (to == Type::f32 && from == Type::f32 && !to_whole);
  const Run run =
      plain && operands() == 2 && !how.relu && !has("satfinite") ? select(how) : nullptr;
  if (run) {
    const std::uint32_t o = emit(run);
    define(o, Field::d, d);
    use(o, Field::a, a);
  } else {
    arithmetic::Conversion conversion{to, from};
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
    const arithmetic::Convert function = arithmetic::converter(conversion);
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
