// SPDX-License-Identifier: Apache-2.0
// Kernels that have these run their blocks one after another: plain reads and writes are atomic.
#include "ptx/execute/atomic.hpp"

#include <cmath>
#include <cstring>
#include <type_traits>

#include "ptx/arithmetic/convert.hpp"
#include "ptx/execute/instructions/access.hpp"
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
    for (u32 m = w.mask; m; m &= m - 1) {
      const u32 i = first_lane(m);
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
    }
  });
  return polled(w, o, seen);
}

template <Atomic op>
Run integers(Type type) {
  switch (type) {
    case Type::u32:
      return run<op, u32>;
    case Type::s32:
      return run<op, s32>;
    case Type::u64:
      return run<op, u64>;
    case Type::s64:
      return run<op, s64>;
    default:
      return nullptr;
  }
}
template <Atomic op>
Run halves(Type type) {
  switch (type) {
    case Type::f16:
      return run<op, Half>;
    case Type::bf16:
      return run<op, Brain>;
    case Type::f16x2:
      return run<op, Pair<Half>>;
    case Type::bf16x2:
      return run<op, Pair<Brain>>;
    default:
      return nullptr;
  }
}
template <Atomic op>
Run bits(Type type) {
  switch (bits_of(type)) {
    case 32:
      return run<op, u32>;
    case 64:
      return run<op, u64>;
    default:
      return nullptr;
  }
}

}  // namespace

Run atomic_of(Atomic op, Type type) {
  switch (op) {
    case Atomic::add:
      if (type == Type::f32) return run<Atomic::add, f32>;
      if (type == Type::f64) return run<Atomic::add, f64>;
      if (const Run half = halves<Atomic::add>(type)) return half;
      return integers<Atomic::add>(type);
    case Atomic::min:
      if (const Run half = halves<Atomic::min>(type)) return half;
      return integers<Atomic::min>(type);
    case Atomic::max:
      if (const Run half = halves<Atomic::max>(type)) return half;
      return integers<Atomic::max>(type);
    case Atomic::inc:
      return type == Type::u32 ? run<Atomic::inc, u32> : Run{};
    case Atomic::dec:
      return type == Type::u32 ? run<Atomic::dec, u32> : Run{};
    case Atomic::bitwise_and:
      return bits<Atomic::bitwise_and>(type);
    case Atomic::bitwise_or:
      return bits<Atomic::bitwise_or>(type);
    case Atomic::bitwise_xor:
      return bits<Atomic::bitwise_xor>(type);
    case Atomic::exch:
      return bits<Atomic::exch>(type);
    case Atomic::cas:
      return bits_of(type) == 16 ? run<Atomic::cas, u16> : bits<Atomic::cas>(type);
  }
  return nullptr;
}

}  // namespace plain

Run atomic(Atomic op, Type type) { return plain::atomic_of(op, type); }

}  // namespace plumbline::ptx
