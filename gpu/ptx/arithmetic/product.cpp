// SPDX-License-Identifier: Apache-2.0
#include "ptx/arithmetic/product.hpp"

#include <algorithm>
#include <cstdint>

#include "ptx/arithmetic/at_level.hpp"
#include "ptx/arithmetic/fragments.hpp"
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

/// The bits of an integer that mma_of_bits multiplies, or 0.
int small_bits(const Product& p) {
  const bool four =
      (p.a == Element::s4 || p.a == Element::u4) && (p.b == Element::s4 || p.b == Element::u4);
  const int bits = is_byte(p.a) && is_byte(p.b)               ? 8
                   : four                                     ? 4
                   : p.a == Element::b1 && p.b == Element::b1 ? 1
                                                              : 0;
  if (bits == 0 || p.c != Element::s32 || p.n != 8) return 0;
  const int least = 128 / bits;
  const bool eight = p.m == 8 && p.k == least;
  return eight || (bits < 8 && p.m == 16 && (p.k == least || p.k == 2 * least)) ? bits : 0;
}

/// D = A B + C of integers, element by element: the shapes of the first tensor cores.
template <int kBits>
void mma_of_bits(const Product& p, void* const* d, const void* const* a, const void* const* b,
                 const void* const* c) {
  constexpr int kEach = 32 / kBits;
  const auto number = [](std::uint32_t word, int i, Element type) {
    const std::uint32_t x = word >> kBits * i << (32 - kBits);
    return type == Element::s8 || type == Element::s4
               ? static_cast<std::int32_t>(x) >> (32 - kBits)
               : static_cast<std::int32_t>(x >> (32 - kBits));
  };
  std::int32_t x[16][256], y[8][256];
  const int rows = p.m / 8;
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < p.m * p.k / kEach / 32; ++r)
      for (int i = 0; i < kEach; ++i)
        x[lane / 4 + 8 * (r % rows)][(lane % 4 + 4 * (r / rows)) * kEach + i] =
            number(static_cast<const std::uint32_t*>(a[r])[lane], i, p.a);
    for (int r = 0; r < p.k / kEach / 4; ++r)
      for (int i = 0; i < kEach; ++i)
        y[lane / 4][(lane % 4 + 4 * r) * kEach + i] =
            number(static_cast<const std::uint32_t*>(b[r])[lane], i, p.b);
  }
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 2 * rows; ++i) {
      const Place at = place_in_c(lane, i);
      std::int64_t sum = static_cast<const std::int32_t*>(c[i])[lane];
      for (int k = 0; k < p.k; ++k) {
        const std::int32_t one = x[at.row][k], other = y[at.column][k];
        sum += kBits > 1 ? one * other : p.exclusive ? one ^ other : one & other;
      }
      if (p.satfinite) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
      static_cast<std::uint32_t*>(d[i])[lane] = static_cast<std::uint32_t>(sum);
    }
}

}  // namespace

Mma mma(const Product& p, Level level) {
  switch (small_bits(p)) {
    case 8:
      return mma_of_bits<8>;
    case 4:
      return mma_of_bits<4>;
    case 1:
      return mma_of_bits<1>;
    default:
      break;
  }
  const bool f64 = p.a == Element::f64 && p.b == Element::f64 && p.c == Element::f64 &&
                   ((p.m == 8 && p.k == 4) || (p.m == 16 && (p.k == 4 || p.k == 8 || p.k == 16)));
  if (p.n != 8 || !(f64 || (p.m == 16 && exists(p, false)))) return nullptr;
  PLUMBLINE_PTX_AT_LEVEL(level, mma(p))
}

Wgmma wgmma(const Product& p, Level level) {
  if (p.n < 8 || p.n > 256 || p.n % 8 != 0 || !exists(p, true)) return nullptr;
  PLUMBLINE_PTX_AT_LEVEL(level, wgmma(p))
}

void decode_b(const Product& p, const void* columns, bool negate, float* b, bool k_major,
              Level level) {
  PLUMBLINE_PTX_AT_LEVEL(level, decode_b(p, columns, negate, b, k_major))
}

}  // namespace plumbline::ptx::arithmetic
