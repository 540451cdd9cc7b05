// SPDX-License-Identifier: Apache-2.0
// Instructions between the lanes of a warp.
#include "ptx/execute/exchange.hpp"
#include "ptx/translate/translator.hpp"

namespace plumbline::ptx {

/// The two operands of d|p; either may be missing.
std::pair<const Operand*, const Operand*> Translator::two_results() const {
  const Operand& d = operand(0);
  if (d.kind != Operand::Kind::pair) return {&d, nullptr};
  return {&child(d, 0), &child(d, 1)};
}

std::uint32_t Translator::exchange(Run run, const Operand& members) {
  const Virtual mask = source(members, Type::b32);
  const std::uint32_t o = emit(run);
  use(o, Field::target, mask);
  at(o).flags = waits_for_lanes;
  list(o, 1);
  return o;
}

bool Translator::warps() {
  const std::string_view name = now_->opcode;
  const std::vector<Type> all = types();
  if ((name == "bar" || name == "barrier") && has("warp")) {
    exchange(warp_barrier, operand(0));
    return true;
  }
  if (name == "activemask") {
    const std::uint32_t o = emit(active_mask);
    define(o, Field::d, destination(operand(0), Type::b32));
    return true;
  }
  const bool sync = has("sync");
  if (!sync) return false;
  if (name == "shfl") {
    expect_operands(5, 5);
    const auto [d, p] = two_results();
    const std::uint32_t o = exchange(shuffle, operand(4));
    at(o).immediate = static_cast<std::int64_t>(has("up")     ? Shuffle::up
                                                : has("down") ? Shuffle::down
                                                : has("bfly") ? Shuffle::bfly
                                                              : Shuffle::idx);
    define(o, Field::d, d->kind == Operand::Kind::none ? temporary(4) : destination(*d, Type::b32));
    if (p && p->kind != Operand::Kind::none) define(o, Field::list, predicate(*p), 0);
    use(o, Field::a, source(operand(1), Type::b32));
    use(o, Field::b, source(operand(2), Type::b32));
    use(o, Field::c, source(operand(3), Type::b32));
    return true;
  }
  if (name == "vote") {
    expect_operands(3, 3);
    const bool ballot = has("ballot");
    const std::uint32_t o = exchange(vote, operand(2));
    const Operand& a = operand(1);
    const Vote how = ballot       ? Vote::ballot
                     : has("all") ? Vote::all
                     : has("any") ? Vote::any
                                  : Vote::uni;
    at(o).immediate = static_cast<std::int64_t>(how) |
                      static_cast<std::int64_t>(a.negated ? 0xffffffffull << 32 : 0);
    define(o, Field::d, ballot ? destination(operand(0), Type::b32) : predicate(operand(0)));
    use(o, Field::a, source_predicate(a));
    return true;
  }
  if (name == "match" && all.size() == 1) {
    expect_operands(3, 3);
    const bool wide = bits_of(all[0]) == 64, any = has("any");
    const auto [d, p] = two_results();
    const std::uint32_t o =
        exchange(any ? (wide ? match_any_64 : match_any_32) : (wide ? match_all_64 : match_all_32),
                 operand(2));
    define(o, Field::d, destination(*d, Type::b32));
    if (p && p->kind != Operand::Kind::none) define(o, Field::list, predicate(*p), 0);
    use(o, Field::a, source(operand(1), all[0]));
    return true;
  }
  if (name == "redux" && all.size() == 1) {
    if (is_float(all[0])) lacks();
    expect_operands(3, 3);
    const std::uint32_t o = exchange(reduce, operand(2));
    const Reduce how = has("add")   ? Reduce::add
                       : has("min") ? Reduce::min
                       : has("max") ? Reduce::max
                       : has("and") ? Reduce::bitwise_and
                       : has("or")  ? Reduce::bitwise_or
                                    : Reduce::bitwise_xor;
    at(o).immediate = static_cast<std::int64_t>(how) + (is_signed(all[0]) ? 256 : 0);
    define(o, Field::d, destination(operand(0), all[0]));
    use(o, Field::a, source(operand(1), all[0]));
    return true;
  }
  if (name == "elect") {
    expect_operands(2, 2);
    const auto [d, p] = two_results();
    const std::uint32_t o = exchange(elect, operand(1));
    at(o).d = ~0u;
    if (d->kind != Operand::Kind::none) define(o, Field::d, destination(*d, Type::b32));
    if (p && p->kind != Operand::Kind::none) define(o, Field::list, predicate(*p), 0);
    return true;
  }
  return false;
}

}  // namespace plumbline::ptx
