// SPDX-License-Identifier: Apache-2.0
// Compiled once for each level, whose name PLUMBLINE_PTX_LEVEL is.
#include "ptx/arithmetic/convert_lanes.hpp"

#include "ptx/arithmetic/bits.hpp"
#include "ptx/arithmetic/narrow.hpp"

namespace plumbline::ptx::arithmetic::PLUMBLINE_PTX_LEVEL {
namespace {

using Word = std::uint32_t;
using Wide = std::uint64_t;

/// d[lane] = f(a[lane]); the words are read before any is written.
template <class To, class From, class F>
PLUMBLINE_PTX_INLINE void each(void* d, const void* a, F f) {
  From in[kLanes];
  To out[kLanes];
  __builtin_memcpy(in, a, sizeof in);
  for (int i = 0; i < kLanes; ++i) out[i] = f(in[i]);
  __builtin_memcpy(d, out, sizeof out);
}

template <class F>
PLUMBLINE_PTX_INLINE void each_pair(void* d, const void* a, const void* b, F f) {
  Word high[kLanes], low[kLanes], out[kLanes];
  __builtin_memcpy(high, a, sizeof high);
  __builtin_memcpy(low, b, sizeof low);
  for (int i = 0; i < kLanes; ++i) out[i] = f(float_of(high[i]), float_of(low[i]));
  __builtin_memcpy(d, out, sizeof out);
}

#define PLUMBLINE_PTX_EACH(name, To, From, expression)                        \
  void name(const Conversion&, void* d, const void* a, const void*) {         \
    each<To, From>(d, a, [](From x) { return static_cast<To>(expression); }); \
  }
#define PLUMBLINE_PTX_PAIR(name, expression)                                            \
  void name(const Conversion&, void* d, const void* a, const void* b) {                 \
    each_pair(d, a, b, [](float x, float y) { return static_cast<Word>(expression); }); \
  }

PLUMBLINE_PTX_INLINE Word canonical(float x) { return x != x ? kNan : bits_of(x); }

PLUMBLINE_PTX_EACH(f16_of_f32, Word, Word, to_f16(float_of(x)))
PLUMBLINE_PTX_EACH(bf16_of_f32, Word, Word, to_bf16(float_of(x)))
PLUMBLINE_PTX_EACH(f32_of_f16, Word, Word, canonical(from_f16(x)))
PLUMBLINE_PTX_EACH(f32_of_bf16, Word, Word, canonical(from_bf16(x)))
PLUMBLINE_PTX_EACH(tf32_of_f32, Word, Word, to_tf32_rna(x))
PLUMBLINE_PTX_PAIR(f16x2_of_f32, to_f16(x) << 16 | to_f16(y))
PLUMBLINE_PTX_PAIR(bf16x2_of_f32, to_bf16(x) << 16 | to_bf16(y))
PLUMBLINE_PTX_PAIR(e4m3x2_of_f32, to_e4m3(x) << 8 | to_e4m3(y))
PLUMBLINE_PTX_PAIR(e5m2x2_of_f32, to_e5m2(x) << 8 | to_e5m2(y))
PLUMBLINE_PTX_EACH(e4m3x2_of_f16x2, Word, Word,
                   to_e4m3(from_f16(x >> 16)) << 8 | to_e4m3(from_f16(x & 0xffff)))
PLUMBLINE_PTX_EACH(e5m2x2_of_f16x2, Word, Word,
                   to_e5m2(from_f16(x >> 16)) << 8 | to_e5m2(from_f16(x & 0xffff)))
PLUMBLINE_PTX_EACH(f16x2_of_e4m3x2, Word, Word,
                   to_f16(from_e4m3(x >> 8)) << 16 | to_f16(from_e4m3(x)))
PLUMBLINE_PTX_EACH(f16x2_of_e5m2x2, Word, Word,
                   to_f16(from_e5m2(x >> 8)) << 16 | to_f16(from_e5m2(x)))
PLUMBLINE_PTX_EACH(f32_of_s32, Word, std::int32_t, bits_of(static_cast<float>(x)))
PLUMBLINE_PTX_EACH(f32_of_u32, Word, Word, bits_of(static_cast<float>(to_double(x))))
PLUMBLINE_PTX_EACH(f64_of_s32, Wide, std::int32_t, bits_of(static_cast<double>(x)))
PLUMBLINE_PTX_EACH(f64_of_u32, Wide, Word, bits_of(to_double(x)))
PLUMBLINE_PTX_EACH(f64_of_f32, Wide, float, x != x ? kNan64 : bits_of(static_cast<double>(x)))
PLUMBLINE_PTX_EACH(f32_of_f64, Word, double, canonical(static_cast<float>(x)))
PLUMBLINE_PTX_EACH(u64_of_u32, Wide, Word, x)
PLUMBLINE_PTX_EACH(s64_of_s32, std::int64_t, std::int32_t, x)
PLUMBLINE_PTX_EACH(u32_of_u64, Word, Wide, x)
PLUMBLINE_PTX_EACH(u32_of_u16, Word, Word, x & 0xffff)
PLUMBLINE_PTX_EACH(s32_of_s16, Word, Word, static_cast<std::int16_t>(x))
PLUMBLINE_PTX_EACH(u32_of_u8, Word, Word, x & 0xff)
PLUMBLINE_PTX_EACH(s32_of_s8, Word, Word, static_cast<std::int8_t>(x))

template <Rounding kRounding>
void s32_of_f32(const Conversion&, void* d, const void* a, const void*) {
  each<Word, float>(d, a, [](float x) { return to_s32(integral<kRounding>(x)); });
}
template <Rounding kRounding>
void u32_of_f32(const Conversion&, void* d, const void* a, const void*) {
  each<Word, float>(d, a, [](float x) { return to_u32(integral<kRounding>(x)); });
}
template <Rounding kRounding>
void f32_of_f32(const Conversion&, void* d, const void* a, const void*) {
  each<Word, float>(d, a, [](float x) {
    return canonical(static_cast<float>(__builtin_copysign(integral<kRounding>(x), x)));
  });
}

template <Rounding kRounding>
Convert of_f32(Type to) {
  return to == Type::s32   ? s32_of_f32<kRounding>
         : to == Type::u32 ? u32_of_f32<kRounding>
         : to == Type::f32 ? f32_of_f32<kRounding>
                           : nullptr;
}

struct Entry {
  Type to, from;
  Convert convert;
};

}  // namespace

Convert frequent_conversion(const Conversion& c) {
  using enum Type;
  const bool to_8_bits = c.to == e4m3x2 || c.to == e5m2x2;
  if (c.sat || c.relu || (c.satfinite && !to_8_bits)) return nullptr;
  if (c.from == f32 && c.rounding >= Rounding::rni) {
    // What .ftz changes: the sign's side of a subnormal number.
    if (c.ftz && c.to == f32) return nullptr;
    switch (c.rounding) {
      case Rounding::rni:
        return of_f32<Rounding::rni>(c.to);
      case Rounding::rzi:
        return of_f32<Rounding::rzi>(c.to);
      case Rounding::rmi:
        return c.ftz ? nullptr : of_f32<Rounding::rmi>(c.to);
      default:
        return c.ftz ? nullptr : of_f32<Rounding::rpi>(c.to);
    }
  }
  if (c.ftz) return nullptr;
  if (c.to == tf32) return c.rounding == Rounding::rna ? tf32_of_f32 : nullptr;
  if (c.rounding != Rounding::none && c.rounding != Rounding::rn) return nullptr;
  static constexpr Entry kEntries[] = {
      {f16, f32, f16_of_f32},
      {bf16, f32, bf16_of_f32},
      {f16x2, f32, f16x2_of_f32},
      {bf16x2, f32, bf16x2_of_f32},
      {f32, f16, f32_of_f16},
      {f32, bf16, f32_of_bf16},
      {e4m3x2, f32, e4m3x2_of_f32},
      {e5m2x2, f32, e5m2x2_of_f32},
      {e4m3x2, f16x2, e4m3x2_of_f16x2},
      {e5m2x2, f16x2, e5m2x2_of_f16x2},
      {f16x2, e4m3x2, f16x2_of_e4m3x2},
      {f16x2, e5m2x2, f16x2_of_e5m2x2},
      {f32, s32, f32_of_s32},
      {f32, u32, f32_of_u32},
      {f64, s32, f64_of_s32},
      {f64, u32, f64_of_u32},
      {f64, f32, f64_of_f32},
      {f32, f64, f32_of_f64},
      {u64, u32, u64_of_u32},
      {s64, u32, u64_of_u32},
      {s64, s32, s64_of_s32},
      {u64, s32, s64_of_s32},
      {u32, u64, u32_of_u64},
      {s32, u64, u32_of_u64},
      {u32, s64, u32_of_u64},
      {s32, s64, u32_of_u64},
      {u32, u16, u32_of_u16},
      {s32, u16, u32_of_u16},
      {s32, s16, s32_of_s16},
      {u32, s16, s32_of_s16},
      {u32, u8, u32_of_u8},
      {s32, u8, u32_of_u8},
      {s32, s8, s32_of_s8},
      {u32, s8, s32_of_s8},
  };
  for (const Entry& entry : kEntries)
    if (entry.to == c.to && entry.from == c.from) return entry.convert;
  return nullptr;
}

}  // namespace plumbline::ptx::arithmetic::PLUMBLINE_PTX_LEVEL
