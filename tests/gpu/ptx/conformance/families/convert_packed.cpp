// SPDX-License-Identifier: Apache-2.0
// cvt to and from packed and narrow formats: f16x2, bf16x2, tf32, e4m3x2, e5m2x2; and cvt.pack
// (sections 9.7.9.21 and 9.7.9.22 of the PTX ISA).
#include <fmt/format.h>

#include "tests/gpu/ptx/conformance/families.hpp"

namespace plumbline::ptx::conformance {
namespace {

using enum Type;

struct Modifiers {
  Rounding rounding = Rounding::rn;
  bool relu = false, satfinite = false;
  std::string text() const {
    return fmt::format(".{}{}{}", name(rounding), relu ? ".relu" : "",
                       satfinite ? ".satfinite" : "");
  }
};

/// Rounded; beyond the largest number that number, where `satfinite`; 0 for negative ones, where
/// `relu`.
Bits narrowed(const Format& to, const Modifiers& modifiers, double x) {
  if (x != x) return to.nan;
  Bits d = converted(to, modifiers.rounding, x);
  const bool beyond = is_infinite(to, d) || is_nan(to, d) || (d & ~to.sign()) > to.largest();
  if (beyond && modifiers.satfinite) d = (d & to.sign()) | to.largest();
  if (modifiers.relu && (d & to.sign())) d = 0;
  return d;
}

/// Where .relu or .satfinite meets -0, the sign is not said; NaN is the canonical one.
void from_f32(Family& family) {
  for (const Rounding rounding : {Rounding::rn, Rounding::rz})
    for (const bool relu : {false, true})
      for (const bool satfinite : {false, true}) {
        const Modifiers m{rounding, relu, satfinite};
        for (const Type t : {f16, bf16}) {
          const Format& f = format_of(t);
          const std::string version = satfinite ? "8.1" : "8.0";
          // Without both, the plain conversions of convert.cpp.
          if (relu || satfinite) {
            Row& row = family.add(fmt::format("cvt{}.{}.f32", m.text(), name(t)), {t}, {f32},
                                  [=, &f](const Bits* a, Bits* d) {
                                    d[0] = narrowed(f, m, value(formats::f32, a[0]));
                                  });
            row.version = version;
            if (relu) row.compare = Compare::any_nan_zero;
          }
          const Type pair = t == f16 ? f16x2 : bf16x2;
          Row& row = family.add(fmt::format("cvt{}.{}.f32", m.text(), name(pair)), {pair},
                                {f32, f32}, [=, &f](const Bits* a, Bits* d) {
                                  d[0] = narrowed(f, m, value(formats::f32, a[0])) << 16 |
                                         narrowed(f, m, value(formats::f32, a[1]));
                                });
          row.version = version;
          if (relu) row.compare = Compare::any_nan_zero;
        }
      }
}

/// tf32 lies in the upper 19 bits; the others are not said, so they are not compared.
Bits tf32_of(const Modifiers& m, Bits a) {
  return narrowed(formats::tf32, m, value(formats::f32, a)) << 13;
}

void to_tf32(Family& family) {
  for (const bool satfinite : {false, true}) {
    const Modifiers m{Rounding::rna, false, satfinite};
    family
        .add(fmt::format("cvt{}.tf32.f32", m.text()), {b32}, {f32},
             [=](const Bits* a, Bits* d) { d[0] = tf32_of(m, a[0]); })
        .with_text(fmt::format("cvt{}.tf32.f32 %d0, %a0; and.b32 %d0, %d0, 0xffffe000;", m.text()))
        .since(satfinite ? "8.1" : "8.0");
  }
  for (const Rounding rounding : {Rounding::rn, Rounding::rz})
    for (const bool relu : {false, true}) {
      const Modifiers m{rounding, relu, false};
      family
          .add(fmt::format("cvt{}.tf32.f32", m.text()), {b32}, {f32},
               [=](const Bits* a, Bits* d) {
                 d[0] = tf32_of(m, a[0]);
                 // The sign of a zero under .relu is not said: without it a negative number still
                 // shows.
                 if (relu) d[0] &= 0x7fffffff;
               })
          .with_text(fmt::format("cvt{}.tf32.f32 %d0, %a0; and.b32 %d0, %d0, {};", m.text(),
                                 relu ? "0x7fffe000" : "0xffffe000"))
          .on(Target::sm_90a);
    }
}

void eight_bits(Family& family) {
  for (const bool e4m3 : {true, false}) {
    const Format& f = e4m3 ? formats::e4m3 : formats::e5m2;
    const char* type = e4m3 ? "e4m3x2" : "e5m2x2";
    for (const bool relu : {false, true}) {
      const Modifiers m{Rounding::rn, relu, true};
      const std::string modifiers = relu ? ".rn.satfinite.relu" : ".rn.satfinite";
      // Of a zero under .relu the sign is not said: such inputs are not drawn.
      const auto no_negative_zero = [=](double x) {
        return !relu || !(x <= 0) || converted(f, Rounding::rn, x) != f.sign();
      };
      family
          .add(fmt::format("cvt{}.{}.f32", modifiers, type), {b16}, {f32, f32},
               [=](const Bits* a, Bits* d) {
                 d[0] = narrowed(f, m, value(formats::f32, a[0])) << 8 |
                        narrowed(f, m, value(formats::f32, a[1]));
               })
          .on(Target::sm_90a)
          .since("8.1")
          .when([=](const Bits* a) {
            return no_negative_zero(value(formats::f32, a[0])) &&
                   no_negative_zero(value(formats::f32, a[1]));
          });
      family
          .add(fmt::format("cvt{}.{}.f16x2", modifiers, type), {b16}, {f16x2},
               [=](const Bits* a, Bits* d) {
                 d[0] = narrowed(f, m, value(formats::f16, a[0] >> 16)) << 8 |
                        narrowed(f, m, value(formats::f16, low(a[0], 16)));
               })
          .on(Target::sm_90a)
          .since("8.1")
          .when([=](const Bits* a) {
            return no_negative_zero(value(formats::f16, a[0] >> 16)) &&
                   no_negative_zero(value(formats::f16, low(a[0], 16)));
          });
      const Modifiers widening{Rounding::rn, relu, false};
      Row& row = family.add(fmt::format("cvt.rn{}.f16x2.{}", relu ? ".relu" : "", type), {f16x2},
                            {{b16, range(0, 0xffff, 16)}}, [=](const Bits* a, Bits* d) {
                              d[0] = narrowed(formats::f16, widening, value(f, a[0] >> 8)) << 16 |
                                     narrowed(formats::f16, widening, value(f, a[0] & 0xff));
                            });
      row.target = Target::sm_90a;
      row.version = "8.1";
      if (relu) row.compare = Compare::any_nan_zero;
      // All 256 numbers, in either half.
      for (Bits x = 0; x < 256; ++x)
        row.operands[0].domain.edges.push_back(x << 8 | (x * 37 & 0xff));
    }
  }
}

void packs(Family& family) {
  for (const char* to : {"u16", "s16"})
    family.add(
        fmt::format("cvt.pack.sat.{}.s32", to), {b32}, {s32, s32}, [=](const Bits* a, Bits* d) {
          const bool is_signed = to[0] == 's';
          const auto one = [=](Bits x) {
            const std::int64_t n = signed_of(x, 32);
            return low(
                static_cast<Bits>(std::min<std::int64_t>(
                    std::max<std::int64_t>(n, is_signed ? -32768 : 0), is_signed ? 32767 : 65535)),
                16);
          };
          d[0] = one(a[0]) << 16 | one(a[1]);
        });
  struct Narrow {
    const char* name;
    int bits;
    bool is_signed;
  };
  for (const Narrow to : {Narrow{"u8", 8, false},
                          {"s8", 8, true},
                          {"u4", 4, false},
                          {"s4", 4, true},
                          {"u2", 2, false},
                          {"s2", 2, true}})
    family.add(fmt::format("cvt.pack.sat.{}.s32.b32", to.name), {b32}, {s32, s32, b32},
               [=](const Bits* a, Bits* d) {
                 const std::int64_t least = to.is_signed ? -(1 << (to.bits - 1)) : 0;
                 const std::int64_t most = (1 << (to.is_signed ? to.bits - 1 : to.bits)) - 1;
                 const auto one = [=](Bits x) {
                   return low(static_cast<Bits>(std::min(std::max(signed_of(x, 32), least), most)),
                              to.bits);
                 };
                 // The upper part is c's lower part, moved up.
                 d[0] = a[2] << 2 * to.bits | one(a[0]) << to.bits | one(a[1]);
               });
}

}  // namespace

Family convert_packed() {
  Family family{"convert_packed", {}, {}};
  from_f32(family);
  to_tf32(family);
  eight_bits(family);
  packs(family);
  return family;
}

}  // namespace plumbline::ptx::conformance
