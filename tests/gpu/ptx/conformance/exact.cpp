// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/ptx/conformance/exact.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace plumbline::ptx::conformance {
namespace {

/// A number of MPFR with 53 bits: any operand of ours.
class Operand {
 public:
  explicit Operand(double x) {
    mpfr_init2(m_x, 53);
    mpfr_set_d(m_x, x, MPFR_RNDN);
  }
  ~Operand() { mpfr_clear(m_x); }
  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;
  operator mpfr_srcptr() const { return m_x; }

 private:
  mpfr_t m_x;
};

mpfr_rnd_t of_mpfr(Rounding rounding) {
  switch (rounding) {
    case Rounding::rz:
      return MPFR_RNDZ;
    case Rounding::rm:
      return MPFR_RNDD;
    case Rounding::rp:
      return MPFR_RNDU;
    default:
      return MPFR_RNDN;
  }
}

/// The bits of a number that the format has.
Bits encoded(const Format& format, mpfr_srcptr x) {
  if (mpfr_nan_p(x)) return format.nan;
  const Bits sign = mpfr_signbit(x) ? format.sign() : 0;
  if (mpfr_inf_p(x)) return sign | (format.infinite ? format.infinity() : format.nan);
  if (mpfr_zero_p(x)) return sign;
  const long exponent = mpfr_get_exp(x) - 1;  // 1.f * 2^exponent
  const long least = 1 - format.bias();
  // x / 2^(max(exponent, least) - mantissa_bits) is the mantissa, hidden bit included.
  mpfr_t mantissa;
  mpfr_init2(mantissa, 64);
  mpfr_mul_2si(mantissa, x, format.mantissa_bits - std::max(exponent, least), MPFR_RNDN);
  const Bits m = std::llround(std::fabs(mpfr_get_d(mantissa, MPFR_RNDN)));
  mpfr_clear(mantissa);
  if (exponent < least) return sign | m;
  return sign | ((static_cast<Bits>(exponent + format.bias()) << format.mantissa_bits) +
                 (m - format.least_normal()));
}

}  // namespace

const Format& format_of(Type type) {
  switch (type) {
    case Type::f16:
    case Type::f16x2:
      return formats::f16;
    case Type::bf16:
    case Type::bf16x2:
      return formats::bf16;
    case Type::f32:
      return formats::f32;
    case Type::f64:
      return formats::f64;
    default:
      throw std::logic_error("no float type");
  }
}

const Format* format_named(const std::string& name) {
  using namespace formats;
  static constexpr std::pair<const char*, const Format*> all[] = {
      {"f16", &f16}, {"bf16", &bf16}, {"tf32", &tf32}, {"f32", &f32},
      {"f64", &f64}, {"e4m3", &e4m3}, {"e5m2", &e5m2}};
  for (const auto& [known, format] : all)
    if (name == known) return format;
  return nullptr;
}

const char* name(Rounding rounding) {
  static const char* const names[] = {"rn", "rz", "rm", "rp", "rna"};
  return names[static_cast<int>(rounding)];
}

bool is_nan(const Format& format, Bits x) {
  x &= ~format.sign();
  return format.infinite ? x > format.infinity() : x == format.nan;
}
bool is_infinite(const Format& format, Bits x) {
  return format.infinite && (x & ~format.sign()) == format.infinity();
}
bool is_zero(const Format& format, Bits x) { return (x & ~format.sign()) == 0; }
bool is_subnormal(const Format& format, Bits x) {
  x &= ~format.sign();
  return x != 0 && x < format.least_normal();
}
Bits flushed(const Format& format, Bits x) {
  return is_subnormal(format, x) ? x & format.sign() : x;
}
Bits saturated(const Format& format, Bits x) {
  if (is_nan(format, x) || (x & format.sign())) return 0;
  const Bits one = static_cast<Bits>(format.bias()) << format.mantissa_bits;
  return x > one ? one : x;
}

double value(const Format& format, Bits x) {
  if (is_nan(format, x)) return std::numeric_limits<double>::quiet_NaN();
  const double sign = x & format.sign() ? -1 : 1;
  if (is_infinite(format, x)) return sign * std::numeric_limits<double>::infinity();
  x &= ~format.sign();
  const int exponent = static_cast<int>(x >> format.mantissa_bits);
  const Bits fraction = low(x, format.mantissa_bits);
  const Bits mantissa = exponent == 0 ? fraction : fraction | format.least_normal();
  return sign * std::ldexp(static_cast<double>(mantissa),
                           std::max(exponent, 1) - format.bias() - format.mantissa_bits);
}

Bits rounded(const Format& format, Rounding rounding, const Computation& computation) {
  const mpfr_rnd_t mode = of_mpfr(rounding);
  const long least = mpfr_get_emin(), greatest = mpfr_get_emax();
  mpfr_t x;
  mpfr_init2(x, format.mantissa_bits + 1);
  int ternary = computation(x, mode);
  // MPFR's numbers are 0.1... * 2^e.
  mpfr_set_emin(2 - format.bias() - format.mantissa_bits);
  mpfr_set_emax(format.bias() + 1 + (format.infinite ? 0 : 1));
  ternary = mpfr_check_range(x, ternary, mode);
  mpfr_subnormalize(x, ternary, mode);
  mpfr_set_emin(least);
  mpfr_set_emax(greatest);
  const Bits result = encoded(format, x);
  mpfr_clear(x);
  return result;
}

Bits converted(const Format& to, Rounding rounding, double x) {
  if (rounding == Rounding::rna && std::isfinite(x)) {
    // A tie is where rounding to 0 and away from it are equally far.
    const Rounding up = std::signbit(x) ? Rounding::rm : Rounding::rp;
    const Bits near = converted(to, Rounding::rz, x), far = converted(to, up, x);
    if (near == far) return near;
    const Bits nearest = converted(to, Rounding::rn, x);
    if (is_infinite(to, far)) {
      // Half a unit beyond the largest number rounds to infinity.
      return nearest;
    }
    const double below = std::fabs(x - value(to, near)), above = std::fabs(value(to, far) - x);
    return below == above ? far : nearest;
  }
  const Operand a(x);
  return rounded(to, rounding, [&](mpfr_t r, mpfr_rnd_t mode) { return mpfr_set(r, a, mode); });
}

Bits sum(const Format& format, Rounding rounding, Bits a, Bits b) {
  const Operand x(value(format, a)), y(value(format, b));
  return rounded(format, rounding,
                 [&](mpfr_t r, mpfr_rnd_t mode) { return mpfr_add(r, x, y, mode); });
}
Bits difference(const Format& format, Rounding rounding, Bits a, Bits b) {
  return sum(format, rounding, a, is_nan(format, b) ? b : b ^ format.sign());
}
Bits product(const Format& format, Rounding rounding, Bits a, Bits b) {
  const Operand x(value(format, a)), y(value(format, b));
  return rounded(format, rounding,
                 [&](mpfr_t r, mpfr_rnd_t mode) { return mpfr_mul(r, x, y, mode); });
}
Bits fused(const Format& format, Rounding rounding, Bits a, Bits b, Bits c) {
  const Operand x(value(format, a)), y(value(format, b)), z(value(format, c));
  return rounded(format, rounding,
                 [&](mpfr_t r, mpfr_rnd_t mode) { return mpfr_fma(r, x, y, z, mode); });
}
Bits quotient(const Format& format, Rounding rounding, Bits a, Bits b) {
  const Operand x(value(format, a)), y(value(format, b));
  return rounded(format, rounding,
                 [&](mpfr_t r, mpfr_rnd_t mode) { return mpfr_div(r, x, y, mode); });
}
Bits square_root(const Format& format, Rounding rounding, Bits a) {
  const Operand x(value(format, a));
  return rounded(format, rounding,
                 [&](mpfr_t r, mpfr_rnd_t mode) { return mpfr_sqrt(r, x, mode); });
}

}  // namespace plumbline::ptx::conformance
