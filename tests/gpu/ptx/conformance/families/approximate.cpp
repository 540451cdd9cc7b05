// SPDX-License-Identifier: Apache-2.0
// Instructions with .approx, and div.full: special values exactly, the rest within the error that
// sections 9.7.3 and 9.7.4 of the PTX ISA document, against MPFR with 200 bits.
#include <fmt/format.h>

#include <cmath>

#include "tests/gpu/ptx/conformance/families.hpp"

namespace plumbline::ptx::conformance {
namespace {

using enum Type;
using Function = int (*)(mpfr_t, mpfr_srcptr, mpfr_rnd_t);

/// A number of MPFR, with more bits than any format here.
struct Number {
  mpfr_t x;
  explicit Number(double value = 0) {
    mpfr_init2(x, 200);
    mpfr_set_d(x, value, MPFR_RNDN);
  }
  ~Number() { mpfr_clear(x); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
};

/// How far a result may lie from the exact value, or from that value correctly rounded.
struct Bound {
  double ulps = 0, relative = 0, absolute = 0;
  bool from_rounded = false;
};

/// The distance of neighbouring numbers at `x`.
double ulp_at(const Format& f, double x) {
  const int least = 1 - f.bias();
  const int exponent = x == 0 ? least : std::min(std::max(std::ilogb(x), least), f.bias());
  return std::ldexp(1.0, exponent - f.mantissa_bits);
}

std::string shown(double x) { return fmt::format("{:a} ({:.9g})", x, x); }

/// A result against a value that is neither NaN nor infinite.
Judged within(const Format& f, const Bound& bound, bool ftz, const Number& exact, Bits got) {
  double near = mpfr_get_d(exact.x, MPFR_RNDN);
  const Bits nearest = rounded(
      f, Rounding::rn, [&](mpfr_t r, mpfr_rnd_t mode) { return mpfr_set(r, exact.x, mode); });
  const bool from_rounded = bound.from_rounded && !is_infinite(f, nearest);
  if (from_rounded) near = value(f, nearest);
  const double ulp = ulp_at(f, near);
  const std::string expected = fmt::format("{} within {} ulp, relative {:.3g}, absolute {:.3g}",
                                           shown(near), bound.ulps, bound.relative, bound.absolute);
  if (is_nan(f, got)) return {false, -1, expected};
  // Results below the least normal number are flushed.
  const double least_normal = value(f, f.least_normal());
  const double allowed =
      std::max({bound.ulps * ulp, bound.relative * std::fabs(near), bound.absolute}) +
      (bound.ulps > 0 ? 0 : value(f, 1) / 2);
  if (ftz && is_zero(f, got) && std::fabs(near) < least_normal + allowed)
    return {(got != 0) == (near < 0) || std::fabs(near) < allowed, -1, expected};
  if (ftz && is_subnormal(f, got)) return {false, -1, expected};
  // Infinity stands for the number that follows the largest.
  double number = value(f, got);
  if (std::isinf(number))
    number = std::copysign(value(f, f.largest()) + ulp_at(f, value(f, f.largest())), number);
  Number error(number);
  if (from_rounded)
    mpfr_sub_d(error.x, error.x, near, MPFR_RNDN);
  else
    mpfr_sub(error.x, error.x, exact.x, MPFR_RNDN);
  double off = std::fabs(mpfr_get_d(error.x, MPFR_RNDA));
  if (std::isinf(value(f, got)) && std::fabs(near) >= std::fabs(number)) off = 0;
  return {off <= allowed, std::isfinite(value(f, got)) ? off / ulp : -1, expected};
}

Judged exactly(const Format& f, Bits expected, Bits got) {
  const bool right = is_nan(f, expected) ? is_nan(f, got) : got == expected;
  return {right, -1, is_nan(f, expected) ? "NaN" : fmt::format("{:#x}", expected)};
}

/// Special operands and their results; the value elsewhere.
using Special = std::function<bool(Bits a, Bits& d)>;
struct Approximation {
  Function function;
  Special special;
  Bound bound;
};

/// Both halves of a pair, or the one number.
Judge judge_of(Type t, bool ftz, const Approximation& approximation) {
  const Format& f = format_of(t);
  const int halves = t == f16x2 || t == bf16x2 ? 2 : 1;
  return [=, &f](const Bits* a, Bits got) {
    Judged all{true, -1, ""};
    for (int half = 0; half < halves; ++half) {
      const Bits raw = low(a[0] >> 16 * half, f.width()), d = low(got >> 16 * half, f.width());
      const Bits x = ftz ? flushed(f, raw) : raw;
      Bits expected = 0;
      Judged one;
      if (is_nan(f, x)) {
        one = exactly(f, f.nan, d);
      } else if (approximation.special(x, expected)) {
        one = exactly(f, expected, d);
      } else {
        Number exact;
        const Number operand(value(f, x));
        approximation.function(exact.x, operand.x, MPFR_RNDN);
        one = within(f, approximation.bound, ftz, exact, d);
      }
      all.right = all.right && one.right;
      all.ulps = std::max(all.ulps, one.ulps);
      all.expected += (half ? " | " : "") + one.expected;
    }
    return all;
  };
}

int reciprocal(mpfr_t r, mpfr_srcptr a, mpfr_rnd_t mode) { return mpfr_ui_div(r, 1, a, mode); }

/// The tables of special values.
Special specials(const Format& f, Bits at_minus_infinity, Bits at_minus_zero, Bits at_zero,
                 Bits at_infinity, bool negative_is_nan = false) {
  return [=](Bits a, Bits& d) {
    if (a == 0)
      d = at_zero;
    else if (a == f.sign())
      d = at_minus_zero;
    else if (a == f.infinity())
      d = at_infinity;
    else if (a == (f.infinity() | f.sign()))
      d = at_minus_infinity;
    else if (negative_is_nan && (a & f.sign()))
      d = f.nan;
    else
      return false;
    return true;
  };
}

void single_precision(Family& family) {
  const Format& f = formats::f32;
  const Bits minus = f.sign(), inf = f.infinity(), nan = f.nan, one = 0x3f800000;
  const auto add = [&](const std::string& op, const Approximation& approximation, bool can_flush,
                       Operand operand = {f32}) {
    for (const bool ftz : {false, true})
      if (!ftz || can_flush)
        family.add_judged(fmt::format("{}.approx{}.f32", op, ftz ? ".ftz" : ""), f32, {operand},
                          judge_of(f32, ftz, approximation));
  };
  Operand exponent(f32);
  for (const double x : {-126.0, -126.5, -127.0, -148.5, -149.0, -149.5, -150.0, -151.0, 127.0,
                         127.9, 127.99999, 128.0, 0.5, -0.5, 10.0, 1e-6, -1e-6})
    exponent.domain.edges.push_back(converted(f, Rounding::rn, x));
  add("ex2", {mpfr_exp2, specials(f, 0, one, one, inf), {2, 0, 0, true}}, true, exponent);
  add("rcp", {reciprocal, specials(f, minus, minus | inf, inf, 0), {1, 0, 0}}, true);
  add("sqrt", {mpfr_sqrt, specials(f, nan, minus, 0, inf, true), {0, 0x1p-23, 0}}, true);
  add("rsqrt",
      {mpfr_rec_sqrt, specials(f, nan, minus | inf, inf, 0, true), {0, std::exp2(-22.9), 0}}, true);
  add("tanh", {mpfr_tanh, specials(f, minus | one, minus, 0, one), {0, 0x1p-11, 0}}, false);
  // lg2: absolute in (0.5, 2), relative elsewhere.
  for (const bool ftz : {false, true}) {
    const Special table = specials(f, nan, minus | inf, minus | inf, inf, true);
    const Judge near = judge_of(f32, ftz, {mpfr_log2, table, {0, 0, 0x1p-22}});
    const Judge far = judge_of(f32, ftz, {mpfr_log2, table, {0, 0x1p-22, 0}});
    family.add_judged(fmt::format("lg2.approx{}.f32", ftz ? ".ftz" : ""), f32, {f32},
                      [=, &f](const Bits* a, Bits got) {
                        const double x = value(f, a[0]);
                        return x > 0.5 && x < 2 ? near(a, got) : far(a, got);
                      });
  }
  // sin, cos: two ranges; beyond 100 pi nothing is promised but that infinity gives NaN.
  for (const bool cosine : {false, true})
    for (const bool ftz : {false, true})
      for (const bool large : {false, true}) {
        const double end = (large ? 100 : 2) * 3.14159265;
        const Special table =
            cosine ? specials(f, nan, one, one, nan) : specials(f, nan, minus, 0, nan);
        Operand angle(f32, floats(f, -end, end));
        for (const Bits x : {Bits{0}, minus, inf, minus | inf, nan, Bits{1}, minus | 1,
                             f.least_normal(), one, Bits{0x40490fdb}, Bits{0x3fc90fdb}})
          angle.domain.edges.push_back(x);
        family
            .add_judged(fmt::format("{}.approx{}.f32{}", cosine ? "cos" : "sin", ftz ? ".ftz" : "",
                                    large ? " to 100 pi" : ""),
                        f32, {angle},
                        judge_of(f32, ftz,
                                 {cosine ? mpfr_cos : mpfr_sin,
                                  table,
                                  {0, 0, std::exp2(large ? -14.7 : -20.5)}}))
            .with_text(fmt::format("{}.approx{}.f32 %d0, %a0;", cosine ? "cos" : "sin",
                                   ftz ? ".ftz" : ""));
      }
}

void half_precision(Family& family) {
  for (const Type t : {f16, f16x2, bf16, bf16x2}) {
    const bool is_bf16 = t == bf16 || t == bf16x2;
    const Format& f = format_of(t);
    const Bits one = static_cast<Bits>(f.bias()) << f.mantissa_bits;
    const Target target = is_bf16 ? Target::sm_90a : Target::sm_80;
    family
        .add_judged(fmt::format("tanh.approx.{}", name(t)), t, {t},
                    judge_of(t, false,
                             {mpfr_tanh,
                              specials(f, f.sign() | one, f.sign(), 0, one),
                              {0, 0, is_bf16 ? 0x1p-8 : std::exp2(-10.987)}}))
        .on(target);
    family
        .add_judged(fmt::format("ex2.approx{}.{}", is_bf16 ? ".ftz" : "", name(t)), t, {t},
                    judge_of(t, is_bf16,
                             {mpfr_exp2,
                              specials(f, 0, one, one, f.infinity()),
                              {0, is_bf16 ? 0x1p-7 : std::exp2(-9.9), 0}}))
        .on(target);
  }
}

/// a / b for finite numbers that are not zero.
Judged quotient_within(double ulps, bool ftz, double a, double b, Bits got) {
  Number exact(a);
  const Number divisor(b);
  mpfr_div(exact.x, exact.x, divisor.x, MPFR_RNDN);
  return within(formats::f32, {ulps, 0, 0}, ftz, exact, got);
}

void divisions(Family& family) {
  const Format& f = formats::f32;
  for (const bool full : {false, true})
    for (const bool ftz : {false, true}) {
      Row& row = family.add_judged(
          fmt::format("div.{}{}.f32", full ? "full" : "approx", ftz ? ".ftz" : ""), f32, {f32, f32},
          [=, &f](const Bits* raw, Bits got) {
            const Bits a = ftz ? flushed(f, raw[0]) : raw[0], b = ftz ? flushed(f, raw[1]) : raw[1];
            const double x = value(f, a), y = value(f, b);
            const Bits sign = (a ^ b) & f.sign();
            const bool nan = std::isnan(x) || std::isnan(y);
            if (!full && !nan && std::isfinite(y) && std::fabs(y) > 0x1p126)
              return exactly(f, std::isinf(x) ? f.nan : sign, got);
            if (nan || x == 0 || y == 0 || std::isinf(x) || std::isinf(y))
              return exactly(f, quotient(f, Rounding::rn, a, b), got);
            return quotient_within(2, ftz, x, y, got);
          });
      // Of div.approx by a subnormal number nothing is said.
      if (!full && !ftz) row.defined = [&f](const Bits* a) { return !is_subnormal(f, a[1]); };
    }
}

/// rcp and rsqrt of f64 with .approx. The ISA calls the .ftz ones gross and bounds none of them:
/// that of 20 bits of the mantissa is held against them.
void double_precision(Family& family) {
  const Format& f = formats::f64;
  const Bits minus = f.sign(), inf = f.infinity(), nan = f.nan;
  const auto add = [&](const std::string& form, bool ftz, Function function, const Special& special,
                       double relative) {
    const Judge judge = judge_of(f64, ftz, {function, special, {0, relative, 0}});
    family
        .add_judged(form, f64, {f64},
                    [=, &f](const Bits* a, Bits got) {
                      if (!ftz) return judge(a, got);
                      // Only the upper words count.
                      const Bits x = a[0] >> 32 << 32;
                      if (is_nan(f, a[0])) return exactly(f, 0x7fffffff00000000, got);
                      Judged one = judge(&x, got);
                      one.right = one.right && low(got, 32) == 0;
                      return one;
                    })
        .defined = [=, &f](const Bits* a) {
      // A NaN whose upper word is an infinity's, a zero whose upper word drops bits: not said.
      return !ftz || is_nan(f, a[0]) == is_nan(f, a[0] >> 32 << 32);
    };
  };
  add("rcp.approx.ftz.f64", true, reciprocal, specials(f, minus, minus | inf, inf, 0), 0x1p-18);
  add("rsqrt.approx.ftz.f64", true, mpfr_rec_sqrt, specials(f, nan, minus | inf, inf, 0, true),
      0x1p-18);
  add("rsqrt.approx.f64", false, mpfr_rec_sqrt, specials(f, nan, minus | inf, inf, 0, true),
      0x1p-18);
}

}  // namespace

Family approximate() {
  Family family{"approximate", {}, {}};
  single_precision(family);
  half_precision(family);
  divisions(family);
  double_precision(family);
  return family;
}

}  // namespace plumbline::ptx::conformance
