// SPDX-License-Identifier: Apache-2.0
// mbarrier.*, cp.async.mbarrier.arrive; mapa and getctarank.
#include "ptx/execute/mbarrier.hpp"

#include <algorithm>

#include "ptx/execute/distributed.hpp"
#include "ptx/execute/memory_flags.hpp"
#include "ptx/translate/translator.hpp"

namespace plumbline::ptx {

/// The word of a space of shared memory; empty: a generic address.
std::string_view Translator::space_word() const {
  for (std::size_t i = 0; i < words(); ++i)
    if (word(i) == "shared" || word(i) == "shared::cta" || word(i) == "shared::cluster")
      return word(i);
  return "";
}

bool Translator::mbarriers() {
  const std::string_view name = now_->opcode;
  const bool copies = name == "cp" && has("async") && has("mbarrier") && has("arrive");
  if (name != "mbarrier" && !copies) return false;
  const std::uint8_t relaxed = has("relaxed") ? mbarrier_relaxed : std::uint8_t{0};
  const auto at_place = [&](Run run, std::size_t operand_index) {
    const Place where = place(operand(operand_index), space_word());
    const std::uint32_t o = emit(run);
    apply(o, where);
    at(o).d = ~0u;
    at(o).flags |= relaxed;
    return o;
  };
  if (copies) {
    shared_.kernel.fixed_granules = true;
    const std::uint32_t o = at_place(mbarrier_copies, 0);
    if (has("noinc")) at(o).flags |= mbarrier_noinc;
    return true;
  }
  if (has("init")) {
    expect_operands(2, 2);
    const Virtual count = source(operand(1), Type::u32);
    use(at_place(mbarrier_init, 0), Field::b, count);
  } else if (has("inval")) {
    expect_operands(1, 1);
    at_place(mbarrier_inval, 0);
  } else if (has("arrive") || has("arrive_drop")) {
    // state, [address], count; in newer versions without a state.
    const std::size_t first = operand(0).kind == Operand::Kind::address ? 0 : 1;
    expect_operands(first + 1, first + 2);
    const bool counted = operands() > first + 1;
    if (has("expect_tx") && !counted) bad("a number of bytes is missing");
    if (has("noComplete") && !counted) bad("a count is missing");
    const Virtual count = counted ? source(operand(first + 1), Type::u32) : constant(1, 4);
    const bool gives = first == 1 && operand(0).kind != Operand::Kind::none;
    const Virtual d = gives ? destination(operand(0), Type::b64) : nothing;
    const std::uint32_t o = at_place(mbarrier_arrive, first);
    use(o, Field::b, count);
    if (gives) define(o, Field::d, d);
    if (has("expect_tx")) at(o).flags |= mbarrier_expects;
    if (has("arrive_drop")) at(o).flags |= mbarrier_drops;
    if (has("noComplete")) at(o).flags |= mbarrier_no_complete;
  } else if (has("expect_tx") || has("complete_tx")) {
    expect_operands(2, 2);
    const Virtual bytes = source(operand(1), Type::u32);
    use(at_place(has("expect_tx") ? mbarrier_expect : mbarrier_complete, 0), Field::b, bytes);
  } else if (has("test_wait") || has("try_wait")) {
    // p, [address], state or parity, a time to suspend for
    expect_operands(3, has("try_wait") ? 4 : 3);
    const Virtual d = predicate(operand(0));
    const Virtual b = source(operand(2), has("parity") ? Type::u32 : Type::b64);
    const std::uint32_t o = at_place(mbarrier_test, 1);
    define(o, Field::d, d);
    use(o, Field::b, b);
    if (has("parity")) at(o).flags |= mbarrier_parity;
  } else if (has("pending_count")) {
    expect_operands(2, 2);
    const std::uint32_t o = emit(mbarrier_pending);
    define(o, Field::d, destination(operand(0), Type::u32));
    use(o, Field::a, source(operand(1), Type::b64));
  } else {
    return false;
  }
  return true;
}

bool Translator::distributed() {
  const std::string_view name = now_->opcode;
  if (name != "mapa" && name != "getctarank") return false;
  const std::vector<Type> all = types();
  if (all.size() != 1 || (all[0] != Type::u32 && all[0] != Type::u64)) bad("a type is missing");
  const Type type = all[0];
  const bool maps = name == "mapa";
  expect_operands(maps ? 3 : 2, maps ? 3 : 2);
  const Virtual d = destination(operand(0), maps ? type : Type::u32);
  const Virtual a = source(operand(1), type);
  const Virtual b = maps ? source(operand(2), Type::u32) : nothing;
  const std::uint32_t o = emit(maps ? map_shared : rank_of);
  define(o, Field::d, d);
  use(o, Field::a, a);
  use(o, Field::b, b);
  at(o).c = space_word().empty() ? memory_generic : memory_cluster;
  if (type == Type::u64) at(o).flags = memory_wide;
  return true;
}

}  // namespace plumbline::ptx
