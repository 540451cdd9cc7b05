// SPDX-License-Identifier: Apache-2.0
// wgmma
#include "ptx/execute/wgmma.hpp"

#include "ptx/translate/elements.hpp"
#include "ptx/translate/translator.hpp"

namespace plumbline::ptx {

void Translator::multiply_by_group() {
  WgmmaProduct product;
  const std::vector<Type> all = types();
  int m = 0;
  bool found = false;
  for (std::size_t i = 0; i < words(); ++i) {
    found |= shape_of(word(i), m, product.how.n, product.how.k);
    if (word(i) == "sp" || word(i) == "and") lacks();
  }
  if (!found || m != 64 || all.size() != 3) lacks();
  product.how.satfinite = has("satfinite");
  product.how.sums = shared_.layout.variation.sums;
  if (!element_of(all[0], product.how.c) || !element_of(all[1], product.how.a) ||
      !element_of(all[2], product.how.b))
    lacks();
  product.function = arithmetic::wgmma(product.how);
  const int n = product.how.n;
  const bool integer = all[0] == Type::s32, half = all[1] == Type::f16 || all[1] == Type::bf16;
  if (!product.function || (integer && n % 16 != 0 && n != 8 && n != 24)) lacks();

  const Operand &d = operand(0), &a = operand(1);
  product.accumulators = static_cast<std::uint32_t>(all[0] == Type::f16 ? n / 4 : n / 2);
  product.a_in_registers = a.kind == Operand::Kind::vector;
  if (d.kind != Operand::Kind::vector || d.count != product.accumulators ||
      (product.a_in_registers && a.count != 4))
    bad("a wrong number of registers");
  const std::size_t transposing = !half ? 0 : product.a_in_registers ? 1 : 2;
  const std::size_t given = 4 + (integer ? 0 : 2) + transposing;
  expect_operands(given, given);
  const auto flag = [&](std::size_t i, std::uint64_t least, std::uint64_t most) {
    const Operand& one = operand(i);
    if (one.kind != Operand::Kind::integer || (one.bits != least && one.bits != most))
      bad("operand " + std::to_string(i) + " is neither " +
          std::to_string(static_cast<std::int64_t>(least)) + " nor " + std::to_string(most));
    return one.bits;
  };
  if (!integer) {
    product.negate_a = flag(4, ~std::uint64_t{0}, 1) != 1;
    product.negate_b = flag(5, ~std::uint64_t{0}, 1) != 1;
  }
  if (transposing == 2) product.transposed_a = flag(6, 0, 1) == 1;
  if (transposing > 0) product.transposed_b = flag(5 + transposing, 0, 1) == 1;

  std::vector<Virtual> accumulators, of_a;
  for (std::uint32_t i = 0; i < d.count; ++i)
    accumulators.push_back(destination(child(d, i), Type::b32));
  for (std::uint32_t i = 0; product.a_in_registers && i < 4; ++i)
    of_a.push_back(source(child(a, i), Type::b32));
  const Virtual a_at = product.a_in_registers ? nothing : source(a, Type::b64);
  const Virtual b_at = source(operand(2), Type::b64);
  const Virtual scale = source_predicate(operand(3));
  product.registers = accumulators;
  product.registers.insert(product.registers.end(), of_a.begin(), of_a.end());
  product.number = static_cast<std::uint32_t>(program_.wgmmas.size());
  program_.wgmmas.push_back(std::move(product));

  const std::uint32_t o = emit(form(Operator::wgmma, all[0]));
  at(o).extra = &program_.wgmmas.back();
  use(o, Field::a, a_at);
  use(o, Field::b, b_at);
  use(o, Field::c, scale);
  at(o).immediate = operand(3).negated ? 0xffffffff : 0;
  // An accumulator is read and written at one place.
  list(o, accumulators.size() + of_a.size());
  std::uint32_t index = 0;
  for (const Virtual reg : accumulators) {
    use(o, Field::list, reg, index);
    define(o, Field::list, reg, index++);
  }
  for (const Virtual reg : of_a) use(o, Field::list, reg, index++);
}

bool Translator::warpgroups() {
  if (now_->opcode != "wgmma") return false;
  if (has("mma_async")) {
    multiply_by_group();
  } else if (has("fence")) {
    emit(wgmma_fence);
  } else if (has("commit_group")) {
    emit(wgmma_commit);
  } else if (has("wait_group")) {
    if (operand(0).kind != Operand::Kind::integer) bad("a number is missing");
    const std::uint32_t o = emit(wgmma_wait);
    at(o).immediate = static_cast<std::int64_t>(operand(0).bits & 0xffff);
  } else {
    lacks();
  }
  return true;
}

}  // namespace plumbline::ptx
