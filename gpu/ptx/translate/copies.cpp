// SPDX-License-Identifier: Apache-2.0
// cp.async
#include "ptx/execute/memory_flags.hpp"
#include "ptx/translate/translator.hpp"

namespace plumbline::ptx {

bool Translator::copies() {
  if (now_->opcode != "cp" || !has("async") || has("bulk") || has("mbarrier")) return false;
  if (has("commit_group")) {
    emit(form(Operator::copy_commit, Type::none));
    return true;
  }
  if (has("wait_group") || has("wait_all")) {
    const std::uint32_t o = emit(form(Operator::copy_wait, Type::none));
    at(o).immediate = -1;
    if (has("wait_group")) {
      if (operand(0).kind != Operand::Kind::integer) bad("a number is missing");
      at(o).immediate = static_cast<std::int64_t>(operand(0).bits & 0xffff);
    }
    return true;
  }
  if (operands() < 3 || operand(2).kind != Operand::Kind::integer) bad("a size is missing");
  const std::uint64_t bytes = operand(2).bits;
  if (bytes != 4 && bytes != 8 && bytes != 16) bad("a size that is not 4, 8 or 16");
  const Place to = place(operand(0), "shared"), from = place(operand(1), "global");
  if (width(from.base) != 8) bad("an address of another size");
  const std::uint32_t o = emit(form(Operator::copy_async, Type::none));
  apply(o, to);
  use(o, Field::b, from.base);
  at(o).target = static_cast<std::uint32_t>(from.offset);
  at(o).immediate = static_cast<std::int64_t>(bytes << 32 | static_cast<std::uint32_t>(to.offset));
  list(o, 2);
  const std::size_t policy = has("L2::cache_hint") ? 1 : 0;
  if (operands() > 3 + policy) {
    const Operand& size = operand(3);
    if (size.kind == Operand::Kind::reg && slots_[size.index].bytes == 0)
      use(o, Field::list, predicate(size), 1);
    else
      use(o, Field::list, source(size, Type::u32), 0);
  }
  return true;
}

}  // namespace plumbline::ptx
