// SPDX-License-Identifier: Apache-2.0
// Loops over the 32 lanes of a warp, which the compiler makes vectors of. Included by the sources
// that are compiled for several sets of CPU instructions: everything is in their namespace, so that
// no function of one is taken for another's.
#ifndef PLUMBLINE_GPU_PTX_EXECUTE_INSTRUCTIONS_LANES_HPP
#define PLUMBLINE_GPU_PTX_EXECUTE_INSTRUCTIONS_LANES_HPP

#include <cstdint>

#include "ptx/execute/instructions/select.hpp"
#include "ptx/execute/warp.hpp"

#ifndef PLUMBLINE_PTX_ISA
#define PLUMBLINE_PTX_ISA plain
#endif

namespace plumbline::ptx::PLUMBLINE_PTX_ISA {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
using f32 = float;
using f64 = double;

constexpr u32 all_lanes = ~0u;

/// How a value of type T lies in its lane: 4 bytes, or 8. Of 16-bit types the low half is read.
template <class T>
struct Slot {
  using Bits = u32;
  static T get(Bits bits) { return static_cast<T>(bits); }
  static Bits put(T value) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<Unsigned>(value);
  }
};
template <>
struct Slot<f32> {
  using Bits = u32;
  static f32 get(Bits bits) { return __builtin_bit_cast(f32, bits); }
  static Bits put(f32 value) { return __builtin_bit_cast(u32, value); }
};
template <>
struct Slot<f64> {
  using Bits = u64;
  static f64 get(Bits bits) { return __builtin_bit_cast(f64, bits); }
  static Bits put(f64 value) { return __builtin_bit_cast(u64, value); }
};
template <>
struct Slot<u64> {
  using Bits = u64;
  static u64 get(Bits bits) { return bits; }
  static Bits put(u64 value) { return value; }
};
template <>
struct Slot<s64> {
  using Bits = u64;
  static s64 get(Bits bits) { return static_cast<s64>(bits); }
  static Bits put(s64 value) { return static_cast<u64>(value); }
};
template <class T>
using Bits = typename Slot<T>::Bits;

template <class B>
inline B* lanes(Warp& w, u32 offset) {
  return reinterpret_cast<B*>(w.registers + offset);
}
inline u32& predicate(Warp& w, u32 offset) { return *reinterpret_cast<u32*>(w.registers + offset); }

constexpr u32 lane_bits[32] = {1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,
                               1u << 7,  1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13,
                               1u << 14, 1u << 15, 1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20,
                               1u << 21, 1u << 22, 1u << 23, 1u << 24, 1u << 25, 1u << 26, 1u << 27,
                               1u << 28, 1u << 29, 1u << 30, 1u << 31};

/// d = t in the lanes of the mask.
template <class B>
inline void put(Warp& w, u32 d, const B* t) {
  B* out = lanes<B>(w, d);
  if (w.mask == all_lanes) {
    __builtin_memcpy(out, t, 32 * sizeof(B));
    return;
  }
  const u32 mask = w.mask;
  for (int i = 0; i < 32; ++i) out[i] = mask & lane_bits[i] ? t[i] : out[i];
}

/// d = f(lane) in the lanes of the mask; f gives the bits. f is asked for all lanes.
template <class B, class F>
inline void write(Warp& w, u32 d, F f) {
  B* out = lanes<B>(w, d);
  if (__builtin_expect(w.mask == all_lanes, 1)) {
#pragma GCC ivdep
    for (int i = 0; i < 32; ++i) out[i] = f(i);
    return;
  }
  alignas(64) B t[32];
  for (int i = 0; i < 32; ++i) t[i] = f(i);
  const u32 mask = w.mask;
  for (int i = 0; i < 32; ++i) out[i] = mask & lane_bits[i] ? t[i] : out[i];
}

/// A predicate's bits in the lanes of the mask.
inline void write_predicate(Warp& w, u32 d, u32 bits) {
  u32& p = predicate(w, d);
  p = (p & ~w.mask) | (bits & w.mask);
}

/// The lanes for which f is true.
template <class F>
inline u32 lanes_where(F f) {
  u32 bits[32];
  for (int i = 0; i < 32; ++i) bits[i] = f(i) ? lane_bits[i] : 0;
  u32 all = 0;
  for (int i = 0; i < 32; ++i) all |= bits[i];
  return all;
}

/// F is a struct whose operator() takes and gives values.
template <class F, class D, class A>
Outcome map(Warp& w, const Operation& o) {
  const Bits<A>* a = lanes<Bits<A>>(w, o.a);
  write<Bits<D>>(w, o.d, [=](int i) { return Slot<D>::put(F{}(Slot<A>::get(a[i]))); });
  return Outcome::next;
}
template <class F, class D, class A, class B>
Outcome map(Warp& w, const Operation& o) {
  const Bits<A>* a = lanes<Bits<A>>(w, o.a);
  const Bits<B>* b = lanes<Bits<B>>(w, o.b);
  write<Bits<D>>(w, o.d,
                 [=](int i) { return Slot<D>::put(F{}(Slot<A>::get(a[i]), Slot<B>::get(b[i]))); });
  return Outcome::next;
}
template <class F, class D, class A, class B, class C>
Outcome map(Warp& w, const Operation& o) {
  const Bits<A>* a = lanes<Bits<A>>(w, o.a);
  const Bits<B>* b = lanes<Bits<B>>(w, o.b);
  const Bits<C>* c = lanes<Bits<C>>(w, o.c);
  write<Bits<D>>(w, o.d, [=](int i) {
    return Slot<D>::put(F{}(Slot<A>::get(a[i]), Slot<B>::get(b[i]), Slot<C>::get(c[i])));
  });
  return Outcome::next;
}

}  // namespace
}  // namespace plumbline::ptx::PLUMBLINE_PTX_ISA

#endif
