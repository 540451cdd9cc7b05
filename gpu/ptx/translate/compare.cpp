// SPDX-License-Identifier: Apache-2.0
// setp, set, selp, slct, testp.
#include "ptx/translate/translator.hpp"

namespace plumbline::ptx {
namespace {

struct Comparison {
  std::string_view name;
  Compare compare;
};
constexpr Comparison comparisons[] = {
    {"eq", Compare::eq},   {"ne", Compare::ne},   {"lt", Compare::lt},   {"le", Compare::le},
    {"gt", Compare::gt},   {"ge", Compare::ge},   {"lo", Compare::lo},   {"ls", Compare::ls},
    {"hi", Compare::hi},   {"hs", Compare::hs},   {"equ", Compare::equ}, {"neu", Compare::neu},
    {"ltu", Compare::ltu}, {"leu", Compare::leu}, {"gtu", Compare::gtu}, {"geu", Compare::geu},
    {"num", Compare::num}, {"nan", Compare::nan}};
struct TestRow {
  std::string_view name;
  Test test;
};
constexpr TestRow tests[] = {{"finite", Test::finite}, {"infinite", Test::infinite},
                             {"number", Test::number}, {"notanumber", Test::notanumber},
                             {"normal", Test::normal}, {"subnormal", Test::subnormal}};

}  // namespace

Compare Translator::comparison() const {
  for (const Comparison& row : comparisons)
    if (row.name == word(0)) return row.compare;
  bad("no comparison");
}

/// setp and set, of all types.
void Translator::set_by_comparison() {
  const std::vector<Type> all = types();
  if (all.empty()) bad("a type is missing");
  const Type to = all.front(), from = all.back();
  const bool is_set = now_->opcode == "set", halves = from >= Type::f16 && from <= Type::bf16x2;
  const bool pair = halves && bits_of(from) == 32;
  Form how = form(is_set ? Operator::set : Operator::setp, to);
  how.from = from;
  how.compare = comparison();
  const std::uint8_t boolean = has("and") ? 1 : has("or") ? 2 : has("xor") ? 3 : 0;
  expect_operands(boolean ? 4 : 3, boolean ? 4 : 3);
  const Virtual a = source(operand(1), from), b = source(operand(2), from);
  const std::uint32_t o = emit(how);
  std::uint64_t immediate = 0;
  if (is_set) {
    if (bits_of(to) > 32 || ((to == Type::f16x2 || to == Type::bf16x2) && !pair)) lacks();
    define(o, Field::d, destination(operand(0), to));
    const std::uint64_t yes = to == Type::f32      ? 0x3f800000u
                              : to == Type::f16    ? 0x3c00u
                              : to == Type::bf16   ? 0x3f80u
                              : to == Type::f16x2  ? 0x3c003c00u
                              : to == Type::bf16x2 ? 0x3f803f80u
                                                   : 0xffffffffu;
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
  at(o).flags = static_cast<std::uint8_t>(boolean | (halves && how.ftz ? 4 : 0));
  if (halves) at(o).count = static_cast<std::uint16_t>(how.compare);
}

bool Translator::compare() {
  const std::string_view name = now_->opcode;
  const std::vector<Type> all = types();
  if (name == "setp" || name == "set") {
    set_by_comparison();
    return true;
  }
  if (name == "selp" && all.size() == 1) {
    expect_operands(4, 4);
    const std::uint32_t o = binary(form(Operator::selp, all[0]), destination(operand(0), all[0]),
                                   source(operand(1), all[0]), source(operand(2), all[0]));
    const Operand& c = operand(3);
    use(o, Field::c, source_predicate(c));
    at(o).immediate = c.negated ? 0xffffffff : 0;
    return true;
  }
  if (name == "slct" && all.size() == 2) {
    expect_operands(4, 4);
    Form how = form(Operator::slct, all[0]);
    how.from = all[1];
    const std::uint32_t o = binary(how, destination(operand(0), all[0]), source(operand(1), all[0]),
                                   source(operand(2), all[0]));
    use(o, Field::c, source(operand(3), all[1]));
    return true;
  }
  if (name == "testp" && all.size() == 1) {
    expect_operands(2, 2);
    Form how = form(Operator::testp, all[0]);
    for (const TestRow& row : tests)
      if (has(row.name)) how.test = row.test;
    unary(how, predicate(operand(0)), source(operand(1), all[0]));
    return true;
  }
  return false;
}

}  // namespace plumbline::ptx
