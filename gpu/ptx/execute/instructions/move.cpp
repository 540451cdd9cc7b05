// SPDX-License-Identifier: Apache-2.0
// Moves, predicates, packing and unpacking of vectors.
#include "ptx/execute/instructions/lanes.hpp"

namespace plumbline::ptx::PLUMBLINE_PTX_ISA {
namespace {

template <class B>
Outcome mov(Warp& w, const Operation& o) {
  const B* a = lanes<B>(w, o.a);
  write<B>(w, o.d, [=](int i) { return a[i]; });
  return Outcome::next;
}

/// To 32 bits, or to 64.
Outcome narrow(Warp& w, const Operation& o) {
  const u64* a = lanes<u64>(w, o.a);
  write<u32>(w, o.d, [=](int i) { return static_cast<u32>(a[i]); });
  return Outcome::next;
}
Outcome widen(Warp& w, const Operation& o) {
  const u32* a = lanes<u32>(w, o.a);
  write<u64>(w, o.d, [=](int i) { return u64{a[i]}; });
  return Outcome::next;
}
Outcome widen_signed(Warp& w, const Operation& o) {
  const u32* a = lanes<u32>(w, o.a);
  write<u64>(w, o.d, [=](int i) { return static_cast<u64>(s64{static_cast<s32>(a[i])}); });
  return Outcome::next;
}

/// immediate: what negated operands are turned by, a in the low word, b in the high one.
u32 first(Warp& w, const Operation& o) { return predicate(w, o.a) ^ static_cast<u32>(o.immediate); }
u32 second(Warp& w, const Operation& o) {
  return predicate(w, o.b) ^ static_cast<u32>(o.immediate >> 32);
}
Outcome pred_mov(Warp& w, const Operation& o) {
  write_predicate(w, o.d, first(w, o));
  return Outcome::next;
}
Outcome pred_not(Warp& w, const Operation& o) {
  write_predicate(w, o.d, ~first(w, o));
  return Outcome::next;
}
Outcome pred_and(Warp& w, const Operation& o) {
  write_predicate(w, o.d, first(w, o) & second(w, o));
  return Outcome::next;
}
Outcome pred_or(Warp& w, const Operation& o) {
  write_predicate(w, o.d, first(w, o) | second(w, o));
  return Outcome::next;
}
Outcome pred_xor(Warp& w, const Operation& o) {
  write_predicate(w, o.d, first(w, o) ^ second(w, o));
  return Outcome::next;
}

const u32* listed(Warp& w, const Operation& o) { return w.lists + o.list; }

/// `count` parts of `bits` bits, the first lowest.
template <class B, class Part, int bits>
Outcome pack(Warp& w, const Operation& o) {
  const u32* list = listed(w, o);
  B t[32] = {};
  for (int k = 0; k < o.count; ++k) {
    const Part* part = lanes<Part>(w, list[k]);
    constexpr B low = bits == 64 ? ~B{0} : (B{1} << bits % 64) - 1;
    for (int i = 0; i < 32; ++i) t[i] |= (static_cast<B>(part[i]) & low) << (bits * k);
  }
  put<B>(w, o.d, t);
  return Outcome::next;
}
template <class B, class Part, int bits>
Outcome unpack(Warp& w, const Operation& o) {
  const u32* list = listed(w, o);
  B t[32];
  __builtin_memcpy(t, lanes<B>(w, o.a), sizeof t);
  for (int k = 0; k < o.count; ++k) {
    if (list[k] == ~0u) continue;
    constexpr B low = (B{1} << bits) - 1;
    write<Part>(w, list[k], [&](int i) { return static_cast<Part>(t[i] >> (bits * k) & low); });
  }
  return Outcome::next;
}

}  // namespace

/// from: the parts' type; its width says how.
Run select_move(const Form& form) {
  const unsigned whole = bits_of(form.type), part = bits_of(form.from);
  switch (form.op) {
    case Operator::mov:
      if (form.from == Type::none || whole == part) return whole == 64 ? mov<u64> : mov<u32>;
      if (part == 64) return narrow;
      return is_signed(form.from) ? widen_signed : widen;
    case Operator::pred_mov:
      return pred_mov;
    case Operator::pred_not:
      return pred_not;
    case Operator::pred_and:
      return pred_and;
    case Operator::pred_or:
      return pred_or;
    case Operator::pred_xor:
      return pred_xor;
    case Operator::pack:
      if (whole == 64)
        return part == 32   ? pack<u64, u32, 32>
               : part == 16 ? pack<u64, u32, 16>
                            : pack<u64, u32, 8>;
      return part == 16 ? pack<u32, u32, 16> : pack<u32, u32, 8>;
    case Operator::unpack:
      if (whole == 64)
        return part == 32   ? unpack<u64, u32, 32>
               : part == 16 ? unpack<u64, u32, 16>
                            : unpack<u64, u32, 8>;
      return part == 16 ? unpack<u32, u32, 16> : unpack<u32, u32, 8>;
    default:
      return nullptr;
  }
}

}  // namespace plumbline::ptx::PLUMBLINE_PTX_ISA
