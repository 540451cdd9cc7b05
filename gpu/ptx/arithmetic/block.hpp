// SPDX-License-Identifier: Apache-2.0
// C += A B for a block of 16 rows and 8 columns of floats: every matrix product of the tensor cores
// consists of such blocks. product.hpp says what is computed.
#ifndef PLUMBLINE_GPU_PTX_ARITHMETIC_BLOCK_HPP
#define PLUMBLINE_GPU_PTX_ARITHMETIC_BLOCK_HPP

#include "ptx/arithmetic/displaced.hpp"
#include "ptx/arithmetic/product.hpp"
#ifdef __FMA__
#include <immintrin.h>
#endif

namespace plumbline::ptx::arithmetic {

/// A as registers hold it: [register][element in it][lane]. kEach: elements of a register.
template <int kEach, int kDepth>
struct BlockA {
  static constexpr int kRegisters = kDepth / (2 * kEach);
  float of[kRegisters * kEach][kLanes];

  /// Element (row, k).
  PLUMBLINE_PTX_INLINE float at(int row, int k) const {
    const int group = k / kEach, in_register = k % kEach;
    return of[(2 * (group / 4) + row / 8) * kEach + in_register][4 * (row % 8) + group % 4];
  }
};

/// B and C: rows of 8 columns, one after the other.
inline constexpr int kColumns = 8;
using Floats = float __attribute__((vector_size(32)));
using Ints = std::int32_t __attribute__((vector_size(32)));
using Doubles = double __attribute__((vector_size(64)));
using Longs = std::int64_t __attribute__((vector_size(64)));

PLUMBLINE_PTX_INLINE Floats load(const float* from) {
  Floats row;
  __builtin_memcpy(&row, from, sizeof row);
  return row;
}
PLUMBLINE_PTX_INLINE void store(float* to, Floats row) { __builtin_memcpy(to, &row, sizeof row); }

/// c + a b in each column, rounded once. Without the instruction: the product is exact in double,
/// and where the sum is not, the smaller summand is below 2^-29 of the larger, a float: no tie of
/// fp32 is near, and rounding twice is rounding once.
PLUMBLINE_PTX_INLINE Floats fused(float a, Floats b, Floats c) {
#ifdef __FMA__
  return reinterpret_cast<Floats>(
      _mm256_fmadd_ps(_mm256_set1_ps(a), reinterpret_cast<__m256>(b), reinterpret_cast<__m256>(c)));
#else
  return __builtin_convertvector(static_cast<double>(a) * __builtin_convertvector(b, Doubles) +
                                     __builtin_convertvector(c, Doubles),
                                 Floats);
#endif
}

/// Rows whose sums stay in the CPU's registers, and do not wait for each other.
#ifdef __AVX512VL__
inline constexpr int kRowsAtOnce = 16;
#else
inline constexpr int kRowsAtOnce = 8;
#endif

/// Sums::nearest.
template <int kEach, int kDepth>
PLUMBLINE_PTX_INLINE void add_in_order(const BlockA<kEach, kDepth>& a, const float* b, float* c) {
  for (int first = 0; first < 16; first += kRowsAtOnce) {
    Floats sum[kRowsAtOnce];
#pragma GCC unroll 16
    for (int row = 0; row < kRowsAtOnce; ++row) sum[row] = load(c + (first + row) * kColumns);
    const float* of_b = b;
    for (int pair = 0; pair < kDepth / (4 * kEach); ++pair) {
      const float(*lanes)[kLanes] = a.of + (2 * pair + first / 8) * kEach;
#pragma GCC unroll 16
      for (int i = 0; i < 4 * kEach; ++i) {
        const float* at = &lanes[i % kEach][i / kEach];  // BlockA::at, of rows 4 apart
        const Floats columns = load(of_b + i * kColumns);
#pragma GCC unroll 16
        for (int row = 0; row < kRowsAtOnce; ++row)
          sum[row] = fused(at[row / 8 * kEach * kLanes + row % 8 * 4], columns, sum[row]);
      }
      of_b += 4 * kEach * kColumns;
    }
#pragma GCC unroll 16
    for (int row = 0; row < kRowsAtOnce; ++row) store(c + (first + row) * kColumns, sum[row]);
  }
}

/// How a tensor core adds: product.hpp's table.
struct Aligned {
  int group, bits;
  int exponent_of_zero;           ///< what a sum is aligned to at least
  int least_a, least_b, least_c;  ///< exponents of the formats' subnormal numbers
  bool short_result;              ///< 13 bits after the point
  bool f16;                       ///< the accumulator
};

/// The exponent; of subnormal numbers `least`, of 0 far below all.
PLUMBLINE_PTX_INLINE Ints exponents_of(Floats x, int least) {
  const Ints field = (reinterpret_cast<Ints>(x) >> 23 & 255) - 127;
  const Ints exponent = field > least ? field : field - field + least;
  return x == 0 ? field - field - 4096 : exponent;
}

PLUMBLINE_PTX_INLINE bool all_finite(const float* x, int count) {
  int special = 0;
  for (int i = 0; i < count; ++i) special |= (bits_of(x[i]) & 0x7f800000) == 0x7f800000 ? 1 : 0;
  return special == 0;
}

/// Rounded toward zero to fp32 (2^128 or more is infinite), to 13 bits after the point, or to f16.
PLUMBLINE_PTX_INLINE Floats converted(Doubles x, const Aligned& how) {
  if (how.f16) {
    Floats result{};
    for (int n = 0; n < kColumns; ++n) result[n] = static_cast<float>(nearest<F16>(x[n]));
    return result;
  }
  const Doubles size = x < 0 ? -x : x;
  const Floats rounded = __builtin_convertvector(size, Floats);
  const Longs beyond = (__builtin_convertvector(rounded, Doubles) > size) & (size < 0x1p128);
  // A true condition is -1.
  Ints bits = reinterpret_cast<Ints>(rounded) + __builtin_convertvector(beyond, Ints);
  if (how.short_result) bits &= ~0x3ff;
  const Ints negative = __builtin_convertvector(Longs(x < 0), Ints);
  return reinterpret_cast<Floats>(bits | (negative & INT32_MIN));
}

/// Sums::ampere and ::hopper: summands in units of the last bit that is kept.
template <int kEach, int kDepth>
PLUMBLINE_PTX_INLINE void add_aligned(const BlockA<kEach, kDepth>& a, const float* b, float* c,
                                      const Aligned& how) {
  Ints exponent_b[kDepth], exponent_a[2 * kDepth];
  Doubles of_b[kDepth];
  float of_a[16 * kDepth];
  for (int k = 0; k < kDepth; ++k) {
    exponent_b[k] = exponents_of(load(b + k * kColumns), how.least_b);
    of_b[k] = __builtin_convertvector(load(b + k * kColumns), Doubles);
    for (int row = 0; row < 16; ++row) of_a[row * kDepth + k] = a.at(row, k);
  }
  for (int i = 0; i < 2 * kDepth; ++i)
    exponent_a[i] = exponents_of(load(of_a + i * kColumns), how.least_a);
  const bool finite = all_finite(of_a, 16 * kDepth) && all_finite(b, kDepth * kColumns);
  const int group = how.group < kDepth ? how.group : kDepth;
  for (int row = 0; row < 16; ++row) {
    float* sum = c + row * kColumns;
    for (int first = 0; first < kDepth; first += group) {
      Ints most = exponents_of(load(sum), how.least_c);
      most = most > how.exponent_of_zero ? most : most - most + how.exponent_of_zero;
      for (int k = first; k < first + group; ++k) {
        const int at = row * kDepth + k;
        const Ints exponent = exponent_b[k] + exponent_a[at / kColumns][at % kColumns];
        most = exponent > most ? exponent : most;
      }
      const Longs wide = __builtin_convertvector(most, Longs);
      const Doubles to_units = reinterpret_cast<Doubles>((1023 + how.bits - wide) << 52);
      const Doubles unit = reinterpret_cast<Doubles>((1023 - how.bits + wide) << 52);
      const Doubles before = __builtin_convertvector(load(sum), Doubles);
      // Conversions truncate. A product is below 2^27, 16 of at most 11 bits each below 2^31.
      Ints units{};
      for (int k = first; k < first + group; ++k)
        units += __builtin_convertvector(
            static_cast<double>(of_a[row * kDepth + k]) * of_b[k] * to_units, Ints);
      const Ints of_before = __builtin_convertvector(before * to_units, Ints);
      const Doubles all =
          __builtin_convertvector(units, Doubles) + __builtin_convertvector(of_before, Doubles);
      Floats result = converted(all * unit, how);
      if (!finite || !all_finite(sum, kColumns)) {
        Doubles plain = before;
        for (int k = first; k < first + group; ++k)
          plain += static_cast<double>(of_a[row * kDepth + k]) * of_b[k];
        for (int n = 0; n < kColumns; ++n)
          if (!(__builtin_fabs(plain[n]) < __builtin_inf()))
            result[n] = static_cast<float>(plain[n]);
      }
      store(sum, result);
    }
  }
}

}  // namespace plumbline::ptx::arithmetic

#endif
