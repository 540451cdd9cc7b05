// SPDX-License-Identifier: Apache-2.0
// atom and red in all types, operations and spaces (sections 9.7.13.5 and 9.7.13.6 of the PTX ISA).
// Each thread has a word of its own: what it held, what it holds, and what the instruction
// returned. What threads do to one word together is in contention.cpp.
#include <fmt/format.h>

#include "tests/gpu/ptx/conformance/families.hpp"

namespace plumbline::ptx::conformance {
namespace {

using enum Type;

struct Space {
  const char *name, *qualifier;
  bool is_shared;
};
constexpr Space spaces[] = {{"global", ".global", false},
                            {"shared", ".shared", true},
                            {"generic to global", "", false},
                            {"generic to shared", "", true},
                            {"shared::cta", ".shared::cta", true}};

/// The new value of old value a, operand b and, for cas, c.
using Update = std::function<Bits(Bits a, Bits b, Bits c)>;

/// Where the thread's 16 bytes are: %l7. `words` operands of type `t` are stored there.
void give_slot(Row& row, const Space& space, Type t, int words) {
  const int bits = width(t);
  if (space.is_shared) {
    row.before =
        "  .shared .align 16 .b8 slots[2048];\n  mov.u64 %l7, slots;\n  mov.u32 %r15, %tid.x;\n";
  } else {
    row.module = ".global .align 16 .b8 KERNEL_slots[131072];\n";
    row.before = "  mov.u64 %l7, KERNEL_slots;\n  mov.u32 %r15, %thread;\n";
  }
  row.before += "  mul.wide.u32 %l6, %r15, 16;\n  add.s64 %l7, %l7, %l6;\n";
  const std::string window = space.is_shared ? "shared" : "global";
  if (!*space.qualifier) row.before += fmt::format("  cvta.{}.u64 %l7, %l7;\n", window);
  for (int i = 0; i < words; ++i)
    row.before +=
        fmt::format("  st{}.b{} [%l7+{}], %a{};\n", space.qualifier, bits, i * bits / 8, i);
}

struct Operation {
  std::string name;  ///< ".add"
  Type type;
  int operands;  ///< 1; cas: 2
  Update update;
  Target target = Target::sm_80;
};

void add_rows(Family& family, const Operation& operation, const Space& space,
              const std::string& qualifiers = "", Target target = Target::sm_80) {
  const Type t = operation.type;
  const auto update = operation.update;
  const bool is_float = t == f16 || t == f16x2 || t == bf16 || t == bf16x2 || t == f32 || t == f64;
  std::vector<Operand> operands(1 + operation.operands, {t});
  // Often cas finds what it compares with.
  if (operation.operands == 2)
    operands[0].domain = operands[1].domain = of({0, 1, 2, low(~Bits{0}, width(t))});
  const int bits = width(t);
  const auto finish = [&](Row& row) {
    give_slot(row, space, t, 1);
    if (is_float) row.compare = Compare::any_nan;
    row.target = operation.target == Target::sm_90a ? operation.target : target;
  };
  const std::string form =
      fmt::format("{}{}{}.{}", qualifiers, space.qualifier, operation.name, name(t));
  const std::string title =
      fmt::format("{}{}.{} {}", qualifiers, operation.name, name(t), space.name);
  const std::string last = operation.operands == 2 ? ", %a2" : "";
  Row& atom = family.add("atom" + title, {t, t}, operands, [=](const Bits* a, Bits* d) {
    d[0] = a[0];
    d[1] = update(a[0], a[1], a[2]);
  });
  atom.text = fmt::format("atom{} %d0, [%l7], %a1{}; ld{}.b{} %d1, [%l7];", form, last,
                          space.qualifier, bits);
  finish(atom);
  if (operation.name == ".cas" || operation.name == ".exch" ||
      qualifiers.find("acq") != std::string::npos)
    return;
  Row& red = family.add("red" + title, {t}, operands,
                        [=](const Bits* a, Bits* d) { d[0] = update(a[0], a[1], a[2]); });
  red.text =
      fmt::format("red{} [%l7], %a1{}; ld{}.b{} %d0, [%l7];", form, last, space.qualifier, bits);
  finish(red);
}

std::vector<Operation> operations() {
  std::vector<Operation> all;
  const auto less = [](Type t) {
    return [=](Bits x, Bits y) { return integer(t, x) < integer(t, y); };
  };
  for (const Type t : {b32, b64}) {
    all.push_back({".and", t, 1, [](Bits a, Bits b, Bits) { return a & b; }});
    all.push_back({".or", t, 1, [](Bits a, Bits b, Bits) { return a | b; }});
    all.push_back({".xor", t, 1, [](Bits a, Bits b, Bits) { return a ^ b; }});
  }
  for (const Type t : {b16, b32, b64})
    all.push_back({".cas", t, 2, [](Bits a, Bits b, Bits c) { return a == b ? c : a; }});
  for (const Type t : {b32, b64})
    all.push_back({".exch", t, 1, [](Bits, Bits b, Bits) { return b; }});
  for (const Type t : {u32, s32, u64})
    all.push_back({".add", t, 1, [](Bits a, Bits b, Bits) { return a + b; }});
  all.push_back({".inc", u32, 1, [](Bits a, Bits b, Bits) { return a >= b ? 0 : a + 1; }});
  all.push_back({".dec", u32, 1, [](Bits a, Bits b, Bits) { return a == 0 || a > b ? b : a - 1; }});
  for (const Type t : {u32, s32, u64, s64}) {
    all.push_back({".min", t, 1, [=](Bits a, Bits b, Bits) { return less(t)(b, a) ? b : a; }});
    all.push_back({".max", t, 1, [=](Bits a, Bits b, Bits) { return less(t)(a, b) ? b : a; }});
  }
  all.push_back(
      {".add", f64, 1, [](Bits a, Bits b, Bits) { return sum(formats::f64, Rounding::rn, a, b); }});
  for (const Type t : {f16, f16x2, bf16, bf16x2}) {
    const Format& f = format_of(t);
    const int halves = width(t) / 16;
    all.push_back({".add.noftz", t, 1,
                   [=, &f](Bits a, Bits b, Bits) {
                     Bits d = 0;
                     for (int shift = 0; shift < 16 * halves; shift += 16)
                       d |= sum(f, Rounding::rn, low(a >> shift, 16), low(b >> shift, 16)) << shift;
                     return d;
                   },
                   t == bf16 || t == bf16x2 ? Target::sm_90a : Target::sm_80});
  }
  return all;
}

/// "Current implementation of atom.add.f32 on global memory flushes subnormal inputs and results to
/// sign-preserving zero; whereas atom.add.f32 on shared memory supports subnormal inputs and
/// results".
Operation add_f32(bool is_shared) {
  const Format& f = formats::f32;
  return {".add", f32, 1, [=, &f](Bits a, Bits b, Bits) {
            if (is_shared) return sum(f, Rounding::rn, a, b);
            return flushed(f, sum(f, Rounding::rn, flushed(f, a), flushed(f, b)));
          }};
}

/// Orders and scopes: what a lone thread sees is the same.
void orders(Family& family) {
  const Operation add{".add", u32, 1, [](Bits a, Bits b, Bits) { return a + b; }};
  const Operation cas{".cas", b32, 2, [](Bits a, Bits b, Bits c) { return a == b ? c : a; }};
  for (const char* order : {".relaxed", ".acquire", ".release", ".acq_rel"})
    for (const char* scope : {".cta", ".cluster", ".gpu", ".sys"})
      for (const Space& space : {spaces[0], spaces[1]}) {
        const std::string qualifiers = std::string(order) + scope;
        const Target target = scope == std::string(".cluster") ? Target::sm_90a : Target::sm_80;
        add_rows(family, add, space, qualifiers, target);
        add_rows(family, cas, space, qualifiers, target);
      }
  for (const char* scope : {".cta", ".gpu", ".sys"}) add_rows(family, add, spaces[0], scope);
}

/// Vectors of global memory, of sm_90: as many operations as elements.
void vectors(Family& family) {
  struct Vector {
    const char* modifiers;
    Type type;
    int n;
  };
  std::vector<Vector> all;
  for (const int n : {2, 4}) all.push_back({".add", f32, n});
  for (const char* op : {".add.noftz", ".min.noftz", ".max.noftz"})
    for (const Type t : {f16, bf16, f16x2, bf16x2})
      for (const int n : {2, 4, 8})
        if (width(t) * n <= 128) all.push_back({op, t, n});
  for (const Vector& v : all) {
    const Format& f = format_of(v.type);
    const int n = v.n, bits = width(v.type);
    const char op = v.modifiers[2];  // 'd', 'i' or 'a'
    const auto one = [=, &f](Bits a, Bits b) {
      if (op == 'd' && f.mantissa_bits == 23)
        return flushed(f, sum(f, Rounding::rn, flushed(f, a), flushed(f, b)));
      if (op == 'd') return sum(f, Rounding::rn, a, b);
      return (value(f, a) < value(f, b)) == (op == 'i') ? a : b;
    };
    const auto element = [=](Bits a, Bits b) {
      Bits d = 0;
      const int part = f.width();
      for (int shift = 0; shift < bits; shift += part)
        d |= one(low(a >> shift, part), low(b >> shift, part)) << shift;
      return d;
    };
    // min and max of NaN and of zeros of different signs are not said for atom.
    const Domain plain = floats(f, -60000, 60000);
    Domain pairs = plain;
    if (bits > f.width()) {
      pairs.edges = {plain.edges[0] | plain.edges[1] << 16, plain.edges[1] | plain.edges[0] << 16};
      pairs.other = [=](Random& r) { return plain.other(r) | plain.other(r) << 16; };
    }
    const Operand operand = op == 'd' ? Operand(v.type) : Operand(v.type, pairs);
    const auto list = [&](const char* letter, int first) {
      std::string text = "{";
      for (int i = 0; i < n; ++i) text += fmt::format("{}%{}{}", i ? ", " : "", letter, first + i);
      return text + "}";
    };
    std::string read_back;
    for (int i = 0; i < n; ++i)
      read_back += fmt::format(" ld.global.b{} %d{}, [%l7+{}];", bits, n + i, i * bits / 8);
    Row& atom = family.add(fmt::format("atom.global.v{}.{}{}", n, name(v.type), v.modifiers),
                           std::vector<Type>(2 * n, v.type), std::vector<Operand>(2 * n, operand),
                           [=](const Bits* a, Bits* d) {
                             for (int i = 0; i < n; ++i) {
                               d[i] = a[i];
                               d[n + i] = element(a[i], a[n + i]);
                             }
                           });
    give_slot(atom, spaces[0], v.type, n);
    const std::string form = fmt::format(".global.v{}.{}{}", n, name(v.type), v.modifiers);
    atom.text = fmt::format("atom{} {}, [%l7], {};", form, list("d", 0), list("a", n)) + read_back;
    atom.compare = Compare::any_nan;
    atom.target = Target::sm_90a;
    atom.version = "8.1";
    Row red = atom;
    red.form = "red" + form;
    red.text = fmt::format("red{} [%l7], {};", form, list("a", n));
    for (int i = 0; i < n; ++i) red.text += fmt::format(" mov.b{} %d{}, %a{};", bits, i, i);
    red.text += read_back;
    family.rows.push_back(red);
  }
}

void wide(Family& family) {
  for (const Space& space : {spaces[0], spaces[1]}) {
    const std::string q = space.qualifier;
    Row& exch = family.add(
        "atom.exch.b128 " + std::string(space.name), {b64, b64, b64, b64}, {b64, b64},
        [](const Bits* a, Bits* d) { d[0] = a[0], d[1] = a[1], d[2] = a[1], d[3] = a[0]; });
    give_slot(exch, space, b64, 2);
    exch.text = ".reg .b128 %q<2>; mov.b128 %q0, {%a1, %a0}; atom" + q +
                ".exch.b128 %q1, [%l7], %q0; mov.b128 {%d0, %d1}, %q1; ld" + q +
                ".b64 %d2, [%l7]; ld" + q + ".b64 %d3, [%l7+8];";
    exch.version = "8.3";
    exch.target = Target::sm_90a;
    const Operand few(b64, of({0, 1}));
    Row& cas = family.add("atom.cas.b128 " + std::string(space.name), {b64, b64, b64, b64},
                          {few, few, few, few}, [](const Bits* a, Bits* d) {
                            const bool same = a[0] == a[2] && a[1] == a[3];
                            d[0] = a[0], d[1] = a[1];
                            d[2] = same ? 7 : a[0], d[3] = same ? 9 : a[1];
                          });
    give_slot(cas, space, b64, 2);
    cas.text =
        ".reg .b128 %q<3>; mov.b128 %q0, {%a2, %a3}; mov.u64 %l0, 7; mov.u64 %l1, 9; "
        "mov.b128 %q1, {%l0, %l1}; atom" +
        q + ".cas.b128 %q2, [%l7], %q0, %q1; mov.b128 {%d0, %d1}, %q2; ld" + q +
        ".b64 %d2, [%l7]; ld" + q + ".b64 %d3, [%l7+8];";
    cas.version = "8.3";
    cas.target = Target::sm_90a;
  }
}

}  // namespace

Family atomics() {
  Family family{"atomics", {}, {}};
  for (const Space& space : spaces) {
    for (const Operation& operation : operations()) add_rows(family, operation, space);
    add_rows(family, add_f32(space.is_shared), space);
  }
  orders(family);
  vectors(family);
  wide(family);
  return family;
}

}  // namespace plumbline::ptx::conformance
