// SPDX-License-Identifier: Apache-2.0
// Bits of integers: fields, counts, permutations, logic, shifts (sections 9.7.1 and 9.7.8 of the
// PTX ISA). Where the ISA gives a loop over bits, the loop is what is computed here.
#include <fmt/format.h>

#include "tests/gpu/ptx/conformance/families.hpp"

namespace plumbline::ptx::conformance {
namespace {

using enum Type;

bool bit(Bits x, int i) { return x >> i & 1; }
/// Positions and lengths: 0..255, the low 8 bits of what is given.
Operand position() {
  Operand operand(u32, range(0, 255));
  for (const Bits x : {0, 1, 7, 8, 15, 16, 30, 31, 32, 33, 62, 63, 64, 65, 96, 128, 255})
    operand.domain.edges.push_back(x);
  return operand;
}

void counts(Family& family) {
  for (const Type t : {b32, b64}) {
    const int n = width(t);
    const auto count = [&](const char* op, const std::function<Bits(Bits)>& f) {
      family.add(fmt::format("{}.{}", op, name(t)), {u32}, {t},
                 [=](const Bits* a, Bits* d) { d[0] = f(a[0]); });
    };
    count("popc", [=](Bits x) {
      Bits d = 0;
      for (int i = 0; i < n; ++i) d += bit(x, i);
      return d;
    });
    count("clz", [=](Bits x) {
      Bits d = 0;
      while (d < Bits(n) && !bit(x, n - 1 - static_cast<int>(d))) ++d;
      return d;
    });
    family.add(fmt::format("brev.{}", name(t)), {t}, {t}, [=](const Bits* a, Bits* d) {
      d[0] = 0;
      for (int i = 0; i < n; ++i) d[0] |= Bits{bit(a[0], n - 1 - i)} << i;
    });
  }
  for (const Type t : {u32, s32, u64, s64})
    for (const bool amount : {false, true})
      family.add(fmt::format("bfind{}.{}", amount ? ".shiftamt" : "", name(t)), {u32}, {t},
                 [=](const Bits* a, Bits* d) {
                   const int msb = width(t) - 1;
                   const Bits x = is_signed(t) && bit(a[0], msb) ? ~a[0] : a[0];
                   d[0] = 0xffffffff;
                   for (int i = msb; i >= 0; --i)
                     if (bit(x, i)) {
                       d[0] = amount ? msb - i : i;
                       break;
                     }
                 });
  family.add("fns.b32", {b32}, {b32, {u32, range(0, 31)}, {s32, range(-34, 34)}},
             [](const Bits* a, Bits* d) {
               const int base = static_cast<int>(a[1]),
                         offset = static_cast<int>(signed_of(a[2], 32));
               d[0] = 0xffffffff;
               if (offset == 0) {
                 if (bit(a[0], base)) d[0] = base;
                 return;
               }
               int count = std::abs(offset) - 1;
               for (int i = base; i >= 0 && i<32; i += offset> 0 ? 1 : -1)
                 if (bit(a[0], i) && count-- == 0) {
                   d[0] = i;
                   return;
                 }
             });
}

void fields(Family& family) {
  for (const Type t : {u32, s32, u64, s64})
    family.add(fmt::format("bfe.{}", name(t)), {t}, {t, position(), position()},
               [=](const Bits* a, Bits* d) {
                 const int msb = width(t) - 1;
                 const int pos = static_cast<int>(a[1] & 0xff), len = static_cast<int>(a[2] & 0xff);
                 const bool sign =
                     is_signed(t) && len != 0 && bit(a[0], std::min(pos + len - 1, msb));
                 d[0] = 0;
                 for (int i = 0; i <= msb; ++i)
                   d[0] |= Bits{i < len && pos + i <= msb ? bit(a[0], pos + i) : sign} << i;
               });
  for (const Type t : {b32, b64})
    family.add(fmt::format("bfi.{}", name(t)), {t}, {t, t, position(), position()},
               [=](const Bits* a, Bits* d) {
                 const int msb = width(t) - 1;
                 const int pos = static_cast<int>(a[2] & 0xff), len = static_cast<int>(a[3] & 0xff);
                 d[0] = a[1];
                 for (int i = 0; i < len && pos + i <= msb; ++i)
                   d[0] = (d[0] & ~(Bits{1} << (pos + i))) | Bits{bit(a[0], i)} << (pos + i);
               });
  for (const bool clamp : {true, false}) {
    const char* mode = clamp ? "clamp" : "wrap";
    for (const Type t : {u32, s32})
      family.add(fmt::format("szext.{}.{}", mode, name(t)), {t}, {t, u32},
                 [=](const Bits* a, Bits* d) {
                   const Bits n = clamp && a[1] >= 32 ? 32 : a[1] & 31;
                   d[0] = n == 0     ? 0
                          : t == s32 ? Bits(signed_of(a[0], static_cast<int>(n)))
                                     : low(a[0], static_cast<int>(n));
                 });
    family.add(fmt::format("bmsk.{}.b32", mode), {b32}, {u32, u32}, [=](const Bits* a, Bits* d) {
      const Bits start = clamp ? a[0] : a[0] & 31, length = clamp ? a[1] : a[1] & 31;
      d[0] = 0;
      for (Bits i = 0; i < 32; ++i)
        if (i >= start && i - start < length) d[0] |= Bits{1} << i;
    });
  }
}

/// The byte that a selector of prmt names; its top bit replicates the sign.
Bits selected(Bits source, Bits selector) {
  const Bits byte = source >> 8 * (selector & 7) & 0xff;
  return selector & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
}

void permutations(Family& family) {
  const auto permute = [&](const std::string& form, Operand selector,
                           const std::function<Bits(Bits c, Bits i)>& byte_of) {
    family.add(form, {b32}, {b32, b32, std::move(selector)}, [=](const Bits* a, Bits* d) {
      const Bits source = a[0] | a[1] << 32;
      d[0] = 0;
      for (Bits i = 0; i < 4; ++i) d[0] |= selected(source, byte_of(a[2], i)) << 8 * i;
    });
  };
  permute("prmt.b32", {b32}, [](Bits c, Bits i) { return c >> 4 * i & 15; });
  // The table of modes: the selector's two low bits, source bytes of d from the lowest.
  const Operand two_bits(b32);
  permute("prmt.b32.f4e", two_bits, [](Bits c, Bits i) { return (c & 3) + i; });
  permute("prmt.b32.b4e", two_bits, [](Bits c, Bits i) { return ((c & 3) - i) & 7; });
  permute("prmt.b32.rc8", two_bits, [](Bits c, Bits) { return c & 3; });
  permute("prmt.b32.ecl", two_bits, [](Bits c, Bits i) { return std::max(c & 3, i); });
  permute("prmt.b32.ecr", two_bits, [](Bits c, Bits i) { return std::min(c & 3, i); });
  permute("prmt.b32.rc16", two_bits, [](Bits c, Bits i) { return (c & 1) * 2 + (i & 1); });
}

void logic(Family& family) {
  for (const Type t : {b16, b32, b64}) {
    const auto add = [&](const char* op, int operands, const std::function<Bits(const Bits*)>& f) {
      family.add(fmt::format("{}.{}", op, name(t)), {t}, std::vector<Operand>(operands, {t}),
                 [=](const Bits* a, Bits* d) { d[0] = f(a); });
    };
    add("and", 2, [](const Bits* a) { return a[0] & a[1]; });
    add("or", 2, [](const Bits* a) { return a[0] | a[1]; });
    add("xor", 2, [](const Bits* a) { return a[0] ^ a[1]; });
    add("not", 1, [](const Bits* a) { return ~a[0]; });
    add("cnot", 1, [](const Bits* a) { return Bits{a[0] == 0}; });
  }
  // Predicates, from the lowest bits of the operands.
  for (const char* op : {"and", "or", "xor"})
    family
        .add(fmt::format("{}.pred", op), {u32}, {u32, u32},
             [=](const Bits* a, Bits* d) {
               const bool x = a[0] & 1, y = a[1] & 1;
               d[0] = op[0] == 'a' ? x && y : op[0] == 'o' ? x || y : x != y;
             })
        .with_text(fmt::format("and.b32 %r0, %a0, 1; setp.ne.u32 %p0, %r0, 0; and.b32 %r0, %a1, 1; "
                               "setp.ne.u32 %p1, %r0, 0; {}.pred %p2, %p0, %p1; "
                               "selp.u32 %d0, 1, 0, %p2;",
                               op));
  family.add("not.pred", {u32}, {u32}, [](const Bits* a, Bits* d) { d[0] = !(a[0] & 1); })
      .with_text(
          "and.b32 %r0, %a0, 1; setp.ne.u32 %p0, %r0, 0; not.pred %p1, %p0; "
          "selp.u32 %d0, 1, 0, %p1;");
  for (int table = 0; table < 256; ++table) {
    const auto looked_up = [=](const Bits* a) {
      Bits d = 0;
      for (int i = 0; i < 32; ++i) {
        const int index = bit(a[0], i) << 2 | bit(a[1], i) << 1 | int{bit(a[2], i)};
        d |= Bits{bit(table, index)} << i;
      }
      return d;
    };
    family
        .add(fmt::format("lop3.b32 {:#04x}", table), {b32}, {b32, b32, b32},
             [=](const Bits* a, Bits* d) { d[0] = looked_up(a); })
        .with_text(fmt::format("lop3.b32 %d0, %a0, %a1, %a2, {};", table));
  }
  for (const char* op : {"or", "and"})
    family
        .add(fmt::format("lop3.{}.b32", op), {b32, u32}, {b32, b32, b32, u32},
             [=](const Bits* a, Bits* d) {
               d[0] = a[0] ^ a[1] ^ a[2];
               const bool some = low(d[0], 32) != 0, q = a[3] & 1;
               d[1] = op[0] == 'o' ? some || q : some && q;
             })
        .with_text(fmt::format("and.b32 %r0, %a3, 1; setp.ne.u32 %p0, %r0, 0; "
                               "lop3.{}.b32 %d0|%p1, %a0, %a1, %a2, 0x96, %p0; "
                               "selp.u32 %d1, 1, 0, %p1;",
                               op))
        .since("8.2");
}

void shifts(Family& family) {
  for (const Type t : {b16, b32, b64})
    family.add(fmt::format("shl.{}", name(t)), {t}, {t, u32},
               [=](const Bits* a, Bits* d) { d[0] = a[1] >= Bits(width(t)) ? 0 : a[0] << a[1]; });
  for (const Type t : {b16, b32, b64, u16, u32, u64, s16, s32, s64})
    family.add(fmt::format("shr.{}", name(t)), {t}, {t, u32}, [=](const Bits* a, Bits* d) {
      const int n = width(t), amount = static_cast<int>(std::min<Bits>(a[1], n));
      const Integer x = integer(t, a[0]);
      d[0] = static_cast<Bits>(x >> amount);
    });
  // c = 0..31 or 32 of the pair b:a.
  for (const bool clamp : {true, false})
    for (const bool left : {true, false})
      family.add(fmt::format("shf.{}.{}.b32", left ? "l" : "r", clamp ? "clamp" : "wrap"), {b32},
                 {b32, b32, u32}, [=](const Bits* a, Bits* d) {
                   const Bits n = clamp ? std::min<Bits>(a[2], 32) : a[2] & 31;
                   const Bits pair = a[1] << 32 | a[0];
                   d[0] = left ? (n == 32 ? a[0] : pair << n >> 32) : pair >> n;
                 });
}

void dot_products(Family& family) {
  for (const Type ta : {u32, s32})
    for (const Type tb : {u32, s32}) {
      const Type t = ta == u32 && tb == u32 ? u32 : s32;
      const auto part = [](Type type, Bits x, int i, int bits) {
        x = low(x >> bits * i, bits);
        return type == s32 ? Bits(signed_of(x, bits)) : x;
      };
      family.add(fmt::format("dp4a.{}.{}", name(ta), name(tb)), {t}, {ta, tb, t},
                 [=](const Bits* a, Bits* d) {
                   d[0] = a[2];
                   for (int i = 0; i < 4; ++i) d[0] += part(ta, a[0], i, 8) * part(tb, a[1], i, 8);
                 });
      for (const bool upper : {false, true})
        family.add(fmt::format("dp2a.{}.{}.{}", upper ? "hi" : "lo", name(ta), name(tb)), {t},
                   {ta, tb, t}, [=](const Bits* a, Bits* d) {
                     d[0] = a[2];
                     for (int i = 0; i < 2; ++i)
                       d[0] += part(ta, a[0], i, 16) * part(tb, a[1], i + (upper ? 2 : 0), 8);
                   });
    }
}

}  // namespace

Family integer_bits() {
  Family family{"integer_bits", {}, {}};
  counts(family);
  fields(family);
  permutations(family);
  logic(family);
  shifts(family);
  dot_products(family);
  return family;
}

}  // namespace plumbline::ptx::conformance
