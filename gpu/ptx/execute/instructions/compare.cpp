// SPDX-License-Identifier: Apache-2.0
// Comparison and selection (PTX ISA 9.7.6, 9.7.7), predicates and testp.
#include "ptx/execute/instructions/floats.hpp"

namespace plumbline::ptx::PLUMBLINE_PTX_ISA {
namespace {

template <Compare compare>
struct Is {
  template <class T>
  bool operator()(T a, T b) const {
    switch (compare) {
      case Compare::eq:
        return a == b;
      case Compare::ne:
        return a < b || a > b;
      case Compare::lt:
      case Compare::lo:
        return a < b;
      case Compare::le:
      case Compare::ls:
        return a <= b;
      case Compare::gt:
      case Compare::hi:
        return a > b;
      case Compare::ge:
      case Compare::hs:
        return a >= b;
      case Compare::equ:
        return !(a < b || a > b);
      case Compare::neu:
        return !(a == b);
      case Compare::ltu:
        return !(a >= b);
      case Compare::leu:
        return !(a > b);
      case Compare::gtu:
        return !(a <= b);
      case Compare::geu:
        return !(a < b);
      case Compare::num:
        return a == a && b == b;
      case Compare::nan:
        return a != a || b != b;
    }
    return false;
  }
};

template <class T, bool ftz, Compare compare>
u32 compared(Warp& w, const Operation& o) {
  const Bits<T>* a = lanes<Bits<T>>(w, o.a);
  const Bits<T>* b = lanes<Bits<T>>(w, o.b);
  return lanes_where([=](int i) {
    T x = Slot<T>::get(a[i]), y = Slot<T>::get(b[i]);
    if constexpr (ftz) {
      x = flush<true>(x);
      y = flush<true>(y);
    }
    return Is<compare>{}(x, y);
  });
}

/// flags: 0, or and, or, xor with the predicate c. d and target: the result, and with its
/// complement.
template <class T, bool ftz, Compare compare>
Outcome setp(Warp& w, const Operation& o) {
  const u32 is = compared<T, ftz, compare>(w, o);
  u32 p = is, q = ~is;
  if (o.flags) {
    const u32 c = predicate(w, o.c) ^ static_cast<u32>(o.immediate);
    p = o.flags == 1 ? p & c : o.flags == 2 ? p | c : p ^ c;
    q = o.flags == 1 ? q & c : o.flags == 2 ? q | c : q ^ c;
  }
  if (o.d != ~0u) write_predicate(w, o.d, p);
  if (o.target != ~0u) write_predicate(w, o.target, q);
  return Outcome::next;
}
/// All bits or 1.0f, or 0, in 32 bits.
template <class T, bool ftz, Compare compare>
Outcome set(Warp& w, const Operation& o) {
  u32 p = compared<T, ftz, compare>(w, o);
  const u32 yes = static_cast<u32>(o.immediate >> 32);
  if (o.flags) {
    const u32 c = predicate(w, o.c) ^ static_cast<u32>(o.immediate);
    p = o.flags == 1 ? p & c : o.flags == 2 ? p | c : p ^ c;
  }
  write<u32>(w, o.d, [=](int i) { return p & lane_bits[i] ? yes : 0; });
  return Outcome::next;
}

template <class T, bool ftz, Compare compare>
Run either(Operator op) {
  return op == Operator::setp ? setp<T, ftz, compare> : set<T, ftz, compare>;
}
template <class T>
Run integers(const Form& form) {
  switch (form.compare) {
    case Compare::eq:
      return either<T, false, Compare::eq>(form.op);
    case Compare::ne:
      return either<T, false, Compare::ne>(form.op);
    case Compare::lt:
    case Compare::lo:
      return either<T, false, Compare::lt>(form.op);
    case Compare::le:
    case Compare::ls:
      return either<T, false, Compare::le>(form.op);
    case Compare::gt:
    case Compare::hi:
      return either<T, false, Compare::gt>(form.op);
    case Compare::ge:
    case Compare::hs:
      return either<T, false, Compare::ge>(form.op);
    default:
      return nullptr;
  }
}
template <class T, bool ftz>
Run floats(const Form& form) {
  switch (form.compare) {
    case Compare::eq:
      return either<T, ftz, Compare::eq>(form.op);
    case Compare::ne:
      return either<T, ftz, Compare::ne>(form.op);
    case Compare::lt:
      return either<T, ftz, Compare::lt>(form.op);
    case Compare::le:
      return either<T, ftz, Compare::le>(form.op);
    case Compare::gt:
      return either<T, ftz, Compare::gt>(form.op);
    case Compare::ge:
      return either<T, ftz, Compare::ge>(form.op);
    case Compare::equ:
      return either<T, ftz, Compare::equ>(form.op);
    case Compare::neu:
      return either<T, ftz, Compare::neu>(form.op);
    case Compare::ltu:
      return either<T, ftz, Compare::ltu>(form.op);
    case Compare::leu:
      return either<T, ftz, Compare::leu>(form.op);
    case Compare::gtu:
      return either<T, ftz, Compare::gtu>(form.op);
    case Compare::geu:
      return either<T, ftz, Compare::geu>(form.op);
    case Compare::num:
      return either<T, ftz, Compare::num>(form.op);
    case Compare::nan:
      return either<T, ftz, Compare::nan>(form.op);
    default:
      return nullptr;
  }
}
Run comparison(const Form& form) {
  switch (form.from) {
    case Type::b16:
    case Type::u16:
      return integers<u16>(form);
    case Type::b32:
    case Type::u32:
      return integers<u32>(form);
    case Type::b64:
    case Type::u64:
      return integers<u64>(form);
    case Type::s16:
      return integers<s16>(form);
    case Type::s32:
      return integers<s32>(form);
    case Type::s64:
      return integers<s64>(form);
    case Type::f32:
      return form.ftz ? floats<f32, true>(form) : floats<f32, false>(form);
    case Type::f64:
      return floats<f64, false>(form);
    default:
      return nullptr;
  }
}

template <class B>
Outcome selp(Warp& w, const Operation& o) {
  const B *a = lanes<B>(w, o.a), *b = lanes<B>(w, o.b);
  const u32 p = predicate(w, o.c) ^ static_cast<u32>(o.immediate);
  write<B>(w, o.d, [=](int i) { return p & lane_bits[i] ? a[i] : b[i]; });
  return Outcome::next;
}
template <class B, class C, bool ftz>
Outcome slct(Warp& w, const Operation& o) {
  const B *a = lanes<B>(w, o.a), *b = lanes<B>(w, o.b);
  const Bits<C>* c = lanes<Bits<C>>(w, o.c);
  write<B>(w, o.d, [=](int i) {
    C x = Slot<C>::get(c[i]);
    if constexpr (ftz) x = flush<true>(x);
    return x >= 0 ? a[i] : b[i];
  });
  return Outcome::next;
}
template <class B>
Run slct(const Form& form) {
  if (form.from == Type::s32) return slct<B, s32, false>;
  return form.ftz ? slct<B, f32, true> : slct<B, f32, false>;
}

template <class T, Test test>
Outcome testp(Warp& w, const Operation& o) {
  using B = Bits<T>;
  constexpr B infinity = sizeof(T) == 8 ? static_cast<B>(u64{0x7ff} << 52) : B{0x7f800000u};
  constexpr B least = sizeof(T) == 8 ? static_cast<B>(u64{1} << 52) : B{0x00800000u};
  constexpr B top = B{1} << (8 * sizeof(B) - 1);
  const B* a = lanes<B>(w, o.a);
  const u32 p = lanes_where([=](int i) {
    const B x = a[i] & ~top;
    switch (test) {
      case Test::finite:
        return x < infinity;
      case Test::infinite:
        return x == infinity;
      case Test::number:
        return x <= infinity;
      case Test::notanumber:
        return x > infinity;
      case Test::normal:
        return (x >= least && x < infinity) || x == 0;  // the ISA counts zeros
      case Test::subnormal:
        return x < least && x != 0;
    }
    return false;
  });
  write_predicate(w, o.d, p);
  return Outcome::next;
}
template <class T>
Run tested(Test test) {
  switch (test) {
    case Test::finite:
      return testp<T, Test::finite>;
    case Test::infinite:
      return testp<T, Test::infinite>;
    case Test::number:
      return testp<T, Test::number>;
    case Test::notanumber:
      return testp<T, Test::notanumber>;
    case Test::normal:
      return testp<T, Test::normal>;
    case Test::subnormal:
      return testp<T, Test::subnormal>;
  }
  return nullptr;
}

}  // namespace

Run select_compare(const Form& form) {
  switch (form.op) {
    case Operator::setp:
    case Operator::set:
      return comparison(form);
    case Operator::selp:
      return bits_of(form.type) == 64 ? selp<u64> : selp<u32>;
    case Operator::slct:
      return bits_of(form.type) == 64 ? slct<u64>(form) : slct<u32>(form);
    case Operator::testp:
      return form.type == Type::f64 ? tested<f64>(form.test) : tested<f32>(form.test);
    default:
      return nullptr;
  }
}

}  // namespace plumbline::ptx::PLUMBLINE_PTX_ISA
