// SPDX-License-Identifier: Apache-2.0
// setp, set, selp, slct, testp.
#include "ptx/translate/translator.hpp"

namespace plumbline::ptx {
namespace {

struct Row {
  std::string_view name;
  Compare compare;
};
constexpr Row comparisons[] = {{"eq", Compare::eq},   {"ne", Compare::ne},   {"lt", Compare::lt},
                               {"le", Compare::le},   {"gt", Compare::gt},   {"ge", Compare::ge},
                               {"lo", Compare::lo},   {"ls", Compare::ls},   {"hi", Compare::hi},
                               {"hs", Compare::hs},   {"equ", Compare::equ}, {"neu", Compare::neu},
                               {"ltu", Compare::ltu}, {"leu", Compare::leu}, {"gtu", Compare::gtu},
                               {"geu", Compare::geu}, {"num", Compare::num}, {"nan", Compare::nan}};
struct TestRow {
  std::string_view name;
  Test test;
};
constexpr TestRow tests[] = {{"finite", Test::finite}, {"infinite", Test::infinite},
                             {"number", Test::number}, {"notanumber", Test::notanumber},
                             {"normal", Test::normal}, {"subnormal", Test::subnormal}};

}  // namespace

Compare Translator::comparison() const {
  for (const Row& row : comparisons)
    if (row.name == word(0)) return row.compare;
  bad("no comparison");
}

bool Translator::compare() {
  const std::string_view name = now_->opcode;
  const std::vector<Type> all = types();
  if (name == "setp" || name == "set") {
    if (all.empty()) bad("a type is missing");
    if (all.back() >= Type::f16 && all.back() <= Type::bf16x2) return false;
    Form how = form(name == "setp" ? Operator::setp : Operator::set, all.front());
    how.from = all.back();
    how.compare = comparison();
    const std::uint8_t boolean = has("and") ? 1 : has("or") ? 2 : has("xor") ? 3 : 0;
    expect_operands(boolean ? 4 : 3, boolean ? 4 : 3);
    const bool is_set = name == "set";
    const Virtual a = source(operand(1), how.from), b = source(operand(2), how.from);
    const std::uint32_t o = emit(how);
    if (is_set) {
      if (bits_of(all.front()) != 32) lacks();
      define(o, Field::d, destination(operand(0), all.front()));
    } else if (operand(0).kind == Operand::Kind::pair) {
      const Operand &p = child(operand(0), 0), &q = child(operand(0), 1);
      define(o, Field::d, p.kind == Operand::Kind::none ? nothing : predicate(p));
      define(o, Field::target, q.kind == Operand::Kind::none ? nothing : predicate(q));
    } else {
      define(o, Field::d, predicate(operand(0)));
    }
    use(o, Field::a, a);
    use(o, Field::b, b);
    std::uint64_t immediate = 0;
    if (boolean) {
      const Operand& c = operand(3);
      use(o, Field::c, source_predicate(c));
      immediate = c.negated ? 0xffffffffu : 0;
    }
    if (is_set) immediate |= (all.front() == Type::f32 ? 0x3f800000ull : 0xffffffffull) << 32;
    at(o).immediate = static_cast<std::int64_t>(immediate);
    at(o).flags = boolean;
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
