// SPDX-License-Identifier: Apache-2.0
// The types of PTX.
#ifndef PLUMBLINE_GPU_PTX_READ_TYPES_HPP
#define PLUMBLINE_GPU_PTX_READ_TYPES_HPP

#include <cstdint>
#include <string_view>

namespace plumbline::ptx {

enum class Type : std::uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  u16x2,
  s16x2,
  f16,
  f16x2,
  bf16,
  bf16x2,
  f32,
  f32x2,
  tf32,
  f64,
  e4m3,
  e5m2,
  e4m3x2,
  e5m2x2,
  e4m3x4,
  e5m2x4,
  e2m1,
  e2m1x2,
  e2m3x2,
  e3m2x2,
  ue8m0x2,
  s4,
  u4,
  b1,
  opaque  ///< .texref, .samplerref, .surfref
};

/// Without the dot; Type::none for what is no type.
Type type_of(std::string_view name);
/// Of one value: 32 for f16x2. pred: 1.
unsigned bits_of(Type type);
inline unsigned bytes_of(Type type) { return (bits_of(type) + 7) / 8; }
bool is_signed(Type type);
bool is_float(Type type);

}  // namespace plumbline::ptx

#endif
