// SPDX-License-Identifier: Apache-2.0
// The most frequent conversions: of integers, to f32 and f64, between these. The others are those
// of arithmetic/convert.hpp.
#include <type_traits>

#include "ptx/arithmetic/bits.hpp"
#include "ptx/execute/instructions/floats.hpp"

namespace plumbline::ptx::PLUMBLINE_PTX_ISA {
namespace {

/// An integer of 8 bits is in the low byte of its lane; a result of 8 or 16 bits has its sign, or
/// zeros, above it.
template <class D, class A>
Outcome integer(Warp& w, const Operation& o) {
  using Bits_a = std::conditional_t<sizeof(A) == 8, u64, u32>;
  using Bits_d = std::conditional_t<sizeof(D) == 8, u64, u32>;
  using Wide = std::conditional_t<std::is_signed_v<D>, std::make_signed_t<Bits_d>, Bits_d>;
  const Bits_a* a = lanes<Bits_a>(w, o.a);
  write<Bits_d>(w, o.d, [=](int i) {
    return static_cast<Bits_d>(static_cast<Wide>(static_cast<D>(static_cast<A>(a[i]))));
  });
  return Outcome::next;
}
template <class D>
Run integers(Type from) {
  switch (from) {
    case Type::u8:
      return integer<D, u8>;
    case Type::s8:
      return integer<D, s8>;
    case Type::u16:
      return integer<D, u16>;
    case Type::s16:
      return integer<D, s16>;
    case Type::u32:
      return integer<D, u32>;
    case Type::s32:
      return integer<D, s32>;
    case Type::u64:
      return integer<D, u64>;
    case Type::s64:
      return integer<D, s64>;
    default:
      return nullptr;
  }
}

struct To32 {
  template <class A>
  f32 operator()(A a) const {
    return canonical(static_cast<f32>(a));
  }
};
struct To64 {
  template <class A>
  f64 operator()(A a) const {
    return canonical(static_cast<f64>(a));
  }
};
struct FlushTo64 {
  f64 operator()(f32 a) const { return canonical(static_cast<f64>(flush<true>(a))); }
};
struct FlushTo32 {
  f32 operator()(f64 a) const { return flush<true>(canonical(static_cast<f32>(a))); }
};
/// f32 to an integral f32, and .sat.
template <Round round, bool ftz, bool sat>
struct Integral {
  f32 operator()(f32 a) const {
    a = flush<ftz>(a);
    f32 r = round == Round::rni   ? __builtin_rintf(a)
            : round == Round::rzi ? __builtin_truncf(a)
            : round == Round::rmi ? __builtin_floorf(a)
            : round == Round::rpi ? __builtin_ceilf(a)
                                  : a;
    return sat ? saturate(flush<ftz>(r)) : canonical(flush<ftz>(r));
  }
};
template <Round round>
Run integral(const Form& form) {
  if (form.ftz)
    return form.sat ? map<Integral<round, true, true>, f32, f32>
                    : map<Integral<round, true, false>, f32, f32>;
  return form.sat ? map<Integral<round, false, true>, f32, f32>
                  : map<Integral<round, false, false>, f32, f32>;
}
/// To an integer of 32 bits: clamped; NaN is 0.
template <class D, Round round, bool ftz>
struct ToInteger {
  D operator()(f32 a) const {
    const f32 r = Integral<round, ftz, false>{}(a);
    constexpr f32 top = std::is_signed_v<D> ? 0x1p31f : 0x1p32f;
    constexpr f32 least = std::is_signed_v<D> ? -0x1p31f : 0.0f;
    const f32 inside = r > least ? (r < top ? r : least) : least;  // also for NaN
    const D value = static_cast<D>(static_cast<s64>(inside));
    const D beyond = static_cast<D>(std::is_signed_v<D> ? 0x7fffffff : 0xffffffff);
    return a != a ? D{0} : r >= top ? beyond : value;
  }
};
template <class D, bool ftz>
Run to_integer(Round round) {
  switch (round) {
    case Round::rni:
      return map<ToInteger<D, Round::rni, ftz>, D, f32>;
    case Round::rzi:
      return map<ToInteger<D, Round::rzi, ftz>, D, f32>;
    case Round::rmi:
      return map<ToInteger<D, Round::rmi, ftz>, D, f32>;
    case Round::rpi:
      return map<ToInteger<D, Round::rpi, ftz>, D, f32>;
    default:
      return nullptr;
  }
}

struct ToF16 {
  u32 operator()(f32 a) const { return arithmetic::to_f16(a); }
};
struct ToBf16 {
  u32 operator()(f32 a) const { return arithmetic::to_bf16(a); }
};

template <class F, class D>
Run floats(Type from, Round round) {
  switch (from) {
    case Type::u32:
      return with_rounding<map<F, D, u32>>(round);
    case Type::s32:
      return with_rounding<map<F, D, s32>>(round);
    case Type::u64:
      return with_rounding<map<F, D, u64>>(round);
    case Type::s64:
      return with_rounding<map<F, D, s64>>(round);
    default:
      return nullptr;
  }
}

}  // namespace

Run select_convert(const Form& form) {
  if (form.op != Operator::cvt) return nullptr;
  if (form.type == Type::f32 && form.from == Type::f32) switch (form.round) {
      case Round::none:
        return integral<Round::none>(form);
      case Round::rni:
        return integral<Round::rni>(form);
      case Round::rzi:
        return integral<Round::rzi>(form);
      case Round::rmi:
        return integral<Round::rmi>(form);
      case Round::rpi:
        return integral<Round::rpi>(form);
      default:
        return nullptr;
    }
  if (form.from == Type::f32 && form.type == Type::s32)
    return form.ftz ? to_integer<s32, true>(form.round) : to_integer<s32, false>(form.round);
  if (form.from == Type::f32 && form.type == Type::u32)
    return form.ftz ? to_integer<u32, true>(form.round) : to_integer<u32, false>(form.round);
  if (form.sat) return nullptr;
  if (form.from == Type::f32 && form.round == Round::rn && !form.ftz) {
    if (form.type == Type::f16) return map<ToF16, u32, f32>;
    if (form.type == Type::bf16) return map<ToBf16, u32, f32>;
  }
  switch (form.type) {
    case Type::u8:
      return integers<u8>(form.from);
    case Type::s8:
      return integers<s8>(form.from);
    case Type::u16:
      return integers<u16>(form.from);
    case Type::s16:
      return integers<s16>(form.from);
    case Type::u32:
      return integers<u32>(form.from);
    case Type::s32:
      return integers<s32>(form.from);
    case Type::u64:
      return integers<u64>(form.from);
    case Type::s64:
      return integers<s64>(form.from);
    case Type::f32:
      if (form.from == Type::f64)
        return form.ftz ? with_rounding<map<FlushTo32, f32, f64>>(form.round)
                        : with_rounding<map<To32, f32, f64>>(form.round);
      return floats<To32, f32>(form.from, form.round);
    case Type::f64:
      if (form.from == Type::f32) return form.ftz ? map<FlushTo64, f64, f32> : map<To64, f64, f32>;
      return floats<To64, f64>(form.from, form.round);
    default:
      return nullptr;
  }
}

}  // namespace plumbline::ptx::PLUMBLINE_PTX_ISA
