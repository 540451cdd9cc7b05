// SPDX-License-Identifier: Apache-2.0
// What f32 and f64 share: canonical NaN, flushed subnormals, rounding modes.
#ifndef PLUMBLINE_GPU_PTX_EXECUTE_INSTRUCTIONS_FLOATS_HPP
#define PLUMBLINE_GPU_PTX_EXECUTE_INSTRUCTIONS_FLOATS_HPP

#include <xmmintrin.h>

#include "ptx/execute/instructions/lanes.hpp"

namespace plumbline::ptx::PLUMBLINE_PTX_ISA {
namespace {

inline u32 bits(f32 x) { return __builtin_bit_cast(u32, x); }
inline u64 bits(f64 x) { return __builtin_bit_cast(u64, x); }
inline f32 real(u32 x) { return __builtin_bit_cast(f32, x); }
inline f64 real(u64 x) { return __builtin_bit_cast(f64, x); }

inline f32 canonical(f32 x) { return x == x ? x : real(0x7fffffffu); }
inline f64 canonical(f64 x) { return x == x ? x : real(u64{0x7fffffffffffffff}); }

/// A subnormal number becomes a zero of its sign.
template <bool ftz>
inline f32 flush(f32 x) {
  if constexpr (!ftz) return x;
  const u32 b = bits(x);
  return real(b & 0x7f800000u ? b : b & 0x80000000u);
}
template <bool>
inline f64 flush(f64 x) {
  return x;
}

/// .sat: to [0, 1]; NaN to +0.
inline f32 saturate(f32 x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

/// Calls an implementation with another rounding of the CPU: mode 1 down, 2 up, 3 to zero.
template <Run run, unsigned mode>
Outcome rounded(Warp& w, const Operation& o) {
  const unsigned control = _mm_getcsr();
  _mm_setcsr((control & ~0x6000u) | mode << 13);
  Run volatile called = run;  // not inlined: the compiler knows nothing of the mode
  const Outcome outcome = called(w, o);
  _mm_setcsr(control);
  return outcome;
}
template <Run run>
Run with_rounding(Round round) {
  switch (round) {
    case Round::none:
    case Round::rn:
      return run;
    case Round::rm:
      return rounded<run, 1>;
    case Round::rp:
      return rounded<run, 2>;
    case Round::rz:
      return rounded<run, 3>;
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace plumbline::ptx::PLUMBLINE_PTX_ISA

#endif
