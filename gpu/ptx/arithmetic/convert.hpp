// SPDX-License-Identifier: Apache-2.0
// cvt of the PTX ISA (9.7.9.21), of the 32 lanes of a warp.
#ifndef PLUMBLINE_GPU_PTX_ARITHMETIC_CONVERT_HPP
#define PLUMBLINE_GPU_PTX_ARITHMETIC_CONVERT_HPP

#include "ptx/arithmetic/level.hpp"
#include "ptx/read/types.hpp"

namespace plumbline::ptx::arithmetic {

using ptx::Type;

/// rni, rzi, rmi, rpi: to an integer. none: where the conversion is exact.
enum class Rounding { none, rn, rna, rz, rm, rp, rni, rzi, rmi, rpi };

struct Conversion {
  Type to, from;
  Rounding rounding = Rounding::none;
  bool ftz = false;        ///< flushes subnormal f32, read and written
  bool sat = false;        ///< of floats: to [0, 1], NaN to +0; of integers: to the type's range
  bool satfinite = false;  ///< beyond the range is the largest finite number
  bool relu = false;       ///< negative results are +0
};

/// d = the conversion of a, lane by lane; d may be a. Types of 64 bits have 32 words of 64 bits,
/// all others 32 words of 32 bits: integers of 8 and 16 bits are read from the low part of the
/// word, and written to it with their sign or zeros above; in 16-bit floats and pairs of 8-bit ones
/// the upper half is 0. b is the second operand of cvt.*x2.f32 and not read else.
using Convert = void (*)(const Conversion&, void* d, const void* a, const void* b);

/// The function for this conversion, to be called with it; null if there is none. There are
/// integers of 8 to 64 bits, f16, bf16, tf32, f32, f64 and pairs of f16, bf16, e4m3 and e5m2, two
/// in one word of which the second operand (or the low half of the source) is the low half; cvt to
/// or from a pair exists from f32 and f16x2 or to f16x2, as in the ISA's list.
///
/// From float to integer: clamped, and NaN is 0, or 1 << (width - 1) where the source is f64 or the
/// destination has 64 bits. To a float: what overflows is the infinity or the largest finite number
/// as the rounding says (tf32 with rna: infinity), with satfinite the largest finite one. NaN is
/// 0x7fffffff, 0x7fff, 0x7f in 8 bits; to f64 0x7fffffffffffffff.
Convert converter(const Conversion& conversion, Level level = best_level());

}  // namespace plumbline::ptx::arithmetic

#endif
