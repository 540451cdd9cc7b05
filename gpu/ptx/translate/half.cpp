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

}  // namespace plumbline::ptx
