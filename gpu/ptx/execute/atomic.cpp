// SPDX-License-Identifier: Apache-2.0
// Kernels that have these run their blocks one after another: plain reads and writes are atomic.
#include "ptx/execute/atomic.hpp"

#include <cmath>
#include <cstring>
#include <type_traits>

#include "ptx/arithmetic/convert.hpp"
#include "ptx/execute/instructions/access.hpp"
#include "ptx/execute/order.hpp"
#include "ptx/execute/poll.hpp"

namespace plumbline::ptx {
namespace plain {
namespace {

f32 flushed(f32 x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }
f32 canonical(f32 x) { return x == x ? x : __builtin_bit_cast(f32, 0x7fffffffu); }
f64 canonical(f64 x) { return x == x ? x : __builtin_bit_cast(f64, u64{0x7fffffffffffffff}); }

/// Floats of 16 bits, by their bits.
enum class Half : u16 {};
enum class Brain : u16 {};
f32 value(Brain x) { return __builtin_bit_cast(f32, static_cast<u32>(x) << 16); }
f32 value(Half x) {
  const u32 bits = static_cast<u32>(x), exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
  const f32 sign = bits & 0x8000 ? -1.0f : 1.0f;
  if (exponent == 31) return fraction ? __builtin_nanf("") : sign * __builtin_inff();
  return sign *
         (exponent ? std::ldexp(static_cast<f32>(fraction | 0x400), static_cast<int>(exponent) - 25)
                   : std::ldexp(static_cast<f32>(fraction), -24));
}
/// Sums and extremes of two halves are exact in f32 or rounded once more without harm: f32 has more
/// than twice their bits and two.
Brain rounded(f32 x, Brain) {
  if (x != x) return static_cast<Brain>(0x7fff);
  const u32 b = __builtin_bit_cast(u32, x);
  return static_cast<Brain>((b + 0x7fff + (b >> 16 & 1)) >> 16);
}
Half rounded(f32 x, Half) {
  if (x != x) return static_cast<Half>(0x7fff);
  const u32 b = __builtin_bit_cast(u32, x), sign = b >> 16 & 0x8000;
  const f32 a = std::fabs(x);
  if (a >= 65520.0f) return static_cast<Half>(sign | 0x7c00);
  if (a < 0x1p-14f)
    return static_cast<Half>(sign | static_cast<u32>(std::nearbyint(std::ldexp(a, 24))));
  const u32 m = (b & 0x7fffffff) - (112u << 23);
  return static_cast<Half>(sign | (m + 0xfff + (m >> 13 & 1)) >> 13);
}

template <class T>
struct Pair {
  T low, high;
};

template <Atomic op, class T>
T combined(T old, T b, T c, bool global) {
  (void)c;
  (void)global;
  if constexpr (op == Atomic::exch) {
    return b;
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Brain>) {
    const f32 x = value(old), y = value(b);
    if constexpr (op == Atomic::add) return rounded(x + y, T{});
    if (x != x || y != y) return x != x ? (y != y ? static_cast<T>(0x7fff) : b) : old;
    const bool first = op == Atomic::min ? x < y || (x == y && std::signbit(x))
                                         : x > y || (x == y && !std::signbit(x));
    return first ? old : b;
  } else if constexpr (op == Atomic::cas) {
    return old == b ? c : old;
  } else if constexpr (op == Atomic::add) {
    if constexpr (std::is_same_v<T, f32>)
      return global ? flushed(canonical(flushed(old) + flushed(b))) : canonical(old + b);
    else if constexpr (std::is_same_v<T, f64>)
      return canonical(old + b);
    else
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) +
                            static_cast<std::make_unsigned_t<T>>(b));
  } else if constexpr (op == Atomic::min) {
    return old < b ? old : b;
  } else if constexpr (op == Atomic::max) {
    return old > b ? old : b;
  } else if constexpr (op == Atomic::inc) {
    return old >= b ? T{0} : static_cast<T>(old + 1);
  } else if constexpr (op == Atomic::dec) {
    return old == 0 || old > b ? b : static_cast<T>(old - 1);
  } else if constexpr (op == Atomic::bitwise_and) {
    return static_cast<T>(old & b);
  } else if constexpr (op == Atomic::bitwise_or) {
    return static_cast<T>(old | b);
  } else {
    return static_cast<T>(old ^ b);
  }
}
template <Atomic op, class T>
Pair<T> combined(Pair<T> old, Pair<T> b, Pair<T>, bool global) {
  return {combined<op>(old.low, b.low, T{}, global), combined<op>(old.high, b.high, T{}, global)};
}

/// Of the mask, in the order of their numbers or in another one.
template <class Body>
void for_each_lane(const Warp& w, const Body& body) {
  const u64 seed = w.block->variation.order_seed;
  if (seed == 0) {
    for (u32 m = w.mask; m; m &= m - 1) body(first_lane(m));
    return;
  }
  const Order order(32, seed);
  for (u64 n = 0; n < 32; ++n) {
    const auto i = static_cast<u32>(order[n]);
    if (w.mask >> i & 1) body(i);
  }
}

template <Atomic op, class T>
Outcome run(Warp& w, const Operation& o) {
  using B = std::conditional_t<sizeof(T) == 8, u64, u32>;
  const u32 elements = op == Atomic::cas ? 1 : o.count / 2u;
  const u32 bytes = elements * sizeof(T);
  const u32* list = w.lists + o.list;
  u64 seen = 0;
  const auto take = [&](u32 offset, u32 lane) {
    T x;
    const B bits = lanes<B>(w, offset)[lane];
    __builtin_memcpy(static_cast<void*>(&x), &bits, sizeof x);
    return x;
  };
  for_each_space(w, o, bytes, Use::atomic, [&](Access& access, bool global) {
    for_each_lane(w, [&](u32 i) {
      for (u32 k = 0; k < elements; ++k) {
        T old;
        std::byte* p = access.p[i] + k * sizeof(T);
        __builtin_memcpy(static_cast<void*>(&old), p, sizeof old);
        const T b = take(list[k], i), c = op == Atomic::cas ? take(list[1], i) : b;
        const T now = combined<op>(old, b, c, global);
        __builtin_memcpy(p, &now, sizeof now);
        B bits = 0;
        __builtin_memcpy(&bits, &old, sizeof old);
        seen = seen * 31 + bits;
        const u32 d = list[op == Atomic::cas ? 2 : elements + k];
        if (d != ~0u) lanes<B>(w, d)[i] = bits;
      }
    });
  });
  // Nobody waits for a sum of floats, or for what he does not get.
  const u32 first = list[op == Atomic::cas ? 2 : elements];
  return polled(w, o, seen, std::is_integral_v<T> && first != ~0u);
}

Outcome swap_128(Warp& w, const Operation& o) {
  const u32* list = w.lists + o.list;
  u64 seen = 0;
  for_each_space(w, o, 16, Use::atomic, [&](Access& access, bool) {
    for_each_lane(w, [&](u32 i) {
      u64 old[2];
      __builtin_memcpy(old, access.p[i], 16);
      const auto half = [&](u32 k) { return lanes<u64>(w, list[k])[i]; };
      const u64 now[2] = {half(2), half(3)};
      if (old[0] == half(0) && old[1] == half(1)) __builtin_memcpy(access.p[i], now, 16);
      lanes<u64>(w, list[4])[i] = old[0];
      lanes<u64>(w, list[5])[i] = old[1];
      seen = (seen * 31 + old[0]) * 31 + old[1];
    });
  });
  return polled(w, o, seen);
}

template <Atomic op, class T>
std::uint64_t combine(std::uint64_t there, std::uint64_t other) {
  T old, b;
  __builtin_memcpy(static_cast<void*>(&old), &there, sizeof old);
  __builtin_memcpy(static_cast<void*>(&b), &other, sizeof b);
  const T now = combined<op>(old, b, b, true);
  u64 bits = 0;
  __builtin_memcpy(&bits, &now, sizeof now);
  return bits;
}

/// Want: Run or Combine.
template <Atomic op, class T, class Want>
Want pick() {
  if constexpr (std::is_same_v<Want, Run>)
    return run<op, T>;
  else
    return combine<op, T>;
}

template <Atomic op, class Want>
Want integers(Type type) {
  switch (type) {
    case Type::u32:
      return pick<op, u32, Want>();
    case Type::s32:
      return pick<op, s32, Want>();
    case Type::u64:
      return pick<op, u64, Want>();
    case Type::s64:
      return pick<op, s64, Want>();
    default:
      return nullptr;
  }
}
template <Atomic op, class Want>
Want halves(Type type) {
  switch (type) {
    case Type::f16:
      return pick<op, Half, Want>();
    case Type::bf16:
      return pick<op, Brain, Want>();
    case Type::f16x2:
      return pick<op, Pair<Half>, Want>();
    case Type::bf16x2:
      return pick<op, Pair<Brain>, Want>();
    default:
      return nullptr;
  }
}
template <Atomic op, class Want>
Want bits(Type type) {
  switch (bits_of(type)) {
    case 32:
      return pick<op, u32, Want>();
    case 64:
      return pick<op, u64, Want>();
    default:
      return nullptr;
  }
}

}  // namespace

template <class Want>
Want atomic_of(Atomic op, Type type) {
  switch (op) {
    case Atomic::add:
      if (type == Type::f32) return pick<Atomic::add, f32, Want>();
      if (type == Type::f64) return pick<Atomic::add, f64, Want>();
      if (const Want half = halves<Atomic::add, Want>(type)) return half;
      return integers<Atomic::add, Want>(type);
    case Atomic::min:
      if (const Want half = halves<Atomic::min, Want>(type)) return half;
      return integers<Atomic::min, Want>(type);
    case Atomic::max:
      if (const Want half = halves<Atomic::max, Want>(type)) return half;
      return integers<Atomic::max, Want>(type);
    case Atomic::inc:
      return type == Type::u32 ? pick<Atomic::inc, u32, Want>() : Want{};
    case Atomic::dec:
      return type == Type::u32 ? pick<Atomic::dec, u32, Want>() : Want{};
    case Atomic::bitwise_and:
      return bits<Atomic::bitwise_and, Want>(type);
    case Atomic::bitwise_or:
      return bits<Atomic::bitwise_or, Want>(type);
    case Atomic::bitwise_xor:
      return bits<Atomic::bitwise_xor, Want>(type);
    case Atomic::exch:
      return bits<Atomic::exch, Want>(type);
    case Atomic::cas:
      return bits_of(type) == 16 ? pick<Atomic::cas, u16, Want>() : bits<Atomic::cas, Want>(type);
  }
  return nullptr;
}

}  // namespace plain

Outcome compare_and_swap_128(Warp& w, const Operation& o) { return plain::swap_128(w, o); }

Run atomic(Atomic op, Type type) { return plain::atomic_of<Run>(op, type); }
Combine combination(Atomic op, Type type) { return plain::atomic_of<Combine>(op, type); }

}  // namespace plumbline::ptx
