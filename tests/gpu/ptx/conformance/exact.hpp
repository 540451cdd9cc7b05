// SPDX-License-Identifier: Apache-2.0
// Floating-point formats and operations rounded once, by MPFR.
#ifndef PLUMBLINE_TESTS_GPU_PTX_CONFORMANCE_EXACT_HPP
#define PLUMBLINE_TESTS_GPU_PTX_CONFORMANCE_EXACT_HPP

#include <mpfr.h>

#include <functional>

#include "tests/gpu/ptx/conformance/bits.hpp"

namespace plumbline::ptx::conformance {

/// An IEEE-754 interchange format, or one that differs in its largest number alone.
struct Format {
  int mantissa_bits;  ///< stored
  int exponent_bits;
  Bits nan;              ///< what instructions give for a NaN
  bool infinite = true;  ///< false: e4m3, whose all-ones exponent holds numbers
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int width() const { return 1 + exponent_bits + mantissa_bits; }
  Bits sign() const { return Bits{1} << (width() - 1); }
  Bits infinity() const { return ((Bits{1} << exponent_bits) - 1) << mantissa_bits; }
  Bits largest() const { return infinite ? infinity() - 1 : infinity() + 6; }
  Bits least_normal() const { return Bits{1} << mantissa_bits; }
};

namespace formats {
inline constexpr Format f16{10, 5, 0x7fff};
inline constexpr Format bf16{7, 8, 0x7fff};
inline constexpr Format tf32{10, 8, 0x3ffff};  ///< 19 bits: a b32 register without its low 13 bits
inline constexpr Format f32{23, 8, 0x7fffffff};
inline constexpr Format f64{52, 11, 0x7fffffffffffffff};
inline constexpr Format e5m2{2, 5, 0x7f};
inline constexpr Format e4m3{3, 4, 0x7f, false};
}  // namespace formats

/// The format of a scalar type, or of the halves of f16x2 and bf16x2.
const Format& format_of(Type type);
/// By its name, as "tf32". Null where it is not of floats.
const Format* format_named(const std::string& name);

enum class Rounding { rn, rz, rm, rp, rna };
inline constexpr Rounding directed_roundings[] = {Rounding::rn, Rounding::rz, Rounding::rm,
                                                  Rounding::rp};
const char* name(Rounding rounding);

bool is_nan(const Format& format, Bits x);
bool is_infinite(const Format& format, Bits x);
bool is_zero(const Format& format, Bits x);
bool is_subnormal(const Format& format, Bits x);
/// Subnormal numbers become zeros of the same sign.
Bits flushed(const Format& format, Bits x);
/// .sat: to [0, 1]; NaN becomes +0, and so do negative numbers.
Bits saturated(const Format& format, Bits x);

/// The number, exactly.
double value(const Format& format, Bits x);

/// A computation of MPFR: sets x, rounded as told, and returns its ternary value.
using Computation = std::function<int(mpfr_t x, mpfr_rnd_t rounding)>;
/// Its result in the format, rounded once; NaN is the format's own. Overflow is IEEE-754's:
/// infinity or the largest number as the rounding says.
Bits rounded(const Format& format, Rounding rounding, const Computation& computation);

/// IEEE-754 operations, without flushing.
Bits converted(const Format& to, Rounding rounding, double x);
Bits sum(const Format& format, Rounding rounding, Bits a, Bits b);
Bits difference(const Format& format, Rounding rounding, Bits a, Bits b);
Bits product(const Format& format, Rounding rounding, Bits a, Bits b);
Bits fused(const Format& format, Rounding rounding, Bits a, Bits b, Bits c);
Bits quotient(const Format& format, Rounding rounding, Bits a, Bits b);
Bits square_root(const Format& format, Rounding rounding, Bits a);

}  // namespace plumbline::ptx::conformance

#endif
