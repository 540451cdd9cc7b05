// SPDX-License-Identifier: Apache-2.0
// Arithmetic of f32 (PTX ISA 9.7.3) without the approximate functions.
#include "ptx/execute/instructions/floats.hpp"

namespace plumbline::ptx::PLUMBLINE_PTX_ISA {
namespace {

template <bool ftz, bool sat>
f32 result(f32 x) {
  if constexpr (sat) return saturate(flush<ftz>(x));
  return canonical(flush<ftz>(x));
}

template <bool ftz, bool sat>
struct Add {
  f32 operator()(f32 a, f32 b) const { return result<ftz, sat>(flush<ftz>(a) + flush<ftz>(b)); }
};
template <bool ftz, bool sat>
struct Sub {
  f32 operator()(f32 a, f32 b) const { return result<ftz, sat>(flush<ftz>(a) - flush<ftz>(b)); }
};
template <bool ftz, bool sat>
struct Mul {
  f32 operator()(f32 a, f32 b) const { return result<ftz, sat>(flush<ftz>(a) * flush<ftz>(b)); }
};
template <bool ftz, bool sat>
struct Fma {
  f32 operator()(f32 a, f32 b, f32 c) const {
    return result<ftz, sat>(__builtin_fmaf(flush<ftz>(a), flush<ftz>(b), flush<ftz>(c)));
  }
};
template <bool ftz, bool>
struct Div {
  f32 operator()(f32 a, f32 b) const { return result<ftz, false>(flush<ftz>(a) / flush<ftz>(b)); }
};
template <bool ftz, bool>
struct Rcp {
  f32 operator()(f32 a) const { return result<ftz, false>(1.0f / flush<ftz>(a)); }
};
template <bool ftz, bool>
struct Sqrt {
  f32 operator()(f32 a) const { return result<ftz, false>(__builtin_sqrtf(flush<ftz>(a))); }
};
template <bool ftz>
struct Neg {
  f32 operator()(f32 a) const { return real(bits(flush<ftz>(a)) ^ 0x80000000u); }
};
template <bool ftz>
struct Abs {
  f32 operator()(f32 a) const { return real(bits(flush<ftz>(a)) & 0x7fffffffu); }
};
struct Copysign {  // the sign of a, the rest of b
  f32 operator()(f32 a, f32 b) const {
    return real((bits(a) & 0x80000000u) | (bits(b) & 0x7fffffffu));
  }
};
/// An order of the numbers in which -0 is below +0.
inline s32 rank(f32 x) {
  const s32 b = static_cast<s32>(bits(x));
  return b ^ ((b >> 31) & 0x7fffffff);
}
template <bool ftz, bool maximum, bool nan, bool xorsign>
struct Extreme {
  f32 operator()(f32 a, f32 b) const {
    a = flush<ftz>(a);
    b = flush<ftz>(b);
    u32 sign = 0;
    if constexpr (xorsign) {
      sign = (bits(a) ^ bits(b)) & 0x80000000u;
      a = real(bits(a) & 0x7fffffffu);
      b = real(bits(b) & 0x7fffffffu);
    }
    const bool first = maximum ? rank(a) > rank(b) : rank(a) < rank(b);
    f32 r = first ? a : b;
    const bool a_nan = a != a, b_nan = b != b;
    if constexpr (nan) {
      return a_nan || b_nan ? real(0x7fffffffu) : real(bits(r) | sign);
    }
    r = a_nan ? b : b_nan ? a : r;
    return canonical(real(bits(r) | sign));
  }
};
template <bool ftz, bool maximum, bool nan, bool xorsign>
struct Extreme3 {
  f32 operator()(f32 a, f32 b, f32 c) const {
    const Extreme<ftz, maximum, nan, xorsign> of_two;
    return of_two(of_two(a, b), c);
  }
};

template <template <bool, bool> class F, bool ftz, bool sat>
Run two(Round round) {
  return with_rounding<map<F<ftz, sat>, f32, f32, f32>>(round);
}
template <template <bool, bool> class F>
Run two(const Form& form) {
  if (form.ftz) return form.sat ? two<F, true, true>(form.round) : two<F, true, false>(form.round);
  return form.sat ? two<F, false, true>(form.round) : two<F, false, false>(form.round);
}
template <bool ftz, bool sat>
Run fma(Round round) {
  return with_rounding<map<Fma<ftz, sat>, f32, f32, f32, f32>>(round);
}
template <template <bool, bool> class F>
Run one(const Form& form) {
  return form.ftz ? with_rounding<map<F<true, false>, f32, f32>>(form.round)
                  : with_rounding<map<F<false, false>, f32, f32>>(form.round);
}
template <bool ftz, bool maximum, bool three>
Run extreme(const Form& form) {
  if constexpr (three) {
    if (form.xorsign)
      return form.nan ? map<Extreme3<ftz, maximum, true, true>, f32, f32, f32, f32>
                      : map<Extreme3<ftz, maximum, false, true>, f32, f32, f32, f32>;
    return form.nan ? map<Extreme3<ftz, maximum, true, false>, f32, f32, f32, f32>
                    : map<Extreme3<ftz, maximum, false, false>, f32, f32, f32, f32>;
  } else {
    if (form.xorsign)
      return form.nan ? map<Extreme<ftz, maximum, true, true>, f32, f32, f32>
                      : map<Extreme<ftz, maximum, false, true>, f32, f32, f32>;
    return form.nan ? map<Extreme<ftz, maximum, true, false>, f32, f32, f32>
                    : map<Extreme<ftz, maximum, false, false>, f32, f32, f32>;
  }
}
template <bool maximum, bool three>
Run extreme(const Form& form) {
  return form.ftz ? extreme<true, maximum, three>(form) : extreme<false, maximum, three>(form);
}

/// Two f32 in 64 bits.
template <class F>
struct Pair {
  u64 operator()(u64 a, u64 b) const {
    const u32 low = bits(F{}(real(static_cast<u32>(a)), real(static_cast<u32>(b))));
    const u32 high = bits(F{}(real(static_cast<u32>(a >> 32)), real(static_cast<u32>(b >> 32))));
    return u64{high} << 32 | low;
  }
  u64 operator()(u64 a, u64 b, u64 c) const {
    const u32 low =
        bits(F{}(real(static_cast<u32>(a)), real(static_cast<u32>(b)), real(static_cast<u32>(c))));
    const u32 high = bits(F{}(real(static_cast<u32>(a >> 32)), real(static_cast<u32>(b >> 32)),
                              real(static_cast<u32>(c >> 32))));
    return u64{high} << 32 | low;
  }
};
template <template <bool, bool> class F>
Run pair(const Form& form) {
  return form.ftz ? with_rounding<map<Pair<F<true, false>>, u64, u64, u64>>(form.round)
                  : with_rounding<map<Pair<F<false, false>>, u64, u64, u64>>(form.round);
}
Run select_pair(const Form& form) {
  switch (form.op) {
    case Operator::add:
      return pair<Add>(form);
    case Operator::sub:
      return pair<Sub>(form);
    case Operator::mul_lo:
      return pair<Mul>(form);
    case Operator::fma:
      return form.ftz ? with_rounding<map<Pair<Fma<true, false>>, u64, u64, u64, u64>>(form.round)
                      : with_rounding<map<Pair<Fma<false, false>>, u64, u64, u64, u64>>(form.round);
    default:
      return nullptr;
  }
}

}  // namespace

Run select_f32(const Form& form) {
  if (form.type == Type::f32x2) return select_pair(form);
  if (form.type != Type::f32 || form.approximate) return nullptr;
  switch (form.op) {
    case Operator::add:
      return two<Add>(form);
    case Operator::sub:
      return two<Sub>(form);
    case Operator::mul_lo:
      return two<Mul>(form);
    case Operator::fma:
      if (form.ftz) return form.sat ? fma<true, true>(form.round) : fma<true, false>(form.round);
      return form.sat ? fma<false, true>(form.round) : fma<false, false>(form.round);
    case Operator::div:
      return form.ftz ? two<Div, true, false>(form.round) : two<Div, false, false>(form.round);
    case Operator::rcp:
      return one<Rcp>(form);
    case Operator::sqrt:
      return one<Sqrt>(form);
    case Operator::neg:
      return form.ftz ? map<Neg<true>, f32, f32> : map<Neg<false>, f32, f32>;
    case Operator::abs:
      return form.ftz ? map<Abs<true>, f32, f32> : map<Abs<false>, f32, f32>;
    case Operator::copysign:
      return map<Copysign, f32, f32, f32>;
    case Operator::min:
      return extreme<false, false>(form);
    case Operator::max:
      return extreme<true, false>(form);
    case Operator::min3:
      return extreme<false, true>(form);
    case Operator::max3:
      return extreme<true, true>(form);
    default:
      return nullptr;
  }
}

}  // namespace plumbline::ptx::PLUMBLINE_PTX_ISA
