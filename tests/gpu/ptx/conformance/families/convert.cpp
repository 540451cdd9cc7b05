// SPDX-License-Identifier: Apache-2.0
// cvt between integers, f16, bf16, f32 and f64 (section 9.7.9.21 of the PTX ISA).
#include <fmt/format.h>

#include <cmath>

#include "tests/gpu/ptx/conformance/families.hpp"

namespace plumbline::ptx::conformance {
namespace {

using enum Type;

struct IntegerType {
  const char* name;
  int width;
  bool is_signed;
  Integer least() const { return is_signed ? -(Integer{1} << (width - 1)) : 0; }
  Integer most() const { return (Integer{1} << (is_signed ? width - 1 : width)) - 1; }
  /// A register that holds it: types of 8 bits are in wider ones.
  Type reg() const { return width == 64 ? b64 : width == 16 ? b16 : b32; }
  Integer of(Bits x) const {
    return is_signed ? Integer{signed_of(x, width)} : Integer{low(x, width)};
  }
};
constexpr IntegerType integer_types[] = {{"u8", 8, false},   {"s8", 8, true},    {"u16", 16, false},
                                         {"s16", 16, true},  {"u32", 32, false}, {"s32", 32, true},
                                         {"u64", 64, false}, {"s64", 64, true}};
constexpr Type float_types[] = {f16, bf16, f32, f64};

Integer clamped(const IntegerType& to, Integer x) {
  return std::min(std::max(x, to.least()), to.most());
}
/// bf16 came to other conversions with sm_90, and there to registers of no other width than the
/// type's: .b8 for 8 bits.
bool new_bf16(Type a, Type b = u32) { return a == bf16 || b == bf16; }

void between_integers(Family& family) {
  for (const IntegerType& from : integer_types)
    for (const IntegerType& to : integer_types) {
      family.add(fmt::format("cvt.{}.{}", to.name, from.name), {to.reg()}, {from.reg()},
                 [=](const Bits* a, Bits* d) {
                   // The result is extended to the register's width.
                   d[0] = static_cast<Bits>(to.of(static_cast<Bits>(from.of(a[0]))));
                 });
      if (to.least() <= from.least() && from.most() <= to.most()) continue;
      family.add(
          fmt::format("cvt.sat.{}.{}", to.name, from.name), {to.reg()}, {from.reg()},
          [=](const Bits* a, Bits* d) { d[0] = static_cast<Bits>(clamped(to, from.of(a[0]))); });
    }
  // A destination wider than the type: extended as its sign says.
  for (const char* type : {"s16", "u16"})
    family
        .add(fmt::format("cvt.{}.s32 to 32 bits", type), {b32}, {s32},
             [=](const Bits* a, Bits* d) {
               d[0] = type[0] == 's' ? static_cast<Bits>(signed_of(a[0], 16)) : low(a[0], 16);
             })
        .with_text(fmt::format("cvt.{}.s32 %d0, %a0;", type));
}

double integral(Rounding rounding, double x) {
  switch (rounding) {
    case Rounding::rz:
      return std::trunc(x);
    case Rounding::rm:
      return std::floor(x);
    case Rounding::rp:
      return std::ceil(x);
    default:
      return std::nearbyint(x);
  }
}

void to_integers(Family& family) {
  for (const Type from : float_types)
    for (const IntegerType& to : integer_types)
      for (const Rounding rounding : directed_roundings)
        for (const bool ftz : {false, true})
          for (const bool sat : {false, true}) {
            if ((ftz && from != f32) || (sat && from == bf16)) continue;
            const Format& f = format_of(from);
            const std::string form =
                fmt::format("cvt.{}i{}{}.{}.{}", name(rounding), ftz ? ".ftz" : "",
                            sat ? ".sat" : "", to.name, name(from));
            Row& row = family.add(form, {to.reg()}, {from}, [=](const Bits* a, Bits* d) {
              const double x = value(f, ftz ? flushed(f, a[0]) : a[0]);
              if (std::isnan(x)) {
                const bool zero = from != f64 && to.width != 64;
                d[0] = zero ? 0 : static_cast<Bits>(to.of(Bits{1} << (to.width - 1)));
                return;
              }
              // Integers beyond 2^70 are beyond every type.
              const double bounded = std::min(std::max(integral(rounding, x), -0x1p70), 0x1p70);
              d[0] = static_cast<Bits>(clamped(to, static_cast<Integer>(bounded)));
            });
            if (new_bf16(from)) row.target = Target::sm_90a;
            if (new_bf16(from) && to.width == 8)
              row.text = fmt::format(".reg .b8 %byte; {} %byte, %a0; cvt.{}32.{} %d0, %byte;", form,
                                     to.name[0], to.name);
          }
}

void from_integers(Family& family) {
  for (const Type to : float_types)
    for (const IntegerType& from : integer_types)
      for (const Rounding rounding : directed_roundings)
        for (const bool sat : {false, true}) {
          if (sat && to == bf16) continue;
          const Format& f = format_of(to);
          Row& row = family.add(
              fmt::format("cvt.{}{}.{}.{}", name(rounding), sat ? ".sat" : "", name(to), from.name),
              {to}, {from.reg()}, [=](const Bits* a, Bits* d) {
                const Integer x = from.of(a[0]);
                d[0] = rounded(f, rounding, [&](mpfr_t r, mpfr_rnd_t mode) {
                  return x < 0 ? mpfr_set_si(r, static_cast<long>(x), mode)
                               : mpfr_set_ui(r, static_cast<unsigned long>(x), mode);
                });
                if (sat) d[0] = saturated(f, d[0]);
              });
          if (new_bf16(to)) row.target = Target::sm_90a;
          if (new_bf16(to) && from.width == 8)
            row.text = fmt::format(".reg .b8 %byte; cvt.{}.u32 %byte, %a0; {} %d0, %byte;",
                                   from.name, row.form);
        }
}

void between_floats(Family& family) {
  for (const Type from : float_types)
    for (const Type to : float_types) {
      if (from == to) continue;
      const Format &f = format_of(from), &t = format_of(to);
      // Rounding is for what may lose bits.
      const bool loses = t.mantissa_bits < f.mantissa_bits || t.exponent_bits < f.exponent_bits;
      for (const Rounding rounding : directed_roundings)
        for (const bool ftz : {false, true})
          for (const bool sat : {false, true}) {
            if (!loses && rounding != Rounding::rn) continue;
            if (ftz && from != f32 && to != f32) continue;
            if (new_bf16(from, to) && (sat || (ftz && to == bf16))) continue;
            if (to == bf16 && from == f32 && rounding != Rounding::rn && rounding != Rounding::rz)
              continue;
            Row& row = family.add(
                fmt::format("cvt{}{}{}.{}.{}", loses ? fmt::format(".{}", name(rounding)) : "",
                            ftz ? ".ftz" : "", sat ? ".sat" : "", name(to), name(from)),
                {to}, {from}, [=](const Bits* a, Bits* d) {
                  const Bits x = ftz && from == f32 ? flushed(f, a[0]) : a[0];
                  d[0] = converted(t, rounding, value(f, x));
                  if (ftz && to == f32) d[0] = flushed(t, d[0]);
                  if (sat) d[0] = saturated(t, d[0]);
                });
            row.compare = sat ? Compare::any_nan_zero : Compare::any_nan;
            if (new_bf16(from, to) && !(from == f32 && to == bf16) &&
                !(from == bf16 && to == f32 && !ftz))
              row.target = Target::sm_90a;
          }
    }
}

void same_float(Family& family) {
  for (const Type t : float_types)
    for (const bool ftz : {false, true})
      for (const bool sat : {false, true}) {
        if ((ftz && t != f32) || (sat && t == bf16)) continue;
        const Format& f = format_of(t);
        const auto add = [&](const std::string& mode, const std::function<double(double)>& g) {
          Row& row =
              family.add(fmt::format("cvt{}{}{}.{}.{}", mode, ftz ? ".ftz" : "", sat ? ".sat" : "",
                                     name(t), name(t)),
                         {t}, {t}, [=](const Bits* a, Bits* d) {
                           const Bits x = ftz ? flushed(f, a[0]) : a[0];
                           d[0] = is_nan(f, x) ? f.nan : converted(f, Rounding::rn, g(value(f, x)));
                           if (sat) d[0] = saturated(f, d[0]);
                         });
          row.compare = sat ? Compare::any_nan_zero : Compare::any_nan;
          if (t == bf16) row.target = Target::sm_90a;
        };
        if (t != bf16) add("", [](double x) { return x; });
        for (const Rounding rounding : directed_roundings)
          add(fmt::format(".{}i", name(rounding)),
              // An integral result of a negative number keeps its sign, also as zero.
              [=](double x) { return std::copysign(integral(rounding, x), x); });
      }
}

}  // namespace

Family convert() {
  Family family{"convert", {}, {}};
  between_integers(family);
  to_integers(family);
  from_integers(family);
  between_floats(family);
  same_float(family);
  return family;
}

}  // namespace plumbline::ptx::conformance
