// SPDX-License-Identifier: Apache-2.0
// Arithmetic of f32 and f64 that IEEE-754 rounds once (section 9.7.3 of the PTX ISA), against MPFR.
#include <fmt/format.h>

#include "tests/gpu/ptx/conformance/families.hpp"

namespace plumbline::ptx::conformance {
namespace {

using enum Type;
using Operation = std::function<Bits(Rounding, const Bits*)>;

/// The NaN of f32 is 0x7fffffff on every GPU; of f64 the ISA promises some payload, not which.
Compare compare_of(Type type) { return type == f64 ? Compare::any_nan : Compare::exact; }

void add_rounded(Family& family, const std::string& op, Type t, int operands,
                 bool optional_rounding, bool saturates, const Operation& operation) {
  const Format& format = format_of(t);
  const auto add = [&](const std::string& rounding_name, Rounding rounding) {
    for (const bool ftz : {false, true})
      for (const bool sat : {false, true}) {
        if ((ftz && t != f32) || (sat && !saturates)) continue;
        Row& row =
            family.add(fmt::format("{}{}{}{}.{}", op, rounding_name, ftz ? ".ftz" : "",
                                   sat ? ".sat" : "", name(t)),
                       {t}, std::vector<Operand>(operands, {t}), [=](const Bits* a, Bits* d) {
                         Bits x[3] = {};
                         for (int i = 0; i < operands; ++i)
                           x[i] = ftz ? flushed(format, a[i]) : a[i];
                         d[0] = operation(rounding, x);
                         if (ftz) d[0] = flushed(format, d[0]);
                         if (sat) d[0] = saturated(format, d[0]);
                       });
        // Whether .sat keeps the sign of -0 is not said.
        row.compare = sat ? Compare::any_nan_zero : compare_of(t);
      }
  };
  if (optional_rounding) add("", Rounding::rn);
  for (const Rounding rounding : directed_roundings)
    add(fmt::format(".{}", name(rounding)), rounding);
}

void rounded_operations(Family& family, Type t) {
  const Format& f = format_of(t);
  const bool sat = t == f32;
  add_rounded(family, "add", t, 2, true, sat,
              [=](Rounding r, const Bits* a) { return sum(f, r, a[0], a[1]); });
  add_rounded(family, "sub", t, 2, true, sat,
              [=](Rounding r, const Bits* a) { return difference(f, r, a[0], a[1]); });
  add_rounded(family, "mul", t, 2, true, sat,
              [=](Rounding r, const Bits* a) { return product(f, r, a[0], a[1]); });
  for (const char* op : {"fma", "mad"})
    add_rounded(family, op, t, 3, false, sat,
                [=](Rounding r, const Bits* a) { return fused(f, r, a[0], a[1], a[2]); });
  add_rounded(family, "div", t, 2, false, false,
              [=](Rounding r, const Bits* a) { return quotient(f, r, a[0], a[1]); });
  const Bits one = static_cast<Bits>(f.bias()) << f.mantissa_bits;
  add_rounded(family, "rcp", t, 1, false, false,
              [=](Rounding r, const Bits* a) { return quotient(f, r, one, a[0]); });
  add_rounded(family, "sqrt", t, 1, false, false,
              [=](Rounding r, const Bits* a) { return square_root(f, r, a[0]); });
}

/// fma where the sum cancels but for its rounding errors: c is -a*b, rounded.
void cancelling(Family& family, Type t) {
  const Format& f = format_of(t);
  for (const Rounding rounding : directed_roundings) {
    const std::string op = fmt::format("fma.{}.{}", name(rounding), name(t));
    family
        .add(op + " of what cancels", {t}, {t, t},
             [=](const Bits* a, Bits* d) {
               const Bits c = product(f, Rounding::rn, a[0], a[1]);
               d[0] = fused(f, rounding, a[0], a[1], is_nan(f, c) ? c : c ^ f.sign());
             })
        .with_text(t == f32 ? fmt::format("mul.rn.f32 %r0, %a0, %a1; neg.f32 %r0, %r0; "
                                          "{} %d0, %a0, %a1, %r0;",
                                          op)
                            : fmt::format("mul.rn.f64 %l0, %a0, %a1; neg.f64 %l0, %l0; "
                                          "{} %d0, %a0, %a1, %l0;",
                                          op))
        .comparing(compare_of(t));
  }
}

Bits least_or_most(const Format& f, bool least, Bits a, Bits b) {
  if (is_zero(f, a) && is_zero(f, b)) return least ? a | b : a & b;  // +0.0 > -0.0
  return (value(f, a) < value(f, b)) == least ? a : b;
}

void minima(Family& family) {
  for (const bool least : {true, false})
    for (const Type t : {f32, f64})
      for (const bool ftz : {false, true})
        for (const bool nan : {false, true})
          for (const bool xorsign : {false, true}) {
            if (t == f64 && (ftz || nan || xorsign)) continue;
            const Format& f = format_of(t);
            family
                .add(fmt::format("{}{}{}{}.{}", least ? "min" : "max", ftz ? ".ftz" : "",
                                 nan ? ".NaN" : "", xorsign ? ".xorsign.abs" : "", name(t)),
                     {t}, {t, t},
                     [=](const Bits* a, Bits* d) {
                       Bits x = ftz ? flushed(f, a[0]) : a[0], y = ftz ? flushed(f, a[1]) : a[1];
                       const Bits sign = (x ^ y) & f.sign();
                       if (xorsign) x &= ~f.sign(), y &= ~f.sign();
                       const bool x_nan = is_nan(f, x), y_nan = is_nan(f, y);
                       if ((x_nan && y_nan) || (nan && (x_nan || y_nan))) {
                         d[0] = f.nan;
                         return;
                       }
                       d[0] = x_nan ? y : y_nan ? x : least_or_most(f, least, x, y);
                       if (xorsign) d[0] = (d[0] & ~f.sign()) | sign;
                     })
                .comparing(compare_of(t))
                .on(xorsign ? Target::sm_90a : Target::sm_80);
          }
}

void signs(Family& family) {
  for (const Type t : {f32, f64}) {
    const Format& f = format_of(t);
    for (const bool ftz : {false, true}) {
      if (ftz && t == f64) continue;
      for (const bool absolute : {true, false})
        family
            .add(fmt::format("{}{}.{}", absolute ? "abs" : "neg", ftz ? ".ftz" : "", name(t)), {t},
                 {t},
                 [=](const Bits* a, Bits* d) {
                   const Bits x = ftz ? flushed(f, a[0]) : a[0];
                   d[0] = absolute ? x & ~f.sign() : x ^ f.sign();
                 })
            .comparing(Compare::any_nan);  // which NaN a NaN gives is not said
    }
    family.add(fmt::format("copysign.{}", name(t)), {t}, {t, t},
               [=](const Bits* a, Bits* d) { d[0] = (a[1] & ~f.sign()) | (a[0] & f.sign()); });
    const auto property = [&](const char* op, const std::function<bool(Bits)>& holds) {
      family
          .add(fmt::format("testp.{}.{}", op, name(t)), {u32}, {t},
               [=](const Bits* a, Bits* d) { d[0] = holds(a[0]); })
          .with_text(fmt::format("testp.{}.{} %p0, %a0; selp.u32 %d0, 1, 0, %p0;", op, name(t)));
    };
    property("finite", [=](Bits x) { return !is_nan(f, x) && !is_infinite(f, x); });
    property("infinite", [=](Bits x) { return is_infinite(f, x); });
    property("number", [=](Bits x) { return !is_nan(f, x); });
    property("notanumber", [=](Bits x) { return is_nan(f, x); });
    property("normal",
             [=](Bits x) { return !is_nan(f, x) && !is_infinite(f, x) && !is_subnormal(f, x); });
    property("subnormal", [=](Bits x) { return is_subnormal(f, x); });
  }
}

}  // namespace

Family float_arithmetic() {
  Family family{"float_arithmetic", {}, {}};
  for (const Type t : {f32, f64}) {
    rounded_operations(family, t);
    cancelling(family, t);
  }
  minima(family);
  signs(family);
  return family;
}

}  // namespace plumbline::ptx::conformance
