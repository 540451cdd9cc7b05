// SPDX-License-Identifier: Apache-2.0
// Comparison and selection: sections 9.7.6 and 9.7.7 of the PTX ISA.
#include <fmt/format.h>

#include <cmath>

#include "tests/gpu/ptx/conformance/families.hpp"

namespace plumbline::ptx::conformance {
namespace {

using enum Type;

bool is_float(Type type) {
  return type == f16 || type == bf16 || type == f16x2 || type == bf16x2 || type == f32 ||
         type == f64;
}
bool is_bits(Type type) { return type == b16 || type == b32 || type == b64; }
bool is_pair(Type type) { return type == f16x2 || type == bf16x2; }

/// The operators that a type has.
std::vector<std::string> operators(Type type) {
  if (is_bits(type)) return {"eq", "ne"};
  std::vector<std::string> result = {"eq", "ne", "lt", "le", "gt", "ge"};
  if (is_float(type))
    for (const char* op : {"equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"})
      result.push_back(op);
  else if (!is_signed(type))
    for (const char* op : {"lo", "ls", "hi", "hs"}) result.push_back(op);
  return result;
}

template <class T>
bool ordered(const std::string& op, T x, T y) {
  if (op == "eq") return x == y;
  if (op == "ne") return x != y;
  if (op == "lt" || op == "lo") return x < y;
  if (op == "le" || op == "ls") return x <= y;
  if (op == "gt" || op == "hi") return x > y;
  return x >= y;
}

/// `half`: of a pair.
bool holds_for(const std::string& op, Type type, bool ftz, Bits a, Bits b, int half = 0) {
  if (!is_float(type)) return ordered(op, integer(type, a), integer(type, b));
  const Format& format = format_of(type);
  a = low(a >> 16 * half, format.width()), b = low(b >> 16 * half, format.width());
  if (ftz) a = flushed(format, a), b = flushed(format, b);
  const double x = value(format, a), y = value(format, b);
  const bool nan = std::isnan(x) || std::isnan(y);
  if (op == "num") return !nan;
  if (op == "nan") return nan;
  if (nan) return op.size() == 3;  // equ, neu, ...
  return ordered(op.substr(0, 2), x, y);
}

/// BoolOp of the comparison and a predicate; "" is the comparison alone.
bool combined(const std::string& op, bool t, bool c) {
  if (op == "and") return t && c;
  if (op == "or") return t || c;
  if (op == "xor") return t != c;
  return t;
}

Target target_of(Type type) {
  return type == bf16 || type == bf16x2 ? Target::sm_90a : Target::sm_80;
}
bool can_flush(Type type) { return type == f32 || type == f16 || type == f16x2; }

constexpr Type compared_types[] = {b16, b32, b64, u16, u32,  u64,   s16,   s32,
                                   s64, f32, f64, f16, bf16, f16x2, bf16x2};
constexpr const char* boolean_operators[] = {"", "and", "or", "xor"};

void setp(Family& family) {
  for (const Type t : compared_types)
    for (const std::string& op : operators(t))
      for (const bool ftz : {false, true}) {
        if (ftz && !can_flush(t)) continue;
        for (const std::string boolean : boolean_operators) {
          const std::string form = fmt::format("setp.{}{}{}{}.{}", op, boolean.empty() ? "" : ".",
                                               boolean, ftz ? ".ftz" : "", name(t));
          // Scalar halves have one predicate; the second of a pair is that of its upper half.
          const bool second = t != f16 && t != bf16;
          for (const bool negated : {false, true}) {
            if (negated && boolean.empty()) continue;
            std::vector<Operand> operands = {t, t};
            std::string text;
            if (!boolean.empty()) {
              operands.push_back({u32, range(0, 1)});
              text = "setp.ne.u32 %p2, %a2, 0; ";
            }
            text += fmt::format("{} %p0{}, %a0, %a1{}; ", form, second ? "|%p1" : "",
                                boolean.empty() ? ""
                                : negated       ? ", !%p2"
                                                : ", %p2");
            text += "selp.u32 %d0, 1, 0, %p0;";
            std::vector<Type> results = {u32};
            if (second) {
              text += " selp.u32 %d1, 1, 0, %p1;";
              results.push_back(u32);
            }
            family
                .add(form + (negated ? " !c" : ""), results, operands,
                     [=](const Bits* a, Bits* d) {
                       const bool c = !boolean.empty() && (a[2] != 0) != negated;
                       const bool first = holds_for(op, t, ftz, a[0], a[1]);
                       d[0] = combined(boolean, first, c);
                       if (!second) return;
                       const bool other =
                           is_pair(t) ? holds_for(op, t, ftz, a[0], a[1], 1) : !first;
                       d[1] = combined(boolean, other, c);
                     })
                .with_text(text)
                .on(target_of(t));
          }
        }
      }
}

void set(Family& family) {
  for (const Type t : compared_types)
    for (const Type result : {u32, s32, f32, u16, s16, f16, bf16, f16x2, bf16x2}) {
      const bool halves = t == f16 || t == bf16;
      if (is_pair(t) != is_pair(result) && !(is_pair(t) && (result == u32 || result == s32)))
        continue;
      if (is_pair(result) && result != t) continue;
      if ((result == u16 || result == s16) && !halves) continue;
      if (result == f32 && halves) continue;
      if (result == bf16 && t == bf16) continue;  // set.bf16.stype has no .bf16
      if (result == f16 && t == bf16) continue;
      for (const std::string& op : operators(t))
        for (const std::string boolean : {"", "and", "xor"})
          for (const bool ftz : {false, true}) {
            if (ftz && (!can_flush(t) || result == bf16)) continue;
            const std::string form =
                fmt::format("set.{}{}{}{}.{}.{}", op, boolean.empty() ? "" : ".", boolean,
                            ftz ? ".ftz" : "", name(result), name(t));
            std::vector<Operand> operands = {t, t};
            if (!boolean.empty()) operands.push_back({u32, range(0, 1)});
            const Bits yes = result == f32      ? 0x3f800000
                             : result == f16    ? 0x3c00
                             : result == bf16   ? 0x3f80
                             : result == f16x2  ? 0x3c003c00
                             : result == bf16x2 ? 0x3f803f80
                                                : 0xffffffff;
            family
                .add(form, {result}, operands,
                     [=](const Bits* a, Bits* d) {
                       d[0] = 0;
                       const bool c = !boolean.empty() && a[2];
                       if (!is_pair(t)) {
                         d[0] = combined(boolean, holds_for(op, t, ftz, a[0], a[1]), c) ? yes : 0;
                         return;
                       }
                       for (int half = 0; half < 2; ++half)
                         if (combined(boolean, holds_for(op, t, ftz, a[0], a[1], half), c))
                           d[0] |= yes & (Bits{0xffff} << 16 * half);
                     })
                .with_text(
                    boolean.empty()
                        ? fmt::format("{} %d0, %a0, %a1;", form)
                        : fmt::format("setp.ne.u32 %p0, %a2, 0; {} %d0, %a0, %a1, %p0;", form))
                .on(result == bf16 ? Target::sm_90a : target_of(t));
          }
    }
}

void selections(Family& family) {
  for (const Type t : {b16, b32, b64, u16, u32, u64, s16, s32, s64, f32, f64}) {
    family
        .add(fmt::format("selp.{}", name(t)), {t}, {t, t, {u32, range(0, 1)}},
             [](const Bits* a, Bits* d) { d[0] = a[2] ? a[0] : a[1]; })
        .with_text(fmt::format("setp.ne.u32 %p0, %a2, 0; selp.{} %d0, %a0, %a1, %p0;", name(t)));
    family.add(fmt::format("slct.{}.s32", name(t)), {t}, {t, t, s32},
               [](const Bits* a, Bits* d) { d[0] = signed_of(a[2], 32) >= 0 ? a[0] : a[1]; });
    for (const bool ftz : {false, true})
      family.add(fmt::format("slct{}.{}.f32", ftz ? ".ftz" : "", name(t)), {t}, {t, t, f32},
                 [=](const Bits* a, Bits* d) {
                   const Bits c = ftz ? flushed(formats::f32, a[2]) : a[2];
                   d[0] = value(formats::f32, c) >= 0 ? a[0] : a[1];
                 });
  }
}

}  // namespace

Family compare() {
  Family family{"compare", {}, {}};
  setp(family);
  set(family);
  selections(family);
  return family;
}

}  // namespace plumbline::ptx::conformance
