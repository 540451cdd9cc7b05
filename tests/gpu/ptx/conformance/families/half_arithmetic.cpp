// SPDX-License-Identifier: Apache-2.0
// Arithmetic of f16, bf16 and their pairs (section 9.7.4 of the PTX ISA), against MPFR.
#include <fmt/format.h>

#include "tests/gpu/ptx/conformance/families.hpp"

namespace plumbline::ptx::conformance {
namespace {

using enum Type;
using Operation = std::function<Bits(const Bits*)>;

bool is_pair(Type type) { return type == f16x2 || type == bf16x2; }
bool is_bf16(Type type) { return type == bf16 || type == bf16x2; }

/// What happens to operands and result of each half.
struct Modifiers {
  bool ftz = false, sat = false, relu = false;
  std::string text() const {
    return fmt::format("{}{}{}", ftz ? ".ftz" : "", sat ? ".sat" : "", relu ? ".relu" : "");
  }
};

Row& add_halves(Family& family, const std::string& form, Type t, int operands, Modifiers modifiers,
                const Operation& operation) {
  const Format& f = format_of(t);
  return family.add(form, {t}, std::vector<Operand>(operands, {t}), [=](const Bits* a, Bits* d) {
    d[0] = 0;
    for (int shift = 0; shift < (is_pair(t) ? 32 : 16); shift += 16) {
      Bits x[3] = {};
      for (int i = 0; i < operands; ++i) {
        x[i] = low(a[i] >> shift, 16);
        if (modifiers.ftz) x[i] = flushed(f, x[i]);
      }
      Bits r = operation(x);
      if (modifiers.ftz) r = flushed(f, r);
      if (modifiers.sat) r = saturated(f, r);
      if (modifiers.relu && !is_nan(f, r) && (r & f.sign())) r = 0;
      d[0] |= r << shift;
    }
  });
}

void rounded_operations(Family& family, Type t) {
  const Format& f = format_of(t);
  constexpr Rounding rn = Rounding::rn;
  const std::pair<const char*, Operation> operations[] = {
      {"add", [&f](const Bits* a) { return sum(f, rn, a[0], a[1]); }},
      {"sub", [&f](const Bits* a) { return difference(f, rn, a[0], a[1]); }},
      {"mul", [&f](const Bits* a) { return product(f, rn, a[0], a[1]); }}};
  for (const auto& [op, operation] : operations)
    for (const char* rounding : {"", ".rn"})
      for (const bool ftz : {false, true})
        for (const bool sat : {false, true}) {
          if (is_bf16(t) && (ftz || sat)) continue;
          const Modifiers modifiers{ftz, sat, false};
          Row& row =
              add_halves(family, fmt::format("{}{}{}.{}", op, rounding, modifiers.text(), name(t)),
                         t, 2, modifiers, operation);
          if (sat) row.compare = Compare::any_nan_zero;
          if (is_bf16(t)) row.target = Target::sm_90a;
        }
  for (const bool ftz : {false, true})
    for (const bool sat : {false, true})
      for (const bool relu : {false, true}) {
        if ((is_bf16(t) && (ftz || sat)) || (sat && relu)) continue;
        const Modifiers modifiers{ftz, sat, relu};
        Row& row =
            add_halves(family, fmt::format("fma.rn{}.{}", modifiers.text(), name(t)), t, 3,
                       modifiers, [&f](const Bits* a) { return fused(f, rn, a[0], a[1], a[2]); });
        if (sat || relu) row.compare = Compare::any_nan_zero;
      }
}

void signs(Family& family, Type t) {
  const Format& f = format_of(t);
  for (const bool ftz : {false, true}) {
    if (is_bf16(t) && ftz) continue;
    const Modifiers modifiers{ftz, false, false};
    add_halves(family, fmt::format("neg{}.{}", modifiers.text(), name(t)), t, 1, modifiers,
               [&f](const Bits* a) { return a[0] ^ f.sign(); })
        .compare = Compare::any_nan;
    add_halves(family, fmt::format("abs{}.{}", modifiers.text(), name(t)), t, 1, modifiers,
               [&f](const Bits* a) { return a[0] & ~f.sign(); })
        .compare = Compare::any_nan;
  }
}

void minima(Family& family, Type t) {
  const Format& f = format_of(t);
  for (const bool least : {true, false})
    for (const bool ftz : {false, true})
      for (const bool nan : {false, true})
        for (const bool xorsign : {false, true}) {
          if (is_bf16(t) && ftz) continue;
          const Modifiers modifiers{ftz, false, false};
          add_halves(family,
                     fmt::format("{}{}{}{}.{}", least ? "min" : "max", modifiers.text(),
                                 nan ? ".NaN" : "", xorsign ? ".xorsign.abs" : "", name(t)),
                     t, 2, modifiers,
                     [=, &f](const Bits* a) {
                       Bits x = a[0], y = a[1];
                       const Bits sign = (x ^ y) & f.sign();
                       if (xorsign) x &= ~f.sign(), y &= ~f.sign();
                       const bool x_nan = is_nan(f, x), y_nan = is_nan(f, y);
                       if ((x_nan && y_nan) || (nan && (x_nan || y_nan))) return f.nan;
                       Bits r = x_nan ? y : x;
                       if (!x_nan && !y_nan) {
                         if (is_zero(f, x) && is_zero(f, y))
                           r = least ? x | y : x & y;
                         else
                           r = (value(f, x) < value(f, y)) == least ? x : y;
                       }
                       return xorsign ? (r & ~f.sign()) | sign : r;
                     })
              .target = xorsign ? Target::sm_90a : Target::sm_80;
        }
}

}  // namespace

Family half_arithmetic() {
  Family family{"half_arithmetic", {}, {}};
  for (const Type t : {f16, f16x2, bf16, bf16x2}) {
    rounded_operations(family, t);
    signs(family, t);
    minima(family, t);
  }
  return family;
}

}  // namespace plumbline::ptx::conformance
