// SPDX-License-Identifier: Apache-2.0
// Arithmetic and comparison of f16, bf16 and their pairs (PTX ISA 9.7.4, 9.7.7).
#include "ptx/arithmetic/bits.hpp"
#include "ptx/execute/instructions/floats.hpp"

namespace plumbline::ptx::PLUMBLINE_PTX_ISA {
namespace {

struct F16 {
  static constexpr u32 infinity = 0x7c00, nan = 0x7fff, one = 0x3c00, least = 0x0400;
  static f32 value(u32 x) { return arithmetic::from_f16(x & 0xffff); }
  static u32 nearest(f32 x) { return arithmetic::to_f16(x); }
};
struct Bf16 {
  static constexpr u32 infinity = 0x7f80, nan = 0x7fff, one = 0x3f80, least = 0x0080;
  static f32 value(u32 x) { return real(x << 16); }
  static u32 nearest(f32 x) { return arithmetic::to_bf16(x); }
};

template <class H>
bool is_nan(u32 x) {
  return (x & 0x7fff) > H::infinity;
}
template <class H>
u32 flushed(u32 x) {
  return (x & 0x7fff) < H::least ? x & 0x8000 : x;
}
struct Modes {
  bool ftz, sat, relu, nan, xorsign;
};

/// The number in f32 that rounds to a half as the exact sum does: not the nearest, but the one with
/// an odd last bit where it is inexact.
inline f32 odd(f64 x) {
  const f32 near = static_cast<f32>(x);
  const u32 b = bits(near);
  const f64 back = near;
  const bool inexact = back != x && x == x && !(b & 1);
  const bool outward = (x < 0 ? -x : x) > (back < 0 ? -back : back);
  return real(inexact ? (outward ? b + 1 : b - 1) : b);
}
inline f64 odd_sum(f64 p, f64 c) {
  const f64 sum = p + c, part = sum - p;
  const f64 error = (p - (sum - part)) + (c - part);
  const u64 b = bits(sum);
  const bool inexact = error != 0 && error == error && !(b & 1) && sum == sum;
  const bool outward = (error > 0) == (sum > 0);
  return real(inexact ? (outward ? b + 1 : b - 1) : b);
}

template <class H>
u32 finish(f32 x, const Modes& m) {
  u32 r = H::nearest(x);
  r = is_nan<H>(r) ? H::nan : r;
  if (m.ftz) r = flushed<H>(r);
  if (m.sat) r = is_nan<H>(r) || r & 0x8000 ? 0 : r > H::one ? H::one : r;
  if (m.relu) r = is_nan<H>(r) ? H::nan : r & 0x8000 ? 0 : r;
  return r;
}
template <class H>
u32 given(u32 x, const Modes& m) {
  x &= 0xffff;
  return m.ftz ? flushed<H>(x) : x;
}

struct Add {
  template <class H>
  static u32 of(u32 a, u32 b, u32, const Modes& m) {
    return finish<H>(odd(f64{H::value(given<H>(a, m))} + H::value(given<H>(b, m))), m);
  }
};
struct Sub {
  template <class H>
  static u32 of(u32 a, u32 b, u32, const Modes& m) {
    return finish<H>(odd(f64{H::value(given<H>(a, m))} - H::value(given<H>(b, m))), m);
  }
};
struct Mul {
  template <class H>
  static u32 of(u32 a, u32 b, u32, const Modes& m) {
    return finish<H>(odd(f64{H::value(given<H>(a, m))} * H::value(given<H>(b, m))), m);
  }
};
struct Fma {
  template <class H>
  static u32 of(u32 a, u32 b, u32 c, const Modes& m) {
    const f64 p = f64{H::value(given<H>(a, m))} * H::value(given<H>(b, m));
    return finish<H>(odd(odd_sum(p, H::value(given<H>(c, m)))), m);
  }
};
struct Neg {
  template <class H>
  static u32 of(u32 a, u32, u32, const Modes& m) {
    return given<H>(a, m) ^ 0x8000;
  }
};
struct Abs {
  template <class H>
  static u32 of(u32 a, u32, u32, const Modes& m) {
    return given<H>(a, m) & 0x7fff;
  }
};
inline s32 rank(u32 x) {
  return x & 0x8000 ? -static_cast<s32>(x & 0x7fff) - 1 : static_cast<s32>(x);
}
template <bool maximum>
struct Extreme {
  template <class H>
  static u32 of(u32 a, u32 b, u32, const Modes& m) {
    a = given<H>(a, m);
    b = given<H>(b, m);
    const u32 sign = m.xorsign ? (a ^ b) & 0x8000 : 0;
    if (m.xorsign) {
      a &= 0x7fff;
      b &= 0x7fff;
    }
    const bool first = maximum ? rank(a) > rank(b) : rank(a) < rank(b);
    const bool a_nan = is_nan<H>(a), b_nan = is_nan<H>(b);
    const u32 number = first ? a : b;
    if (m.nan ? a_nan || b_nan : a_nan && b_nan) return H::nan;
    return (a_nan ? b : b_nan ? a : number) | sign;
  }
};

template <class F, class H, bool pair>
Outcome run(Warp& w, const Operation& o) {
  const u32 *a = lanes<u32>(w, o.a), *b = lanes<u32>(w, o.b), *c = lanes<u32>(w, o.c);
  const Modes m{(o.flags & 1) != 0, (o.flags & 2) != 0, (o.flags & 4) != 0, (o.flags & 8) != 0,
                (o.flags & 16) != 0};
  write<u32>(w, o.d, [=](int i) {
    const u32 low = F::template of<H>(a[i], b[i], c[i], m);
    if constexpr (!pair) return low;
    return F::template of<H>(a[i] >> 16, b[i] >> 16, c[i] >> 16, m) << 16 | low;
  });
  return Outcome::next;
}
template <class F>
Run typed(Type type) {
  switch (type) {
    case Type::f16:
      return run<F, F16, false>;
    case Type::f16x2:
      return run<F, F16, true>;
    case Type::bf16:
      return run<F, Bf16, false>;
    case Type::bf16x2:
      return run<F, Bf16, true>;
    default:
      return nullptr;
  }
}

bool holds(Compare compare, f32 a, f32 b) {
  const bool nan = a != a || b != b;
  switch (compare) {
    case Compare::eq:
      return a == b;
    case Compare::ne:
      return !nan && a != b;
    case Compare::lt:
      return a < b;
    case Compare::le:
      return a <= b;
    case Compare::gt:
      return a > b;
    case Compare::ge:
      return a >= b;
    case Compare::equ:
      return nan || a == b;
    case Compare::neu:
      return a != b;
    case Compare::ltu:
      return nan || a < b;
    case Compare::leu:
      return nan || a <= b;
    case Compare::gtu:
      return nan || a > b;
    case Compare::geu:
      return nan || a >= b;
    case Compare::num:
      return !nan;
    case Compare::nan:
      return nan;
    default:
      return false;
  }
}
/// count: the Compare; flags: 0, 1 and, 2 or, 3 xor with the predicate c; 4: .ftz. immediate: what
/// turns c, and in the high word 1 for set (8 more: gives a float).
template <class H, bool pair, bool is_set>
Outcome compared(Warp& w, const Operation& o) {
  const u32 *a = lanes<u32>(w, o.a), *b = lanes<u32>(w, o.b);
  const Modes m{(o.flags & 4) != 0, false, false, false, false};
  const auto compare = static_cast<Compare>(o.count);
  u32 low = 0, high = 0;
  for (u32 i = 0; i < 32; ++i) {
    if (holds(compare, H::value(given<H>(a[i], m)), H::value(given<H>(b[i], m))))
      low |= lane_bits[i];
    if (pair &&
        holds(compare, H::value(given<H>(a[i] >> 16, m)), H::value(given<H>(b[i] >> 16, m))))
      high |= lane_bits[i];
  }
  u32 low_not = ~low, high_not = ~high;
  if (const int boolean = o.flags & 3) {
    const u32 c = predicate(w, o.c) ^ static_cast<u32>(o.immediate);
    for (u32* p : {&low, &high, &low_not, &high_not})
      *p = boolean == 1 ? *p & c : boolean == 2 ? *p | c : *p ^ c;
  }
  if constexpr (is_set) {
    const u32 yes = static_cast<u32>(o.immediate >> 32);
    write<u32>(w, o.d, [=](int i) {
      const u32 mask = lane_bits[i];
      if (!pair) return low & mask ? yes : 0;
      return (low & mask ? yes & 0xffff : 0) | (high & mask ? yes & 0xffff0000 : 0);
    });
  } else {
    if (o.d != ~0u) write_predicate(w, o.d, low);
    if (o.target != ~0u) write_predicate(w, o.target, pair ? high : low_not);
  }
  return Outcome::next;
}
template <bool is_set>
Run comparison(Type type) {
  switch (type) {
    case Type::f16:
      return compared<F16, false, is_set>;
    case Type::f16x2:
      return compared<F16, true, is_set>;
    case Type::bf16:
      return compared<Bf16, false, is_set>;
    case Type::bf16x2:
      return compared<Bf16, true, is_set>;
    default:
      return nullptr;
  }
}

}  // namespace

Run select_half(const Form& form) {
  switch (form.op) {
    case Operator::add:
      return typed<Add>(form.type);
    case Operator::sub:
      return typed<Sub>(form.type);
    case Operator::mul_lo:
      return typed<Mul>(form.type);
    case Operator::fma:
      return typed<Fma>(form.type);
    case Operator::neg:
      return typed<Neg>(form.type);
    case Operator::abs:
      return typed<Abs>(form.type);
    case Operator::min:
      return typed<Extreme<false>>(form.type);
    case Operator::max:
      return typed<Extreme<true>>(form.type);
    case Operator::setp:
      return comparison<false>(form.from);
    case Operator::set:
      return comparison<true>(form.from);
    default:
      return nullptr;
  }
}

}  // namespace plumbline::ptx::PLUMBLINE_PTX_ISA
