// SPDX-License-Identifier: Apache-2.0
// Arithmetic of integers (PTX ISA 9.7.1).
#include <type_traits>

#include "ptx/execute/instructions/lanes.hpp"

namespace plumbline::ptx::PLUMBLINE_PTX_ISA {
namespace {

template <class T>
using Unsigned = std::make_unsigned_t<T>;
template <class T>
struct Twice;
template <>
struct Twice<u16> {
  using type = u32;
};
template <>
struct Twice<s16> {
  using type = s32;
};
template <>
struct Twice<u32> {
  using type = u64;
};
template <>
struct Twice<s32> {
  using type = s64;
};
template <>
struct Twice<u64> {
  using type = unsigned __int128;
};
template <>
struct Twice<s64> {
  using type = __int128;
};
template <class T>
using Wide = typename Twice<T>::type;

template <class T>
T wrap(Unsigned<T> value) {
  return static_cast<T>(value);
}

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(Unsigned<T>(a) + Unsigned<T>(b));
  }
};
struct Sub {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(Unsigned<T>(a) - Unsigned<T>(b));
  }
};
struct AddSat {
  s32 operator()(s32 a, s32 b) const {
    const s64 sum = s64{a} + b;
    return static_cast<s32>(sum > 2147483647      ? 2147483647
                            : sum < -2147483648LL ? -2147483648LL
                                                  : sum);
  }
};
struct SubSat {
  s32 operator()(s32 a, s32 b) const {
    const s64 sum = s64{a} - b;
    return static_cast<s32>(sum > 2147483647      ? 2147483647
                            : sum < -2147483648LL ? -2147483648LL
                                                  : sum);
  }
};
struct MulLo {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(u64(Unsigned<T>(a)) * u64(Unsigned<T>(b)));
  }
};
struct MulHi {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>((Wide<T>(a) * Wide<T>(b)) >> (8 * sizeof(T)));
  }
};
struct MulWide {
  template <class T>
  Wide<T> operator()(T a, T b) const {
    return Wide<T>(a) * Wide<T>(b);
  }
};
struct MadLo {
  template <class T>
  T operator()(T a, T b, T c) const {
    return Add{}(MulLo{}(a, b), c);
  }
};
struct MadHi {
  template <class T>
  T operator()(T a, T b, T c) const {
    return Add{}(MulHi{}(a, b), c);
  }
};
struct MadHiSat {
  s32 operator()(s32 a, s32 b, s32 c) const { return AddSat{}(MulHi{}(a, b), c); }
};
struct MadWide {
  template <class T>
  Wide<T> operator()(T a, T b, Wide<T> c) const {
    return Add{}(Wide<T>(a) * Wide<T>(b), c);
  }
};
template <class T>
s64 low24(T a) {
  if constexpr (std::is_signed_v<T>)
    return static_cast<s32>(static_cast<u32>(a) << 8) >> 8;
  else
    return a & 0xffffffu;
}
struct Mul24Lo {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(low24(a) * low24(b));
  }
};
struct Mul24Hi {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>((low24(a) * low24(b)) >> 16);
  }
};
struct Mad24Lo {
  template <class T>
  T operator()(T a, T b, T c) const {
    return Add{}(Mul24Lo{}(a, b), c);
  }
};
struct Mad24Hi {
  template <class T>
  T operator()(T a, T b, T c) const {
    return Add{}(Mul24Hi{}(a, b), c);
  }
};
struct Mad24HiSat {
  s32 operator()(s32 a, s32 b, s32 c) const { return AddSat{}(Mul24Hi{}(a, b), c); }
};
struct Sad {
  template <class T>
  T operator()(T a, T b, T c) const {
    return Add{}(a < b ? Sub{}(b, a) : Sub{}(a, b), c);
  }
};
struct Div {  // by 0: all bits, what hardware gives; the ISA leaves it open
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return static_cast<T>(-1);
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return Sub{}(T{0}, a);
    return static_cast<T>(a / b);
  }
};
struct Rem {
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return a;
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return T{0};
    return static_cast<T>(a % b);
  }
};
struct Abs {
  template <class T>
  T operator()(T a) const {
    return a < 0 ? Sub{}(T{0}, a) : a;
  }
};
struct Neg {
  template <class T>
  T operator()(T a) const {
    return Sub{}(T{0}, a);
  }
};
struct Min {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? a : b;
  }
};
struct Max {
  template <class T>
  T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};
struct MinRelu {
  s32 operator()(s32 a, s32 b) const { return Max{}(Min{}(a, b), 0); }
};
struct MaxRelu {
  s32 operator()(s32 a, s32 b) const { return Max{}(Max{}(a, b), 0); }
};
/// Of two halves.
template <class F, class Half>
struct Pair {
  u32 operator()(u32 a, u32 b) const {
    const u32 low = static_cast<u16>(F{}(static_cast<Half>(a), static_cast<Half>(b)));
    const u32 high = static_cast<u16>(F{}(static_cast<Half>(a >> 16), static_cast<Half>(b >> 16)));
    return high << 16 | low;
  }
};
struct MinRelu16 {
  s16 operator()(s16 a, s16 b) const { return Max{}(Min{}(a, b), s16{0}); }
};
struct MaxRelu16 {
  s16 operator()(s16 a, s16 b) const { return Max{}(Max{}(a, b), s16{0}); }
};

template <class F>
Run any(Type type) {
  switch (type) {
    case Type::u16:
      return map<F, u16, u16, u16>;
    case Type::s16:
      return map<F, s16, s16, s16>;
    case Type::u32:
      return map<F, u32, u32, u32>;
    case Type::s32:
      return map<F, s32, s32, s32>;
    case Type::u64:
      return map<F, u64, u64, u64>;
    case Type::s64:
      return map<F, s64, s64, s64>;
    default:
      return nullptr;
  }
}
template <class F>
Run any3(Type type) {
  switch (type) {
    case Type::u16:
      return map<F, u16, u16, u16, u16>;
    case Type::s16:
      return map<F, s16, s16, s16, s16>;
    case Type::u32:
      return map<F, u32, u32, u32, u32>;
    case Type::s32:
      return map<F, s32, s32, s32, s32>;
    case Type::u64:
      return map<F, u64, u64, u64, u64>;
    case Type::s64:
      return map<F, s64, s64, s64, s64>;
    default:
      return nullptr;
  }
}
template <class F>
Run of_signed(Type type) {
  switch (type) {
    case Type::s16:
      return map<F, s16, s16>;
    case Type::s32:
      return map<F, s32, s32>;
    case Type::s64:
      return map<F, s64, s64>;
    default:
      return nullptr;
  }
}
template <class F>
Run of_32(Type type) {
  return type == Type::u32   ? map<F, u32, u32, u32>
         : type == Type::s32 ? map<F, s32, s32, s32>
                             : Run{};
}
template <class F>
Run of_32_3(Type type) {
  return type == Type::u32   ? map<F, u32, u32, u32, u32>
         : type == Type::s32 ? map<F, s32, s32, s32, s32>
                             : Run{};
}
template <class F, class Sat>
Run saturating(const Form& form) {
  if (!form.sat) return any<F>(form.type);
  return form.type == Type::s32 ? map<Sat, s32, s32, s32> : Run{};
}
template <class F, class F3>
Run extreme(const Form& form) {
  switch (form.type) {
    case Type::u16x2:
      return map<Pair<F, u16>, u32, u32, u32>;
    case Type::s16x2:
      if (form.relu) return map<Pair<F3, s16>, u32, u32, u32>;
      return map<Pair<F, s16>, u32, u32, u32>;
    case Type::s32:
      if (form.relu)
        return std::is_same_v<F, Min> ? map<MinRelu, s32, s32, s32> : map<MaxRelu, s32, s32, s32>;
      [[fallthrough]];
    default:
      return any<F>(form.type);
  }
}

}  // namespace

Run select_integer(const Form& form) {
  switch (form.op) {
    case Operator::add:
      if (form.type == Type::u16x2 || form.type == Type::s16x2)
        return map<Pair<Add, u16>, u32, u32, u32>;
      return saturating<Add, AddSat>(form);
    case Operator::sub:
      return saturating<Sub, SubSat>(form);
    case Operator::mul_lo:
      return any<MulLo>(form.type);
    case Operator::mul_hi:
      return any<MulHi>(form.type);
    case Operator::mul_wide:
      switch (form.type) {
        case Type::u16:
          return map<MulWide, u32, u16, u16>;
        case Type::s16:
          return map<MulWide, s32, s16, s16>;
        case Type::u32:
          return map<MulWide, u64, u32, u32>;
        case Type::s32:
          return map<MulWide, s64, s32, s32>;
        default:
          return nullptr;
      }
    case Operator::mad_lo:
      return any3<MadLo>(form.type);
    case Operator::mad_hi:
      if (form.sat) return form.type == Type::s32 ? map<MadHiSat, s32, s32, s32, s32> : Run{};
      return any3<MadHi>(form.type);
    case Operator::mad_wide:
      switch (form.type) {
        case Type::u16:
          return map<MadWide, u32, u16, u16, u32>;
        case Type::s16:
          return map<MadWide, s32, s16, s16, s32>;
        case Type::u32:
          return map<MadWide, u64, u32, u32, u64>;
        case Type::s32:
          return map<MadWide, s64, s32, s32, s64>;
        default:
          return nullptr;
      }
    case Operator::mul24_lo:
      return of_32<Mul24Lo>(form.type);
    case Operator::mul24_hi:
      return of_32<Mul24Hi>(form.type);
    case Operator::mad24_lo:
      return of_32_3<Mad24Lo>(form.type);
    case Operator::mad24_hi:
      if (form.sat) return form.type == Type::s32 ? map<Mad24HiSat, s32, s32, s32, s32> : Run{};
      return of_32_3<Mad24Hi>(form.type);
    case Operator::sad:
      return any3<Sad>(form.type);
    case Operator::div:
      return any<Div>(form.type);
    case Operator::rem:
      return any<Rem>(form.type);
    case Operator::abs:
      return of_signed<Abs>(form.type);
    case Operator::neg:
      return of_signed<Neg>(form.type);
    case Operator::min:
      return extreme<Min, MinRelu16>(form);
    case Operator::max:
      return extreme<Max, MaxRelu16>(form);
    default:
      return nullptr;
  }
}

}  // namespace plumbline::ptx::PLUMBLINE_PTX_ISA
