// SPDX-License-Identifier: Apache-2.0
// Compiled once for each level, whose name PLUMBLINE_PTX_LEVEL is.
#include "ptx/arithmetic/approximate_lanes.hpp"

#include "ptx/arithmetic/displaced.hpp"
#include "ptx/arithmetic/elementary.hpp"

namespace plumbline::ptx::arithmetic::PLUMBLINE_PTX_LEVEL {
namespace {

using Vary = Variation::Approximate;

PLUMBLINE_PTX_INLINE double magnitude(double x) { return __builtin_fabs(x); }
PLUMBLINE_PTX_INLINE constexpr double within(double error) { return error * (1 - 0x1p-24); }

/// Of a function: the exact value, what the documented error is counted from, that error, and what
/// is kept beside the special values.
struct Kept {
  static constexpr double kLimit = __builtin_inf();  ///< of the magnitude
  PLUMBLINE_PTX_INLINE static bool keeps(double) { return false; }
  PLUMBLINE_PTX_INLINE static double center(double exact, double) { return exact; }
};
template <class Format>
struct Ex2 : Kept {
  static constexpr double kError = __is_same(Format, F16) ? error::kEx2F16 : error::kEx2Bf16;
  PLUMBLINE_PTX_INLINE static double exact(double x) { return exact_ex2(x); }
  PLUMBLINE_PTX_INLINE static double error(double, double center) {
    return center * within(kError);
  }
};
template <>
struct Ex2<F32> : Kept {
  PLUMBLINE_PTX_INLINE static double exact(double x) { return exact_ex2(x); }
  PLUMBLINE_PTX_INLINE static double center(double, double nearest) { return nearest; }
  PLUMBLINE_PTX_INLINE static double error(double, double center) {
    return error::kEx2Ulp * ulp_of<F32>(center);
  }
};
template <class>
struct Lg2 : Kept {
  PLUMBLINE_PTX_INLINE static double exact(double x) { return exact_lg2(x); }
  PLUMBLINE_PTX_INLINE static double error(double x, double center) {
    const double relative = magnitude(center);
    return within(error::kLg2) * ((x > 0.5) & (x < 2) ? 1.0 : relative);
  }
};
template <class>
struct Rcp : Kept {
  PLUMBLINE_PTX_INLINE static double exact(double x) { return exact_rcp(x); }
  PLUMBLINE_PTX_INLINE static double error(double, double center) {
    return error::kRcpUlp * ulp_of<F32>(center);
  }
};
template <class>
struct Rsqrt : Kept {
  PLUMBLINE_PTX_INLINE static double exact(double x) { return exact_rsqrt(x); }
  PLUMBLINE_PTX_INLINE static double error(double, double center) {
    return magnitude(center) * within(error::kRsqrt);
  }
};
template <class>
struct Sqrt : Kept {
  PLUMBLINE_PTX_INLINE static double exact(double x) { return exact_sqrt(x); }
  PLUMBLINE_PTX_INLINE static double error(double, double center) {
    return center * within(error::kSqrt);
  }
};
template <int kQuadrant>
struct Wave : Kept {
  static constexpr double kLimit = 1;
  PLUMBLINE_PTX_INLINE static double of(Angle angle, double x) {
    angle.quadrant += kQuadrant;
    const double value = sine_of(angle), no_nan = kQuadrant == 0 && x == 0 ? x : value;
    return magnitude(x) < __builtin_inf() ? no_nan : __builtin_nan("");
  }
  PLUMBLINE_PTX_INLINE static double exact(double x) { return of(reduced(x), x); }
  PLUMBLINE_PTX_INLINE static double exact_far(float x) { return of(reduced_far(x), x); }
  PLUMBLINE_PTX_INLINE static double error(double x, double) {
    constexpr double kTwoPi = 0x1.921fb54442d18p+2;
    return within(magnitude(x) <= kTwoPi ? error::kSinNear : error::kSinFar);
  }
};
template <class>
struct Sin : Wave<0> {};
template <class>
struct Cos : Wave<1> {};
template <class Format>
struct Tanh : Kept {
  static constexpr double kLimit = 1;
  PLUMBLINE_PTX_INLINE static double exact(double x) { return exact_tanh(x); }
  PLUMBLINE_PTX_INLINE static bool keeps(double x) { return magnitude(x) < 0x1p-126; }
  PLUMBLINE_PTX_INLINE static double error(double, double center) {
    if (__is_same(Format, F16)) return within(error::kTanhF16);
    if (__is_same(Format, Bf16)) return within(error::kTanhBf16);
    return magnitude(center) * within(error::kTanh);
  }
};

/// `input`: the bits of x.
template <class Format, Vary kVary, class F>
PLUMBLINE_PTX_INLINE double rounded(double x, double exact, std::uint32_t input) {
  const double number = nearest<Format>(exact);
  if (kVary == Vary::nearest) return number;
  const double center = F::center(exact, number), infinity = __builtin_inf();
  const double moved =
      displaced<Format>(center, number, F::error(x, center), direction_of<kVary>(input), F::kLimit);
  const bool kept = (x == 0) | (number == 0) | !(magnitude(x) < infinity) |
                    !(magnitude(number) < infinity) | F::keeps(x);
  return kept ? number : moved;
}

template <class Format, bool kFtz>
PLUMBLINE_PTX_INLINE std::uint32_t to_bits(double number) {
  std::uint32_t bits = Format::bits(number);
  if (kFtz) bits = (bits & Format::kExponent) == 0 ? bits & Format::kSign : bits;
  return (bits & ~Format::kSign) > Format::kExponent ? Format::kCanonicalNan : bits;
}

template <class Format, bool kFtz>
PLUMBLINE_PTX_INLINE double from_bits(std::uint32_t bits) {
  const std::uint32_t single = bits_of(Format::value(bits));
  return float_of(kFtz ? flushed(single) : single);
}

template <class F, class Format, Vary kVary, bool kFtz>
PLUMBLINE_PTX_INLINE void of_lanes(std::uint32_t* out, const std::uint32_t* in) {
  double x[kLanes], y[kLanes];
  for (int i = 0; i < kLanes; ++i) x[i] = from_bits<Format, kFtz>(in[i]);
  for (int i = 0; i < kLanes; ++i) y[i] = F::exact(x[i]);
  if constexpr (requires { F::exact_far(0.0f); }) {
    for (int i = 0; i < kLanes; ++i)
      if (magnitude(x[i]) > 0x1p20 && magnitude(x[i]) < __builtin_inf())
        y[i] = F::exact_far(static_cast<float>(x[i]));
  }
  if constexpr (kVary != Vary::nearest || !__is_same(Format, F32))
    for (int i = 0; i < kLanes; ++i) y[i] = rounded<Format, kVary, F>(x[i], y[i], in[i]);
  for (int i = 0; i < kLanes; ++i) out[i] = to_bits<Format, kFtz>(y[i]);
}

template <template <class> class F, Vary kVary, bool kFtz>
void of_f32(std::uint32_t* d, const std::uint32_t* a) {
  std::uint32_t out[kLanes];
  of_lanes<F<F32>, F32, kVary, kFtz>(out, a);
  __builtin_memcpy(d, out, sizeof out);
}

template <template <class> class F, class Format, Vary kVary, bool kFtz, bool kPair>
void of_16(std::uint32_t* d, const std::uint32_t* a) {
  std::uint32_t low[kLanes], high[kLanes] = {}, of_low[kLanes], of_high[kLanes] = {};
  for (int i = 0; i < kLanes; ++i) low[i] = a[i] & 0xffff;
  of_lanes<F<Format>, Format, kVary, kFtz>(of_low, low);
  if (kPair) {
    for (int i = 0; i < kLanes; ++i) high[i] = a[i] >> 16;
    of_lanes<F<Format>, Format, kVary, kFtz>(of_high, high);
  }
  for (int i = 0; i < kLanes; ++i) d[i] = of_low[i] | of_high[i] << 16;
}

struct Quotient : Kept {
  PLUMBLINE_PTX_INLINE static double error(double, double center) {
    return error::kDivUlp * ulp_of<F32>(center);
  }
};

template <bool kFull, bool kFtz, Vary kVary>
void division(std::uint32_t* d, const std::uint32_t* a, const std::uint32_t* b) {
  double x[kLanes], y[kLanes], quotient[kLanes];
  std::uint32_t input[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    x[i] = from_bits<F32, kFtz>(a[i]);
    y[i] = from_bits<F32, kFtz>(b[i]);
    input[i] = a[i] ^ b[i] * 0x85ebca6bu;
  }
  for (int i = 0; i < kLanes; ++i)
    quotient[i] = rounded<F32, kVary, Quotient>(x[i], x[i] / y[i], input[i]);
  // The ISA's case of .approx: 1 / b is taken to be 0, and infinity times it is NaN.
  for (int i = 0; i < kLanes; ++i) {
    const double size = magnitude(y[i]), zero = __builtin_copysign(0.0, x[i] / y[i]);
    const double product = magnitude(x[i]) < __builtin_inf() ? zero : __builtin_nan("");
    const bool lost = !kFull & (size > 0x1p126) & (size < 0x1p128);
    quotient[i] = lost ? product : quotient[i];
  }
  for (int i = 0; i < kLanes; ++i) d[i] = to_bits<F32, kFtz>(quotient[i]);
}

/// The upper words: 1.11.20.
template <bool kRoot, Vary kVary>
void reciprocal_f64(std::uint64_t* d, const std::uint64_t* a) {
  for (int i = 0; i < kLanes; ++i) {
    const std::uint64_t upper = a[i] >> 32 << 32, sign = upper & 1ull << 63;
    constexpr std::uint64_t kExponent = 0x7ffull << 52;
    const double x = double_of((upper & kExponent) == 0 ? sign : upper);
    const double exact = 1.0 / (kRoot ? (x == 0 ? x : __builtin_sqrt(x)) : x);
    const std::uint64_t bits = bits_of(exact);
    std::uint64_t number = (bits + 0x7fffffff + (bits >> 32 & 1)) >> 32 << 32;
    const bool kept = x == 0 || !(magnitude(x) < __builtin_inf());
    if (kVary != Vary::nearest && !kept) {
      const bool up = direction_of<kVary>(static_cast<std::uint32_t>(upper >> 32)) > 0;
      const std::uint64_t moved = up == (sign == 0) ? number + (1ull << 32) : number - (1ull << 32);
      number = (moved & kExponent) == kExponent ? number : moved;
    }
    number = (number & kExponent) == 0 ? number & 1ull << 63 : number;
    d[i] = exact != exact ? kNan64 >> 32 << 32 : number;
  }
}

/// All 64 bits; subnormal numbers are kept.
template <Vary kVary>
void rsqrt_f64(std::uint64_t* d, const std::uint64_t* a) {
  for (int i = 0; i < kLanes; ++i) {
    const double x = double_of(a[i]);
    // 64 bits of mantissa: all but about one result in 2^10 is the nearest.
    const double exact = static_cast<double>(1.0L / __builtin_sqrtl(static_cast<long double>(x)));
    std::uint64_t number = bits_of(exact);
    const auto input = static_cast<std::uint32_t>(a[i] >> 32) ^ static_cast<std::uint32_t>(a[i]);
    if (kVary != Vary::nearest && x > 0 && x < __builtin_inf())
      number += direction_of<kVary>(input) > 0 ? 1 : ~std::uint64_t{0};
    d[i] = exact != exact ? kNan64 : number;
  }
}

// What the ISA has of each, for one variation.
template <Vary kVary>
Unary unary(Function function, Format format) {
  if (format == Format::f32) {
    switch (function) {
      case Function::ex2:
        return of_f32<Ex2, kVary, false>;
      case Function::lg2:
        return of_f32<Lg2, kVary, false>;
      case Function::rcp:
        return of_f32<Rcp, kVary, false>;
      case Function::rsqrt:
        return of_f32<Rsqrt, kVary, false>;
      case Function::sqrt:
        return of_f32<Sqrt, kVary, false>;
      case Function::sin:
        return of_f32<Sin, kVary, false>;
      case Function::cos:
        return of_f32<Cos, kVary, false>;
      case Function::tanh:
        return of_f32<Tanh, kVary, false>;
    }
  }
  if (format == Format::f32_ftz) {
    switch (function) {
      case Function::ex2:
        return of_f32<Ex2, kVary, true>;
      case Function::lg2:
        return of_f32<Lg2, kVary, true>;
      case Function::rcp:
        return of_f32<Rcp, kVary, true>;
      case Function::rsqrt:
        return of_f32<Rsqrt, kVary, true>;
      case Function::sqrt:
        return of_f32<Sqrt, kVary, true>;
      case Function::sin:
        return of_f32<Sin, kVary, true>;
      case Function::cos:
        return of_f32<Cos, kVary, true>;
      case Function::tanh:
        return nullptr;
    }
  }
  const bool ex2 = function == Function::ex2;
  if (!ex2 && function != Function::tanh) return nullptr;
  switch (format) {
    case Format::f16:
      return ex2 ? of_16<Ex2, F16, kVary, false, false> : of_16<Tanh, F16, kVary, false, false>;
    case Format::f16x2:
      return ex2 ? of_16<Ex2, F16, kVary, false, true> : of_16<Tanh, F16, kVary, false, true>;
    case Format::bf16:
      return ex2 ? of_16<Ex2, Bf16, kVary, true, false> : of_16<Tanh, Bf16, kVary, false, false>;
    case Format::bf16x2:
      return ex2 ? of_16<Ex2, Bf16, kVary, true, true> : of_16<Tanh, Bf16, kVary, false, true>;
    default:
      return nullptr;
  }
}

template <Vary kVary>
Binary binary(bool full, bool ftz) {
  if (full) return ftz ? division<true, true, kVary> : division<true, false, kVary>;
  return ftz ? division<false, true, kVary> : division<false, false, kVary>;
}

template <Vary kVary>
Unary64 unary_f64(Function function, bool ftz) {
  if (function == Function::rcp) return ftz ? reciprocal_f64<false, kVary> : nullptr;
  if (function != Function::rsqrt) return nullptr;
  return ftz ? reciprocal_f64<true, kVary> : rsqrt_f64<kVary>;
}

}  // namespace

Unary approximate(Function function, Format format, Vary variation) {
  switch (variation) {
    case Vary::nearest:
      return unary<Vary::nearest>(function, format);
    case Vary::down:
      return unary<Vary::down>(function, format);
    case Vary::up:
      return unary<Vary::up>(function, format);
    case Vary::either:
      return unary<Vary::either>(function, format);
  }
  return nullptr;
}

Binary approximate_division(bool full, bool ftz, Vary variation) {
  switch (variation) {
    case Vary::nearest:
      return binary<Vary::nearest>(full, ftz);
    case Vary::down:
      return binary<Vary::down>(full, ftz);
    case Vary::up:
      return binary<Vary::up>(full, ftz);
    case Vary::either:
      return binary<Vary::either>(full, ftz);
  }
  return nullptr;
}

Unary64 approximate_f64(Function function, bool ftz, Vary variation) {
  switch (variation) {
    case Vary::nearest:
      return unary_f64<Vary::nearest>(function, ftz);
    case Vary::down:
      return unary_f64<Vary::down>(function, ftz);
    case Vary::up:
      return unary_f64<Vary::up>(function, ftz);
    case Vary::either:
      return unary_f64<Vary::either>(function, ftz);
  }
  return nullptr;
}

}  // namespace plumbline::ptx::arithmetic::PLUMBLINE_PTX_LEVEL
