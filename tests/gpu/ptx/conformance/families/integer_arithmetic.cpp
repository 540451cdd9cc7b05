// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic, as in section 9.7.1 and 9.7.2 of the PTX ISA: in integers of 128 bits, cut to
// the type's width at the end.
#include <fmt/format.h>

#include "tests/gpu/ptx/conformance/families.hpp"

namespace plumbline::ptx::conformance {
namespace {

using enum Type;

constexpr Type all_types[] = {u16, u32, u64, s16, s32, s64};
constexpr Type signed_types[] = {s16, s32, s64};

Bits bits(Integer x) { return static_cast<Bits>(x); }
/// MININT..MAXINT of 32 bits.
Integer clamped(Integer x) { return std::min<Integer>(std::max<Integer>(x, INT32_MIN), INT32_MAX); }
Type doubled(Type type) {
  switch (type) {
    case u16:
      return u32;
    case s16:
      return s32;
    case u32:
      return u64;
    default:
      return s64;
  }
}

/// The product's high half: 128 bits do not hold the product of two u64 with a sign.
Bits high(Type type, Bits a, Bits b) {
  if (type == u64) {
    __extension__ using Unsigned = unsigned __int128;
    return static_cast<Bits>(Unsigned{a} * b >> 64);
  }
  return bits(integer(type, a) * integer(type, b) >> width(type));
}

void sums(Family& family) {
  for (const Type t : all_types) {
    family.add(fmt::format("add.{}", name(t)), {t}, {t, t},
               [=](const Bits* a, Bits* d) { d[0] = bits(integer(t, a[0]) + integer(t, a[1])); });
    family.add(fmt::format("sub.{}", name(t)), {t}, {t, t},
               [=](const Bits* a, Bits* d) { d[0] = bits(integer(t, a[0]) - integer(t, a[1])); });
    family.add(fmt::format("sad.{}", name(t)), {t}, {t, t, t}, [=](const Bits* a, Bits* d) {
      const Integer x = integer(t, a[0]), y = integer(t, a[1]);
      d[0] = a[2] + bits(x < y ? y - x : x - y);
    });
    for (const bool least : {true, false})
      family.add(fmt::format("{}.{}", least ? "min" : "max", name(t)), {t}, {t, t},
                 [=](const Bits* a, Bits* d) {
                   const bool less = integer(t, a[0]) < integer(t, a[1]);
                   d[0] = less == least ? a[0] : a[1];
                 });
  }
  family.add("add.sat.s32", {s32}, {s32, s32}, [](const Bits* a, Bits* d) {
    d[0] = bits(clamped(integer(s32, a[0]) + integer(s32, a[1])));
  });
  family.add("sub.sat.s32", {s32}, {s32, s32}, [](const Bits* a, Bits* d) {
    d[0] = bits(clamped(integer(s32, a[0]) - integer(s32, a[1])));
  });
  for (const Type t : signed_types) {
    family.add(fmt::format("abs.{}", name(t)), {t}, {t}, [=](const Bits* a, Bits* d) {
      const Integer x = integer(t, a[0]);
      d[0] = bits(x < 0 ? -x : x);
    });
    family.add(fmt::format("neg.{}", name(t)), {t}, {t},
               [=](const Bits* a, Bits* d) { d[0] = bits(-integer(t, a[0])); });
  }
}

void halves(Family& family) {
  for (const Type t : {u16x2, s16x2}) {
    const Type half = t == u16x2 ? u16 : s16;
    const auto pair = [&](const std::string& form,
                          const std::function<Integer(Integer, Integer)>& f) {
      family
          .add(form, {t}, {t, t},
               [=](const Bits* a, Bits* d) {
                 d[0] = 0;
                 for (int i = 0; i < 32; i += 16)
                   d[0] |= low(bits(f(integer(half, a[0] >> i), integer(half, a[1] >> i))), 16)
                           << i;
               })
          .on(Target::sm_90a);
    };
    pair(fmt::format("add.{}", name(t)), [](Integer x, Integer y) { return x + y; });
    pair(fmt::format("min.{}", name(t)), [](Integer x, Integer y) { return std::min(x, y); });
    pair(fmt::format("max.{}", name(t)), [](Integer x, Integer y) { return std::max(x, y); });
    if (t == u16x2) continue;
    pair("min.relu.s16x2",
         [](Integer x, Integer y) { return std::max<Integer>(std::min(x, y), 0); });
    pair("max.relu.s16x2",
         [](Integer x, Integer y) { return std::max<Integer>(std::max(x, y), 0); });
  }
  family
      .add("min.relu.s32", {s32}, {s32, s32},
           [](const Bits* a, Bits* d) {
             d[0] = bits(std::max<Integer>(std::min(integer(s32, a[0]), integer(s32, a[1])), 0));
           })
      .on(Target::sm_90a);
  family
      .add("max.relu.s32", {s32}, {s32, s32},
           [](const Bits* a, Bits* d) {
             d[0] = bits(std::max<Integer>(std::max(integer(s32, a[0]), integer(s32, a[1])), 0));
           })
      .on(Target::sm_90a);
}

void products(Family& family) {
  for (const Type t : all_types) {
    family.add(fmt::format("mul.lo.{}", name(t)), {t}, {t, t},
               [](const Bits* a, Bits* d) { d[0] = a[0] * a[1]; });
    family.add(fmt::format("mul.hi.{}", name(t)), {t}, {t, t},
               [=](const Bits* a, Bits* d) { d[0] = high(t, a[0], a[1]); });
    family.add(fmt::format("mad.lo.{}", name(t)), {t}, {t, t, t},
               [](const Bits* a, Bits* d) { d[0] = a[0] * a[1] + a[2]; });
    family.add(fmt::format("mad.hi.{}", name(t)), {t}, {t, t, t},
               [=](const Bits* a, Bits* d) { d[0] = high(t, a[0], a[1]) + a[2]; });
    if (width(t) == 64) continue;
    const Type wide = doubled(t);
    family.add(fmt::format("mul.wide.{}", name(t)), {wide}, {t, t},
               [=](const Bits* a, Bits* d) { d[0] = bits(integer(t, a[0]) * integer(t, a[1])); });
    family.add(
        fmt::format("mad.wide.{}", name(t)), {wide}, {t, t, wide},
        [=](const Bits* a, Bits* d) { d[0] = bits(integer(t, a[0]) * integer(t, a[1])) + a[2]; });
  }
  family.add("mad.hi.sat.s32", {s32}, {s32, s32, s32}, [](const Bits* a, Bits* d) {
    const Integer upper = integer(s32, a[0]) * integer(s32, a[1]) >> 32;
    d[0] = bits(clamped(upper + integer(s32, a[2])));
  });
  // 24-bit operands: what the upper byte does is not said, so it extends them.
  for (const Type t : {u32, s32}) {
    const Domain narrow = t == u32 ? range(0, 0xffffff) : range(-0x800000, 0x7fffff);
    const Operand operand(t, narrow);
    const auto whole = [=](const Bits* a) { return integer(t, a[0]) * integer(t, a[1]); };
    family.add(fmt::format("mul24.lo.{}", name(t)), {t}, {operand, operand},
               [=](const Bits* a, Bits* d) { d[0] = bits(whole(a)); });
    family.add(fmt::format("mul24.hi.{}", name(t)), {t}, {operand, operand},
               [=](const Bits* a, Bits* d) { d[0] = bits(whole(a) >> 16); });
    family.add(fmt::format("mad24.lo.{}", name(t)), {t}, {operand, operand, t},
               [=](const Bits* a, Bits* d) { d[0] = bits(whole(a)) + a[2]; });
    family.add(fmt::format("mad24.hi.{}", name(t)), {t}, {operand, operand, t},
               [=](const Bits* a, Bits* d) { d[0] = bits(whole(a) >> 16) + a[2]; });
    if (t == s32)
      family.add("mad24.hi.sat.s32", {t}, {operand, operand, t}, [=](const Bits* a, Bits* d) {
        d[0] = bits(clamped((whole(a) >> 16) + integer(s32, a[2])));
      });
  }
}

void quotients(Family& family) {
  for (const Type t : all_types) {
    // What a division by zero gives is open.
    const auto divides = [](const Bits* a) { return a[1] != 0; };
    family
        .add(fmt::format("div.{}", name(t)), {t}, {t, t},
             [=](const Bits* a, Bits* d) { d[0] = bits(integer(t, a[0]) / integer(t, a[1])); })
        .when(divides);
    // Of a quotient rounded to zero, as div's is on every GPU.
    family
        .add(fmt::format("rem.{}", name(t)), {t}, {t, t},
             [=](const Bits* a, Bits* d) { d[0] = bits(integer(t, a[0]) % integer(t, a[1])); })
        .when(divides);
  }
}

/// Chains over the condition code: CC.CF is made by one instruction and used by the next.
void carries(Family& family) {
  for (const Type t : {u32, s32, u64, s64}) {
    const int bits_of_type = width(t);
    __extension__ using Unsigned = unsigned __int128;
    const auto wide = [=](const Bits* a, int i) {
      return Unsigned{a[i]} |
             (bits_of_type == 64 ? Unsigned{a[i + 1]} << 64 : Unsigned{a[i + 1]} << 32);
    };
    const auto split = [=](Unsigned x, Bits* d) {
      d[0] = static_cast<Bits>(x);
      d[1] = static_cast<Bits>(x >> bits_of_type);
    };
    const auto form = [&](const char* text) { return fmt::format(fmt::runtime(text), name(t)); };
    // Two words each: %a0 %a1 and %a2 %a3. The third result is the carry that is left over.
    for (const bool adds : {true, false}) {
      const std::string op = adds ? "add" : "sub";
      family
          .add(fmt::format("{0}.cc.{1} {0}c.cc.{1} {0}c.{1}", op, name(t)), {t, t, t}, {t, t, t, t},
               [=](const Bits* a, Bits* d) {
                 const Unsigned x = wide(a, 0), y = wide(a, 2);
                 const Unsigned r = adds ? x + y : x - y;
                 split(r, d);
                 const bool carry = bits_of_type == 64 ? (adds ? r < x : x < y) : (r >> 64 != 0);
                 d[2] = adds ? carry : Bits{0} - Bits{carry};
               })
          .with_text(fmt::format("{0}.cc.{1} %d0, %a0, %a2; {0}c.cc.{1} %d1, %a1, %a3; "
                                 "{0}c.{1} %d2, 0, 0;",
                                 op, name(t)));
    }
    // a0 * a1 + (a2, a3) in two words and a carry.
    family
        .add(form("mad.lo.cc.{0} madc.hi.cc.{0} addc.{0}"), {t, t, t}, {t, t, t, t},
             [=](const Bits* a, Bits* d) {
               const Bits product = low(a[0] * a[1], bits_of_type);
               d[0] = low(product + a[2], bits_of_type);
               const Bits carry = d[0] < product;
               const Unsigned upper =
                   Unsigned{low(high(t, a[0], a[1]), bits_of_type)} + a[3] + carry;
               d[1] = static_cast<Bits>(upper);
               d[2] = static_cast<Bits>(upper >> bits_of_type);
             })
        .with_text(form("mad.lo.cc.{0} %d0, %a0, %a1, %a2; madc.hi.cc.{0} %d1, %a0, %a1, %a3; "
                        "addc.{0} %d2, 0, 0;"));
    family
        .add(form("mad.hi.cc.{0} madc.lo.{0}"), {t, t}, {t, t, t, t},
             [=](const Bits* a, Bits* d) {
               const Unsigned upper = Unsigned{low(high(t, a[0], a[1]), bits_of_type)} + a[2];
               d[0] = static_cast<Bits>(upper);
               d[1] = a[0] * a[1] + a[3] + static_cast<Bits>(upper >> bits_of_type);
             })
        .with_text(form("mad.hi.cc.{0} %d0, %a0, %a1, %a2; madc.lo.{0} %d1, %a0, %a1, %a3;"));
    family
        .add(form("add.cc.{0} madc.hi.{0} madc.lo.cc.{0}"), {t, t, t}, {t, t, t, t},
             [=](const Bits* a, Bits* d) {
               const Unsigned first = Unsigned{a[2]} + a[3];
               const Bits carry = static_cast<Bits>(first >> bits_of_type);
               d[0] = high(t, a[0], a[1]) + a[2] + carry;
               const Unsigned second = Unsigned{low(a[0] * a[1], bits_of_type)} + a[3] + carry;
               d[1] = static_cast<Bits>(second);
               d[2] = static_cast<Bits>(second >> bits_of_type);
             })
        .with_text(form("add.cc.{0} %d0, %a2, %a3; madc.hi.{0} %d0, %a0, %a1, %a2; "
                        "madc.lo.cc.{0} %d1, %a0, %a1, %a3; addc.{0} %d2, 0, 0;"));
  }
}

}  // namespace

Family integer_arithmetic() {
  Family family{"integer_arithmetic", {}, {}};
  sums(family);
  halves(family);
  products(family);
  quotients(family);
  carries(family);
  return family;
}

}  // namespace plumbline::ptx::conformance
