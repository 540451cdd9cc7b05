// SPDX-License-Identifier: Apache-2.0
// Exact and rounded numbers by MPFR, and the levels that this CPU has.
#ifndef PLUMBLINE_TESTS_GPU_PTX_ARITHMETIC_EXACTLY_HPP
#define PLUMBLINE_TESTS_GPU_PTX_ARITHMETIC_EXACTLY_HPP

#include <mpfr.h>

#include <bit>
#include <cstdint>
#include <random>
#include <vector>

#include "ptx/arithmetic/level.hpp"

namespace exactly {

/// A number of 300 bits.
class Number {
 public:
  explicit Number(double x = 0) {
    mpfr_init2(value_, 300);
    mpfr_set_d(value_, x, MPFR_RNDN);
  }
  Number(const Number& other) {
    mpfr_init2(value_, 300);
    mpfr_set(value_, other.value_, MPFR_RNDN);
  }
  Number& operator=(const Number& other) {
    mpfr_set(value_, other.value_, MPFR_RNDN);
    return *this;
  }
  ~Number() { mpfr_clear(value_); }
  mpfr_ptr get() { return value_; }
  mpfr_srcptr get() const { return value_; }
  template <class F>
  Number of(F f) const {
    Number result;
    f(result.value_, value_, MPFR_RNDN);
    return result;
  }

 private:
  mpfr_t value_;
};

inline Number operator-(const Number& a, const Number& b) {
  Number result;
  mpfr_sub(result.get(), a.get(), b.get(), MPFR_RNDN);
  return result;
}
inline Number operator+(const Number& a, const Number& b) {
  Number result;
  mpfr_add(result.get(), a.get(), b.get(), MPFR_RNDN);
  return result;
}
inline Number operator*(const Number& a, const Number& b) {
  Number result;
  mpfr_mul(result.get(), a.get(), b.get(), MPFR_RNDN);
  return result;
}
inline Number operator/(const Number& a, const Number& b) {
  Number result;
  mpfr_div(result.get(), a.get(), b.get(), MPFR_RNDN);
  return result;
}
inline Number magnitude(const Number& a) { return a.of(mpfr_abs); }
inline bool operator<=(const Number& a, const Number& b) {
  return mpfr_lessequal_p(a.get(), b.get()) != 0;
}

/// A binary format as IEEE 754 has it: digits of the significand, the least normal exponent (of
/// 1 <= m < 2), the largest one.
struct Format {
  int digits, least, most;
};
inline constexpr Format kF32{24, -126, 127}, kF16{11, -14, 15}, kBf16{8, -126, 127},
    kTf32{11, -126, 127}, kE5m2{3, -14, 15};

/// x rounded to the format, subnormal numbers and overflow as IEEE 754 has them.
inline double rounded(const Number& x, const Format& f, mpfr_rnd_t rounding = MPFR_RNDN) {
  const mpfr_exp_t least = mpfr_get_emin(), most = mpfr_get_emax();
  mpfr_set_emin(f.least - f.digits + 2);
  mpfr_set_emax(f.most + 1);
  mpfr_t result;
  mpfr_init2(result, f.digits);
  int inexact = mpfr_set(result, x.get(), rounding);
  inexact = mpfr_check_range(result, inexact, rounding);
  mpfr_subnormalize(result, inexact, rounding);
  const double value = mpfr_get_d(result, MPFR_RNDN);
  mpfr_clear(result);
  mpfr_set_emin(least);
  mpfr_set_emax(most);
  return value;
}

inline std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
inline float number(std::uint32_t bits) { return std::bit_cast<float>(bits); }

/// Every sign and exponent of a float with significands at both ends and in the middle, then as
/// many drawn ones.
inline std::vector<std::uint32_t> floats(std::size_t drawn, std::uint64_t seed = 1) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t sign_and_exponent = 0; sign_and_exponent < 512; ++sign_and_exponent)
    for (const std::uint32_t rest :
         {0u, 1u, 2u, 3u, 0x1fffffu, 0x200000u, 0x3504f3u, 0x3504f4u, 0x3fffffu, 0x400000u,
          0x400001u, 0x490fdbu, 0x7ffffeu, 0x7fffffu})
      all.push_back(sign_and_exponent << 23 | rest);
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < drawn; ++i) all.push_back(static_cast<std::uint32_t>(random()));
  while (all.size() % 32 != 0) all.push_back(0);
  return all;
}

/// All that this CPU can run.
inline std::vector<plumbline::ptx::arithmetic::Level> levels() {
  using plumbline::ptx::arithmetic::Level;
  std::vector<Level> all{Level::plain};
  const Level best = plumbline::ptx::arithmetic::best_level();
  if (best != Level::plain) all.push_back(Level::avx2);
  if (best == Level::avx512) all.push_back(Level::avx512);
  return all;
}

}  // namespace exactly

#endif
