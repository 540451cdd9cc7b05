// SPDX-License-Identifier: Apache-2.0
#include "ptx/arithmetic/product.hpp"

#include "ptx/arithmetic/at_level.hpp"
#include "ptx/arithmetic/narrow.hpp"
#include "ptx/arithmetic/product_lanes.hpp"

namespace plumbline::ptx::arithmetic {
namespace {

bool is_fp8(Element x) { return x == Element::e4m3 || x == Element::e5m2; }
bool is_byte(Element x) { return x == Element::s8 || x == Element::u8; }

/// Whether the types go together, and the depth of each: `least` and twice that, at most `most`.
bool exists(const Product& p, bool whole_depth) {
  const auto depth = [&](int most) { return p.k == most || (!whole_depth && 2 * p.k == most); };
  const bool floats = p.c == Element::f32, f16 = p.c == Element::f16;
  if (is_byte(p.a)) return is_byte(p.b) && p.c == Element::s32 && depth(32);
  if (is_fp8(p.a)) return is_fp8(p.b) && (floats || f16) && depth(32);
  if (p.a != p.b || p.satfinite) return false;
  if (p.a == Element::f16) return (floats || f16) && depth(16);
  if (p.a == Element::bf16) return floats && depth(16);
  return p.a == Element::tf32 && floats && depth(8);
}

}  // namespace

Mma mma(const Product& p, Level level) {
  const bool f64 = p.a == Element::f64 && p.b == Element::f64 && p.c == Element::f64 &&
                   ((p.m == 8 && p.k == 4) || (p.m == 16 && (p.k == 4 || p.k == 8 || p.k == 16)));
  if (p.n != 8 || !(f64 || (p.m == 16 && exists(p, false)))) return nullptr;
  PLUMBLINE_PTX_AT_LEVEL(level, mma(p))
}

Wgmma wgmma(const Product& p, Level level) {
  if (p.n < 8 || p.n > 256 || p.n % 8 != 0 || !exists(p, true)) return nullptr;
  PLUMBLINE_PTX_AT_LEVEL(level, wgmma(p))
}

void decode_b(const Product& p, const void* columns, bool negate, float* b) {
  const auto number = [&](int at) -> float {
    const auto half = [&] { return std::uint32_t{static_cast<const std::uint16_t*>(columns)[at]}; };
    const auto byte = [&] { return std::uint32_t{static_cast<const std::uint8_t*>(columns)[at]}; };
    switch (p.b) {
      case Element::f16:
        return from_f16(half());
      case Element::bf16:
        return from_bf16(half());
      case Element::e4m3:
        return from_e4m3(byte());
      case Element::e5m2:
        return from_e5m2(byte());
      case Element::s8:
        return static_cast<float>(static_cast<std::int8_t>(byte()));
      case Element::u8:
        return static_cast<float>(byte());
      default:
        return float_of(static_cast<const std::uint32_t*>(columns)[at] & 0xffffe000);
    }
  };
  // Blocks of 8 columns: [n / 8][k][8].
  for (int n = 0; n < p.n; ++n) {
    for (int k = 0; k < p.k; ++k) {
      const float x = number(n * p.k + k);
      b[(n / 8 * p.k + k) * 8 + n % 8] = negate ? -x : x;
    }
  }
}

}  // namespace plumbline::ptx::arithmetic
