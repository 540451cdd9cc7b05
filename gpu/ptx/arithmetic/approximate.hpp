// SPDX-License-Identifier: Apache-2.0
// The functions of the PTX ISA with .approx (and div.full), of the 32 lanes of a warp.
//
// Numbers lie in registers: 32 words of 32 bits, or of 64 for f64. A 16-bit type is the low half of
// its word; the rest is not read, and 0 in a result. All 32 lanes are computed, whichever are
// active: no input traps. MXCSR must be as C++ programs start with it.
#ifndef PLUMBLINE_GPU_PTX_ARITHMETIC_APPROXIMATE_HPP
#define PLUMBLINE_GPU_PTX_ARITHMETIC_APPROXIMATE_HPP

#include <cstdint>

#include "ptx/arithmetic/level.hpp"
#include "ptx/device.hpp"

namespace plumbline::ptx::arithmetic {

enum class Function { ex2, lg2, rcp, rsqrt, sqrt, sin, cos, tanh };
enum class Format { f32, f32_ftz, f16, f16x2, bf16, bf16x2 };

/// d[lane] = f(a[lane]); d may be a.
using Unary = void (*)(std::uint32_t* d, const std::uint32_t* a);
/// d[lane] = a[lane] / b[lane]; d may be a or b.
using Binary = void (*)(std::uint32_t* d, const std::uint32_t* a, const std::uint32_t* b);
using Unary64 = void (*)(std::uint64_t* d, const std::uint64_t* a);

/// The documented maximal errors (PTX ISA 9.2; the section of each instruction, "Notes"). In lg2
/// the bound is absolute in (0.5, 2), else relative; sin and cos have theirs in [-2 pi, 2 pi] and
/// in [-100 pi, 100 pi], and "best effort" beyond, for which the latter is taken.
namespace error {
inline constexpr double kEx2Ulp = 2;                       // 9.7.3.21, of the nearest number
inline constexpr double kEx2F16 = 0x1.125fbee250664p-10;   // 9.7.4.10, relative, 2^-9.9
inline constexpr double kEx2Bf16 = 0x1p-7;                 // 9.7.4.10, relative
inline constexpr double kLg2 = 0x1p-22;                    // 9.7.3.20
inline constexpr double kRcpUlp = 1;                       // 9.7.3.13
inline constexpr double kRsqrt = 0x1.125fbee250664p-23;    // 9.7.3.16, relative, 2^-22.9
inline constexpr double kSqrt = 0x1p-23;                   // 9.7.3.15, relative
inline constexpr double kSinNear = 0x1.6a09e667f3bcdp-21;  // 9.7.3.18, .19, absolute, 2^-20.5
inline constexpr double kSinFar = 0x1.3b2c47bff8329p-15;   // 9.7.3.18, .19, absolute, 2^-14.7
inline constexpr double kTanh = 0x1p-11;                   // 9.7.3.22, relative
inline constexpr double kTanhF16 = 0x1.0251353756991p-11;  // 9.7.4.9, absolute, 2^-10.987
inline constexpr double kTanhBf16 = 0x1p-8;                // 9.7.4.9, absolute
inline constexpr double kDivUlp = 2;                       // 9.7.3.8, .approx and .full
}  // namespace error

/// f with .approx: ex2, lg2, rcp, rsqrt, sqrt, sin and cos in f32 and f32_ftz, tanh in f32, ex2 and
/// tanh in f16 and bf16 (ex2 of bf16 has .ftz). Null for what the ISA has not.
///
/// Special values are as in the ISA's tables; NaN is 0x7fffffff, in 16 bits 0x7fff.
///
/// `nearest`: the exact result rounded to nearest, ties to even; how seldom not, elementary.hpp
/// says.
///
/// `down`, `up`: the least or largest number of the format that is within the documented error of
/// the exact result (within all but 2^-24 of that error, where it is relative or absolute), or the
/// nearest if there is none. The table's special values stay, and so does whatever else real
/// hardware keeps: the sign, |tanh|, |sin| and |cos| at most 1, 0 what rounds to 0, finite what
/// rounds to a finite number, lg2 of 1 = 0, tanh of a subnormal number. `either`: up or down, by
/// the bits of a. With .ftz subnormal results are flushed afterwards.
Unary approximate(Function function, Format format, Variation::Approximate variation,
                  Level level = best_level());

/// div.approx.f32 or, with `full`, div.full.f32. Beyond what the ISA defines, .approx gives the
/// nearest quotient: for b below 2^-126 without .ftz.
Binary approximate_division(bool full, bool ftz, Variation::Approximate variation,
                            Level level = best_level());

/// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 (9.7.3.14, 9.7.3.17): the upper words alone. The
/// ISA states no error: displaced is by one unit of the 20 bits. Without ftz rsqrt.approx.f64
/// (9.7.3.16), which is emulated in software: all 52 bits, nearest in all but one case of about
/// 2^10, and displaced by one unit of these. Null for what the ISA has not.
Unary64 approximate_f64(Function function, bool ftz, Variation::Approximate variation,
                        Level level = best_level());

}  // namespace plumbline::ptx::arithmetic

#endif
