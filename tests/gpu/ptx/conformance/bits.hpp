// SPDX-License-Identifier: Apache-2.0
// Registers as the tests see them: 64 bits and a PTX type.
#ifndef PLUMBLINE_TESTS_GPU_PTX_CONFORMANCE_BITS_HPP
#define PLUMBLINE_TESTS_GPU_PTX_CONFORMANCE_BITS_HPP

#include <cstdint>
#include <string>

namespace plumbline::ptx::conformance {

/// What a register holds, in its low bits; the others are 0.
using Bits = std::uint64_t;

enum class Type {
  u16,
  s16,
  b16,
  u32,
  s32,
  b32,
  u64,
  s64,
  b64,
  u16x2,
  s16x2,
  f16,
  bf16,
  f16x2,
  bf16x2,
  f32,
  f64
};

/// As in an instruction's modifier: "s32".
inline const char* name(Type type) {
  static const char* const names[] = {"u16",  "s16",   "b16",    "u32",   "s32",   "b32",
                                      "u64",  "s64",   "b64",    "u16x2", "s16x2", "f16",
                                      "bf16", "f16x2", "bf16x2", "f32",   "f64"};
  return names[static_cast<int>(type)];
}

inline int width(Type type) {
  switch (type) {
    case Type::u16:
    case Type::s16:
    case Type::b16:
    case Type::f16:
    case Type::bf16:
      return 16;
    case Type::u64:
    case Type::s64:
    case Type::b64:
    case Type::f64:
      return 64;
    default:
      return 32;
  }
}

inline bool is_signed(Type type) {
  return type == Type::s16 || type == Type::s32 || type == Type::s64 || type == Type::s16x2;
}

inline Bits low(Bits x, int bits) { return bits >= 64 ? x : x & ((Bits{1} << bits) - 1); }

/// The two's complement number in the low `bits`.
inline std::int64_t signed_of(Bits x, int bits) {
  return static_cast<std::int64_t>(x << (64 - bits)) >> (64 - bits);
}

/// The integer that a register of this type holds.
__extension__ using Integer = __int128;
inline Integer integer(Type type, Bits x) {
  return is_signed(type) ? Integer{signed_of(x, width(type))} : Integer{low(x, width(type))};
}

/// "32-bit" register classes: .b16, .b32, .b64.
inline std::string register_of(Type type) { return ".b" + std::to_string(width(type)); }

}  // namespace plumbline::ptx::conformance

#endif
