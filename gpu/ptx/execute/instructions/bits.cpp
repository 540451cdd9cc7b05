// SPDX-License-Identifier: Apache-2.0
// Logic, shifts and bit fields (PTX ISA 9.7.1, 9.7.8, 9.7.9).
#include <type_traits>

#include "ptx/execute/instructions/lanes.hpp"

namespace plumbline::ptx::PLUMBLINE_PTX_ISA {
namespace {

template <class T>
constexpr u32 width = 8 * sizeof(T);

struct And {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};
struct Not {
  template <class T>
  T operator()(T a) const {
    return static_cast<T>(~a);
  }
};
struct Cnot {
  template <class T>
  T operator()(T a) const {
    return a == 0 ? T{1} : T{0};
  }
};
struct Shl {
  template <class T>
  T operator()(T a, u32 n) const {
    return n >= width<T> ? T{0} : static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) << n);
  }
};
struct Shr {
  template <class T>
  T operator()(T a, u32 n) const {
    if constexpr (std::is_signed_v<T>)
      return static_cast<T>(a >> (n >= width<T> ? width<T> - 1 : n));
    else
      return n >= width<T> ? T{0} : static_cast<T>(a >> n);
  }
};
template <bool left, bool clamp>
struct Funnel {
  u32 operator()(u32 a, u32 b, u32 c) const {
    const u32 n = clamp ? (c > 32 ? 32 : c) : c & 31;
    const u64 both = u64{b} << 32 | a;
    return static_cast<u32>(left ? (both << n) >> 32 : both >> n);
  }
};
struct Popc {
  template <class T>
  u32 operator()(T a) const {
    u64 v = a;
    v = v - ((v >> 1) & 0x5555555555555555u);
    v = (v & 0x3333333333333333u) + ((v >> 2) & 0x3333333333333333u);
    v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return static_cast<u32>((v * 0x0101010101010101u) >> 56);
  }
};
struct Clz {
  template <class T>
  u32 operator()(T a) const {
    return a == 0 ? width<T> : static_cast<u32>(__builtin_clzll(a)) - (64 - width<T>);
  }
};
template <bool amount>
struct Bfind {
  template <class T>
  u32 operator()(T a) const {
    using U = std::make_unsigned_t<T>;
    const U v = static_cast<U>(std::is_signed_v<T> && a < 0 ? ~a : a);
    if (v == 0) return ~0u;
    const u32 at = 63u - static_cast<u32>(__builtin_clzll(v));
    return amount ? width<T> - 1 - at : at;
  }
};
struct Brev {
  template <class T>
  T operator()(T a) const {
    u64 v = a;
    v = ((v >> 1) & 0x5555555555555555u) | (v & 0x5555555555555555u) << 1;
    v = ((v >> 2) & 0x3333333333333333u) | (v & 0x3333333333333333u) << 2;
    v = ((v >> 4) & 0x0f0f0f0f0f0f0f0fu) | (v & 0x0f0f0f0f0f0f0f0fu) << 4;
    v = __builtin_bswap64(v);
    return static_cast<T>(v >> (64 - width<T>));
  }
};
struct Bfe {
  template <class T>
  T operator()(T a, u32 position, u32 length) const {
    using U = std::make_unsigned_t<T>;
    const u32 first = position & 255, count = length & 255;
    if (count == 0) return T{0};
    const u32 last = first + count - 1 < width<T> ? first + count - 1 : width<T> - 1;
    const bool negative = std::is_signed_v<T> && (static_cast<U>(a) >> last & 1);
    U v = first >= width<T> ? U{0} : static_cast<U>(a) >> first;
    const u32 have = first >= width<T> ? 0 : last - first + 1;  // bits that come from a
    const U mask = have >= width<T> ? ~U{0} : (U{1} << have) - 1;
    v &= mask;
    return static_cast<T>(negative ? v | ~mask : v);
  }
};
template <class T>
Outcome bfi(Warp& w, const Operation& o) {
  const Bits<T>* a = lanes<Bits<T>>(w, o.a);
  const Bits<T>* b = lanes<Bits<T>>(w, o.b);
  const u32* c = lanes<u32>(w, o.c);
  const u32* length = lanes<u32>(w, o.target);
  write<Bits<T>>(w, o.d, [=](int i) {
    const u32 first = c[i] & 255, count = length[i] & 255;
    if (first >= width<T> || count == 0) return b[i];
    const T mask = static_cast<T>((count >= width<T> ? ~T{0} : (T{1} << count) - 1) << first);
    return (b[i] & ~mask) | ((a[i] << first) & mask);
  });
  return Outcome::next;
}
struct Fns {  // the offset-th set bit, counted from the bit `base`
  u32 operator()(u32 mask, u32 base, s32 offset) const {
    if (base > 31) return ~0u;
    if (offset == 0) return mask >> base & 1 ? base : ~0u;
    u32 left = static_cast<u32>(offset > 0 ? offset : -offset);
    for (s32 at = static_cast<s32>(base); at >= 0 && at<32; at += offset> 0 ? 1 : -1)
      if ((mask >> at & 1) && --left == 0) return static_cast<u32>(at);
    return ~0u;
  }
};
template <bool a_signed, bool b_signed>
struct Dp4a {
  u32 operator()(u32 a, u32 b, u32 c) const {
    for (int k = 0; k < 4; ++k) {
      const s32 x = a_signed ? static_cast<s8>(a >> 8 * k) : static_cast<s32>(a >> 8 * k & 255);
      const s32 y = b_signed ? static_cast<s8>(b >> 8 * k) : static_cast<s32>(b >> 8 * k & 255);
      c += static_cast<u32>(x * y);
    }
    return c;
  }
};
template <bool a_signed, bool b_signed, bool high>
struct Dp2a {
  u32 operator()(u32 a, u32 b, u32 c) const {
    for (int k = 0; k < 2; ++k) {
      const int at = 8 * k + (high ? 16 : 0);
      const s32 x =
          a_signed ? static_cast<s16>(a >> 16 * k) : static_cast<s32>(a >> 16 * k & 0xffff);
      const s32 y = b_signed ? static_cast<s8>(b >> at) : static_cast<s32>(b >> at & 255);
      c += static_cast<u32>(x * y);
    }
    return c;
  }
};
Outcome lop3(Warp& w, const Operation& o) {
  const u32 *a = lanes<u32>(w, o.a), *b = lanes<u32>(w, o.b), *c = lanes<u32>(w, o.c);
  u32 on[8];
  for (int k = 0; k < 8; ++k) on[k] = o.immediate >> k & 1 ? ~0u : 0;
  write<u32>(w, o.d, [=](int i) {
    const u32 x = a[i], y = b[i], z = c[i];
    const u32 low = (~y & ((~z & on[0]) | (z & on[1]))) | (y & ((~z & on[2]) | (z & on[3])));
    const u32 high = (~y & ((~z & on[4]) | (z & on[5]))) | (y & ((~z & on[6]) | (z & on[7])));
    return (~x & low) | (x & high);
  });
  return Outcome::next;
}
struct Prmt {
  u32 operator()(u32 a, u32 b, u32 selector) const {
    const u64 both = u64{b} << 32 | a;
    u32 all = 0;
    for (int k = 0; k < 4; ++k) {
      const u32 s = selector >> 4 * k & 15;
      u32 byte = static_cast<u32>(both >> 8 * (s & 7)) & 255;
      byte = s & 8 ? (byte & 128 ? 255 : 0) : byte;
      all |= byte << 8 * k;
    }
    return all;
  }
};
/// The modes of prmt that choose by two bits of c: the four selectors of each.
template <u32 s0, u32 s1, u32 s2, u32 s3>
struct PrmtMode {
  u32 operator()(u32 a, u32 b, u32 c) const {
    const u32 k = c & 3;
    return Prmt{}(a, b, k == 0 ? s0 : k == 1 ? s1 : k == 2 ? s2 : s3);
  }
};
template <bool clamp>
struct Szext {
  template <class T>
  T operator()(T a, u32 n) const {
    const u32 count = clamp ? (n > 32 ? 32 : n) : n & 31;
    if (count == 0) return 0;
    if (count >= 32) return a;
    const u32 up = static_cast<u32>(a) << (32 - count);
    if constexpr (std::is_signed_v<T>)
      return static_cast<s32>(up) >> (32 - count);
    else
      return up >> (32 - count);
  }
};
template <bool clamp>
struct Bmsk {
  u32 operator()(u32 a, u32 b) const {
    const u32 first = clamp ? a : a & 31, count = clamp ? b : b & 31;
    if (first >= 32 || count == 0) return 0;
    const u32 mask = count >= 32 ? ~0u : (1u << count) - 1;
    return mask << first;
  }
};

template <class F>
Run logic(Type type) {
  switch (bits_of(type)) {
    case 16:
    case 32:
      return map<F, u32, u32, u32>;
    case 64:
      return map<F, u64, u64, u64>;
    default:
      return nullptr;
  }
}
template <class F>
Run unary_by_width(Type type) {
  switch (bits_of(type)) {
    case 16:
      return map<F, u16, u16>;
    case 32:
      return map<F, u32, u32>;
    case 64:
      return map<F, u64, u64>;
    default:
      return nullptr;
  }
}
template <class F>
Run count(Type type) {
  return bits_of(type) == 64 ? map<F, u32, u64> : map<F, u32, u32>;
}
template <bool amount>
Run find(Type type) {
  switch (type) {
    case Type::u32:
      return map<Bfind<amount>, u32, u32>;
    case Type::s32:
      return map<Bfind<amount>, u32, s32>;
    case Type::u64:
      return map<Bfind<amount>, u32, u64>;
    case Type::s64:
      return map<Bfind<amount>, u32, s64>;
    default:
      return nullptr;
  }
}
template <template <bool, bool> class F>
Run dot(const Form& form) {
  const bool a = is_signed(form.type), b = is_signed(form.from);
  if (a)
    return b ? map<F<true, true>, u32, u32, u32, u32> : map<F<true, false>, u32, u32, u32, u32>;
  return b ? map<F<false, true>, u32, u32, u32, u32> : map<F<false, false>, u32, u32, u32, u32>;
}
template <bool a, bool b>
using Dp2aLo = Dp2a<a, b, false>;
template <bool a, bool b>
using Dp2aHi = Dp2a<a, b, true>;

Run shift_right(Type type) {
  switch (type) {
    case Type::s16:
      return map<Shr, s16, s16, u32>;
    case Type::s32:
      return map<Shr, s32, s32, u32>;
    case Type::s64:
      return map<Shr, s64, s64, u32>;
    case Type::b16:
    case Type::u16:
      return map<Shr, u16, u16, u32>;
    case Type::b32:
    case Type::u32:
      return map<Shr, u32, u32, u32>;
    case Type::b64:
    case Type::u64:
      return map<Shr, u64, u64, u32>;
    default:
      return nullptr;
  }
}

/// d = a +- b (+ carry) or the sum of a product's half, with the carry's register. flags: 1 carry
/// in, 2 carry out. A borrow is kept as it is on hardware: the complement of a carry.
template <class T, bool subtract>
Outcome carry_sum(Warp& w, const Operation& o) {
  const Bits<T>* a = lanes<Bits<T>>(w, o.a);
  const Bits<T>* b = lanes<Bits<T>>(w, o.b);
  const u32 in = predicate(w, o.target);
  const bool uses = o.flags & 1;
  T sums[32];
  u32 out = 0;
  for (int i = 0; i < 32; ++i) {
    const T c = uses ? static_cast<T>(in >> i & 1) : T{subtract ? 1 : 0};
    const T x = a[i], y = subtract ? static_cast<T>(~b[i]) : static_cast<T>(b[i]);
    const T partial = static_cast<T>(x + y), sum = static_cast<T>(partial + c);
    sums[i] = sum;
    if (partial < x || sum < partial) out |= lane_bits[i];
  }
  put<Bits<T>>(w, o.d, sums);
  if (o.flags & 2) write_predicate(w, o.target, out);
  return Outcome::next;
}
template <class T, bool high>
Outcome carry_mad(Warp& w, const Operation& o) {
  using U = std::make_unsigned_t<T>;
  const Bits<T>*a = lanes<Bits<T>>(w, o.a), *b = lanes<Bits<T>>(w, o.b),
        *c = lanes<Bits<T>>(w, o.c);
  const u32 in = predicate(w, o.target);
  const bool uses = o.flags & 1;
  Bits<T> sums[32];
  u32 out = 0;
  for (int i = 0; i < 32; ++i) {
    const __int128 product =
        static_cast<__int128>(Slot<T>::get(a[i])) * static_cast<__int128>(Slot<T>::get(b[i]));
    const U x = static_cast<U>(high ? product >> width<T> : product);
    const U carry = uses ? static_cast<U>(in >> i & 1) : U{0};
    const U partial = static_cast<U>(x + c[i]), sum = static_cast<U>(partial + carry);
    sums[i] = sum;
    if (partial < x || sum < partial) out |= lane_bits[i];
  }
  put<Bits<T>>(w, o.d, sums);
  if (o.flags & 2) write_predicate(w, o.target, out);
  return Outcome::next;
}
template <bool high>
Run carry_mad(Type type) {
  switch (type) {
    case Type::u32:
      return carry_mad<u32, high>;
    case Type::s32:
      return carry_mad<s32, high>;
    case Type::u64:
      return carry_mad<u64, high>;
    case Type::s64:
      return carry_mad<s64, high>;
    default:
      return nullptr;
  }
}

}  // namespace

Run select_bits(const Form& form) {
  const bool wide = bits_of(form.type) == 64;
  switch (form.op) {
    case Operator::bitwise_and:
      return logic<And>(form.type);
    case Operator::bitwise_or:
      return logic<Or>(form.type);
    case Operator::bitwise_xor:
      return logic<Xor>(form.type);
    case Operator::bitwise_not:
      return unary_by_width<Not>(form.type);
    case Operator::cnot:
      return unary_by_width<Cnot>(form.type);
    case Operator::shl:
      switch (bits_of(form.type)) {
        case 16:
          return map<Shl, u16, u16, u32>;
        case 32:
          return map<Shl, u32, u32, u32>;
        case 64:
          return map<Shl, u64, u64, u32>;
        default:
          return nullptr;
      }
    case Operator::shr:
      return shift_right(form.type);
    case Operator::shf_l_clamp:
      return map<Funnel<true, true>, u32, u32, u32, u32>;
    case Operator::shf_l_wrap:
      return map<Funnel<true, false>, u32, u32, u32, u32>;
    case Operator::shf_r_clamp:
      return map<Funnel<false, true>, u32, u32, u32, u32>;
    case Operator::shf_r_wrap:
      return map<Funnel<false, false>, u32, u32, u32, u32>;
    case Operator::popc:
      return count<Popc>(form.type);
    case Operator::clz:
      return count<Clz>(form.type);
    case Operator::bfind:
      return find<false>(form.type);
    case Operator::bfind_shiftamt:
      return find<true>(form.type);
    case Operator::brev:
      return wide ? map<Brev, u64, u64> : map<Brev, u32, u32>;
    case Operator::bfe:
      switch (form.type) {
        case Type::u32:
          return map<Bfe, u32, u32, u32, u32>;
        case Type::s32:
          return map<Bfe, s32, s32, u32, u32>;
        case Type::u64:
          return map<Bfe, u64, u64, u32, u32>;
        case Type::s64:
          return map<Bfe, s64, s64, u32, u32>;
        default:
          return nullptr;
      }
    case Operator::bfi:
      return wide ? bfi<u64> : bfi<u32>;
    case Operator::fns:
      return map<Fns, u32, u32, u32, s32>;
    case Operator::dp4a:
      return dot<Dp4a>(form);
    case Operator::dp2a_lo:
      return dot<Dp2aLo>(form);
    case Operator::dp2a_hi:
      return dot<Dp2aHi>(form);
    case Operator::lop3:
      return lop3;
    case Operator::prmt:
      return map<Prmt, u32, u32, u32, u32>;
    case Operator::prmt_f4e:
      return map<PrmtMode<0x3210, 0x4321, 0x5432, 0x6543>, u32, u32, u32, u32>;
    case Operator::prmt_b4e:
      return map<PrmtMode<0x5670, 0x6701, 0x7012, 0x0123>, u32, u32, u32, u32>;
    case Operator::prmt_rc8:
      return map<PrmtMode<0x0000, 0x1111, 0x2222, 0x3333>, u32, u32, u32, u32>;
    case Operator::prmt_ecl:
      return map<PrmtMode<0x3210, 0x3211, 0x3222, 0x3333>, u32, u32, u32, u32>;
    case Operator::prmt_ecr:
      return map<PrmtMode<0x0000, 0x1110, 0x2210, 0x3210>, u32, u32, u32, u32>;
    case Operator::prmt_rc16:
      return map<PrmtMode<0x1010, 0x3232, 0x1010, 0x3232>, u32, u32, u32, u32>;
    case Operator::szext_clamp:
      return is_signed(form.type) ? map<Szext<true>, s32, s32, u32>
                                  : map<Szext<true>, u32, u32, u32>;
    case Operator::szext_wrap:
      return is_signed(form.type) ? map<Szext<false>, s32, s32, u32>
                                  : map<Szext<false>, u32, u32, u32>;
    case Operator::bmsk_clamp:
      return map<Bmsk<true>, u32, u32, u32>;
    case Operator::bmsk_wrap:
      return map<Bmsk<false>, u32, u32, u32>;
    case Operator::add_carry:
      return wide ? carry_sum<u64, false> : carry_sum<u32, false>;
    case Operator::sub_carry:
      return wide ? carry_sum<u64, true> : carry_sum<u32, true>;
    case Operator::mad_lo_carry:
      return carry_mad<false>(form.type);
    case Operator::mad_hi_carry:
      return carry_mad<true>(form.type);
    default:
      return nullptr;
  }
}

}  // namespace plumbline::ptx::PLUMBLINE_PTX_ISA
