// SPDX-License-Identifier: Apache-2.0
// ld and st in all widths, vectors, state spaces and with all qualifiers (sections 9.7.9.8
// to 9.7.9.11 of the PTX ISA). Each thread has a slot of 32 bytes, filled from four operands of 64
// bits.
#include <fmt/format.h>

#include "tests/gpu/ptx/conformance/families.hpp"
#include "tests/gpu/ptx/conformance/program.hpp"

namespace plumbline::ptx::conformance {
namespace {

using enum Type;

constexpr int slot_bytes = 32;
constexpr int threads = 4096;  ///< at most, of a row here

struct Accessed {
  const char* name;
  int bytes;
  bool is_signed;
};
constexpr Accessed accessed_types[] = {
    {"b8", 1, false},  {"u8", 1, false},  {"s8", 1, true},   {"b16", 2, false}, {"u16", 2, false},
    {"s16", 2, true},  {"b32", 4, false}, {"u32", 4, false}, {"s32", 4, true},  {"b64", 8, false},
    {"u64", 8, false}, {"s64", 8, true},  {"f32", 4, false}, {"f64", 8, false}};

struct Space {
  const char* name;       ///< in the row's name
  const char* qualifier;  ///< of instructions: ".shared", or "" for a generic address
  const char* window;     ///< the space that the slot lies in
};
constexpr Space spaces[] = {
    {"global", ".global", "global"},           {"shared", ".shared", "shared"},
    {"shared::cta", ".shared::cta", "shared"}, {"local", ".local", "local"},
    {"generic to global", "", "global"},       {"generic to shared", "", "shared"},
    {"generic to local", "", "local"}};

/// Declares the slots and leaves the address of the thread's own in %l7.
void give_slot(Row& row, const Space& space) {
  const std::string window = space.window;
  if (window == "global")
    row.module = fmt::format(".global .align 32 .b8 KERNEL_slots[{}];\n", threads * slot_bytes);
  if (window == "shared")
    row.before += fmt::format("  .shared .align 32 .b8 slots[{}];\n", 128 * slot_bytes);
  if (window == "local")
    row.before += fmt::format("  .local .align 32 .b8 slots[{}];\n", slot_bytes);
  row.before += fmt::format("  mov.u64 %l7, {};\n", window == "global" ? "KERNEL_slots" : "slots");
  if (window != "local") {
    row.before += window == "global" ? "  mov.u32 %r15, %thread;\n" : "  mov.u32 %r15, %tid.x;\n";
    row.before += "  mul.wide.u32 %l6, %r15, 32;\n  add.s64 %l7, %l7, %l6;\n";
  }
  if (!*space.qualifier) row.before += fmt::format("  cvta.{}.u64 %l7, %l7;\n", window);
  for (int i = 0; i < 4; ++i)
    row.before += fmt::format("  st{}.b64 [%l7+{}], %a{};\n", space.qualifier, 8 * i, i);
}

/// Few edges, so that the slots are few.
Operand filler() { return {b64, of({0, 0x8180ff7f01fe8001, ~Bits{0}, 0x0123456789abcdef})}; }
std::vector<Operand> fillers() {
  Operand operand = filler();
  operand.domain.other = [](Random& random) { return random(); };
  return {operand, operand, operand, operand};
}

int offset_of(int bytes) { return bytes <= 8 ? 8 : bytes == 16 ? 16 : 0; }

/// The bytes of a slot.
Bits byte_of(const Bits* a, int i) { return a[i / 8] >> 8 * (i % 8) & 0xff; }
Bits read(const Bits* a, int offset, const Accessed& type, int register_bits) {
  Bits x = 0;
  for (int i = 0; i < type.bytes; ++i) x |= byte_of(a, offset + i) << 8 * i;
  return low(type.is_signed ? static_cast<Bits>(signed_of(x, 8 * type.bytes)) : x, register_bits);
}

std::string vector_of(const char* letter, int first, int n) {
  if (n == 1) return fmt::format("%{}{}", letter, first);
  std::string text = "{";
  for (int i = 0; i < n; ++i) text += fmt::format("{}%{}{}", i ? ", " : "", letter, first + i);
  return text + "}";
}

/// `form` is the instruction up to its operands; `last` an operand after the address.
Row& add_load(Family& family, const Space& space, const std::string& form, const Accessed& type,
              int n, Type reg, const std::string& title, const std::string& last = "") {
  const int offset = offset_of(type.bytes * n);
  const int bits = width(reg);
  Row& row = family.add(title, std::vector<Type>(n, reg), fillers(), [=](const Bits* a, Bits* d) {
    for (int i = 0; i < n; ++i) d[i] = read(a, offset + i * type.bytes, type, bits);
  });
  give_slot(row, space);
  row.text = fmt::format("{} {}, [%l7+{}]{};", form, vector_of("d", 0, n), offset, last);
  return row;
}

Row& add_store(Family& family, const Space& space, const std::string& form, const Accessed& type,
               int n, Type reg, const std::string& title, const std::string& last = "") {
  const int offset = offset_of(type.bytes * n);
  std::vector<Operand> operands = fillers();
  for (int i = 0; i < n; ++i) operands.push_back({reg, Domain{of({0, 1}).edges, any(reg).other}});
  Row& row = family.add(title, {b64, b64, b64, b64}, operands, [=](const Bits* a, Bits* d) {
    for (int i = 0; i < 4; ++i) d[i] = a[i];
    for (int k = 0; k < n; ++k)
      for (int i = 0; i < type.bytes; ++i) {
        const int at = offset + k * type.bytes + i;
        d[at / 8] &= ~(Bits{0xff} << 8 * (at % 8));
        d[at / 8] |= (a[4 + k] >> 8 * i & 0xff) << 8 * (at % 8);
      }
  });
  give_slot(row, space);
  row.text = fmt::format("{} [%l7+{}], {}{};", form, offset, vector_of("a", 4, n), last);
  for (int i = 0; i < 4; ++i)
    row.text += fmt::format(" ld{}.b64 %d{}, [%l7+{}];", space.qualifier, i, 8 * i);
  return row;
}

void plain(Family& family) {
  for (const Space& space : spaces)
    for (const Accessed& type : accessed_types)
      for (const int n : {1, 2, 4}) {
        if (type.bytes * n > 16) continue;
        const std::string vector = n == 1 ? "" : fmt::format(".v{}", n);
        const Type reg = type.bytes == 8 ? b64 : b32;
        const std::string of_space = fmt::format("{}{}.{}", space.qualifier, vector, type.name);
        add_load(family, space, "ld" + of_space, type, n, reg,
                 fmt::format("ld{}.{} {}", vector, type.name, space.name));
        add_store(family, space, "st" + of_space, type, n, reg,
                  fmt::format("st{}.{} {}", vector, type.name, space.name));
        // Registers of the type's own width, and wider ones.
        if (n != 1 || space.qualifier != spaces[0].qualifier) continue;
        if (type.bytes <= 2)
          add_load(family, space, "ld" + of_space, type, n, b16,
                   fmt::format("ld.{} to 16 bits", type.name));
        if (type.bytes <= 4 && type.name[0] != 'f')
          add_load(family, space, "ld" + of_space, type, n, b64,
                   fmt::format("ld.{} to 64 bits", type.name));
      }
}

constexpr Accessed word{"u32", 4, false};
constexpr Accessed real{"f32", 4, false};
constexpr Accessed longer{"u64", 8, false};

void with_qualifiers(Family& family) {
  const auto both = [&](const Space& space, const std::string& op, const std::string& qualifiers,
                        Target target = Target::sm_80, const std::string& version = "8.0") {
    const auto add = [&](const Accessed& type, int n) {
      const std::string form =
          fmt::format("{}{}{}.{}", op, qualifiers, n == 1 ? "" : fmt::format(".v{}", n), type.name);
      const std::string title = fmt::format("{} {}", form, space.name);
      const Type reg = type.bytes == 8 ? b64 : b32;
      Row& row = op.substr(0, 2) == "ld" ? add_load(family, space, form, type, n, reg, title)
                                         : add_store(family, space, form, type, n, reg, title);
      row.target = target;
      row.version = version;
    };
    add(word, 1);
    add(real, 4);
    add(longer, 2);
  };
  const Space &global = spaces[0], &shared = spaces[1], &local = spaces[3], &generic = spaces[4];
  for (const char* cop : {".ca", ".cg", ".cs", ".lu", ".cv"}) {
    both(global, "ld", std::string(".global") + cop);
    both(generic, "ld", cop);
  }
  both(local, "ld", ".local.lu");
  both(local, "ld", ".local.ca");
  both(shared, "ld", ".shared.ca");
  for (const char* cop : {".wb", ".cg", ".cs", ".wt"}) {
    both(global, "st", std::string(".global") + cop);
    both(generic, "st", cop);
  }
  for (const Space& space : {global, shared, generic}) {
    both(space, "ld", fmt::format(".weak{}", space.qualifier));
    both(space, "st", fmt::format(".weak{}", space.qualifier));
    both(space, "ld", fmt::format(".volatile{}", space.qualifier));
    both(space, "st", fmt::format(".volatile{}", space.qualifier));
    for (const char* scope : {"cta", "gpu", "sys", "cluster"}) {
      const Target target = scope[1] == 'l' ? Target::sm_90a : Target::sm_80;
      both(space, "ld", fmt::format(".relaxed.{}{}", scope, space.qualifier), target);
      both(space, "ld", fmt::format(".acquire.{}{}", scope, space.qualifier), target);
      both(space, "st", fmt::format(".relaxed.{}{}", scope, space.qualifier), target);
      both(space, "st", fmt::format(".release.{}{}", scope, space.qualifier), target);
    }
  }
  for (const char* hint : {".L1::evict_normal", ".L1::evict_unchanged", ".L1::evict_first",
                           ".L1::evict_last", ".L1::no_allocate"}) {
    both(global, "ld", std::string(".global") + hint);
    both(global, "st", std::string(".global") + hint);
    both(global, "ld", std::string(".global.nc") + hint);
  }
  for (const char* size : {".L2::64B", ".L2::128B", ".L2::256B"}) {
    both(global, "ld", std::string(".global") + size);
    both(global, "ld", std::string(".global.nc") + size);
  }
  for (const char* nc : {".global.nc", ".global.ca.nc", ".global.cg.nc", ".global.cs.nc"})
    both(global, "ld", nc);
  both(global, "ldu", ".global");
  both(shared, "ld", ".shared::cluster", Target::sm_90a);
  both(shared, "st", ".shared::cluster", Target::sm_90a);
  family
      .add("ld.mmio.relaxed.sys", {b32}, fillers(),
           [](const Bits* a, Bits* d) { d[0] = low(a[1], 32); })
      .with_text("ld.mmio.relaxed.sys.global.u32 %d0, [%l7+8];")
      .since("8.2");
  give_slot(family.rows.back(), global);
  family
      .add("st.mmio.relaxed.sys", {b32}, fillers(),
           [](const Bits* a, Bits* d) { d[0] = low(a[0], 32); })
      .with_text(
          "cvt.u32.u64 %r0, %a0; st.mmio.relaxed.sys.global.u32 [%l7+8], %r0; "
          "ld.global.u32 %d0, [%l7+8];")
      .since("8.2");
  give_slot(family.rows.back(), global);
}

void policies(Family& family) {
  const Space& global = spaces[0];
  for (const char* policy :
       {"fractional.L2::evict_last.b64 %l0, 0.5", "fractional.L2::evict_first.b64 %l0",
        "fractional.L2::evict_normal.L2::evict_unchanged.b64 %l0, 1.0",
        "range.global.L2::evict_last.L2::evict_first.b64 %l0, [%l7], 16, 32"}) {
    const std::string make = fmt::format("createpolicy.{};", policy);
    Row& load = add_load(family, global, "ld.global.L2::cache_hint.u32", word, 1, b32,
                         "ld.global.L2::cache_hint with " + make, ", %l0");
    load.text = make + " " + load.text;
    Row& store = add_store(family, global, "st.global.L2::cache_hint.v4.u32", word, 4, b32,
                           "st.global.L2::cache_hint with " + make, ", %l0");
    store.text = make + " " + store.text;
  }
  // Hints change nothing that is read.
  for (const char* hint :
       {"prefetch.global.L1 [%l7]", "prefetch.global.L2 [%l7]",
        "prefetch.global.L2::evict_last [%l7]", "prefetch.global.L2::evict_normal [%l7]"}) {
    Row& row = add_load(family, global, "ld.global.u64", longer, 1, b64, hint);
    row.text = fmt::format("{}; ", hint) + row.text;
  }
  for (const char* hint : {"prefetch.L1 [%l7]", "prefetch.L2 [%l7]", "prefetchu.L1 [%l7]"}) {
    Row& row = add_load(family, spaces[4], "ld.u64", longer, 1, b64, hint);
    row.text = fmt::format("{}; ", hint) + row.text;
  }
  const std::string line = "applypriority.global.L2::evict_normal [128 bytes]";
  Row& row = add_load(family, global, "ld.global.u64", longer, 1, b64, line);
  row.text =
      ".reg .b64 %q; and.b64 %q, %l7, -128; applypriority.global.L2::evict_normal [%q], 128; " +
      row.text;
  Row& local =
      add_load(family, spaces[3], "ld.local.u64", longer, 1, b64, "prefetch.local.L1 [%l7]");
  local.text = "prefetch.local.L1 [%l7]; " + local.text;
}

/// What a discarded line holds is open until it is written again.
void discarded(Family& family) {
  for (const char* space : {".global", ""}) {
    const std::string body = fmt::format(R"(
  mul.wide.u32 %l0, %t, 128;
  mov.u64 %l1, KERNEL_lines;
  cvta.global.u64 %l2, %l1;
  add.s64 %l0, {0}, %l0;
  st{1}.u32 [%l0+64], %lane;
  discard{1}.L2 [%l0], 128;
  st{1}.u32 [%l0+64], %t;
  ld{1}.u32 %r0, [%l0+64];)",
                                         *space ? "%l1" : "%l2", space);
    add_program(family, fmt::format("discard{}.L2", space),
                {body, ".global .align 128 .b8 KERNEL_lines[16384];\n"},
                [](unsigned, unsigned t) { return t; });
  }
}

/// Two registers of 64 bits as one of 128.
void wide(Family& family) {
  for (const Space& space : {spaces[0], spaces[1], spaces[4]}) {
    Row& load = family.add(fmt::format("ld.b128 {}", space.name), {b64, b64}, fillers(),
                           [](const Bits* a, Bits* d) { d[0] = a[2], d[1] = a[3]; });
    give_slot(load, space);
    load.text = fmt::format(".reg .b128 %q; ld{}.b128 %q, [%l7+16]; mov.b128 {{%d0, %d1}}, %q;",
                            space.qualifier);
    load.version = "8.3";
    Row& store = family.add(
        fmt::format("st.b128 {}", space.name), {b64, b64, b64, b64}, fillers(),
        [](const Bits* a, Bits* d) { d[0] = a[0], d[1] = a[1], d[2] = a[1], d[3] = a[0]; });
    give_slot(store, space);
    store.text = fmt::format(
        ".reg .b128 %q; mov.b128 %q, {{%a1, %a0}}; st{0}.b128 [%l7+16], %q; "
        "ld{0}.v2.b64 {{%d0, %d1}}, [%l7]; ld{0}.v2.b64 {{%d2, %d3}}, [%l7+16];",
        space.qualifier);
    store.version = "8.3";
  }
}

/// Variables with values of their own, and the kernel's parameters.
void initialised(Family& family) {
  for (const char* space : {"const", "global"}) {
    family
        .add(fmt::format("ld.{} of an initialised variable", space), {b32, s32, b64},
             {{u32, range(0, 7)}},
             [](const Bits* a, Bits* d) {
               static const std::uint32_t words[8] = {1, 2, 0xffffffff, 0x80000000,
                                                      0, 5, 6,          0x3fc00000};
               d[0] = words[a[0]];
               d[1] = static_cast<Bits>(signed_of(words[a[0]] & 0xff, 8));
               d[2] = words[a[0] & 6] | Bits{words[a[0] | 1]} << 32;
             })
        .with_text(
            fmt::format("mul.wide.u32 %l0, %a0, 4; mov.u64 %l1, KERNEL_words; "
                        "add.s64 %l1, %l1, %l0; ld.{0}.u32 %d0, [%l1]; ld.{0}.s8 %d1, [%l1]; "
                        "and.b64 %l1, %l1, -8; ld.{0}.u64 %d2, [%l1];",
                        space))
        .module = fmt::format(
        ".{} .align 8 .u32 KERNEL_words[8] = {{1, 2, 4294967295, 0x80000000, 0, 5, "
        "6, 0x3fc00000}};\n",
        space);
  }
  // Parts of a parameter of 64 bits.
  family
      .add("ld.param in parts", {b32}, {{u32, range(0, 1)}}, [](const Bits*, Bits* d) { d[0] = 0; })
      .with_text(
          "ld.param.u64 %l0, [p_a0]; ld.param.v2.u32 {%r0, %r1}, [p_a0]; "
          "mov.b64 %l1, {%r0, %r1}; xor.b64 %l2, %l0, %l1; "
          "ld.param.u8 %r2, [p_a0+1]; bfe.u64 %l3, %l0, 8, 8; cvt.u32.u64 %r3, %l3; "
          "xor.b32 %r4, %r2, %r3; ld.param.s16 %r5, [p_a0+2]; bfe.s64 %l4, %l0, 16, 16; "
          "cvt.u32.u64 %r6, %l4; xor.b32 %r7, %r5, %r6; cvt.u32.u64 %r8, %l2; "
          "shr.u64 %l5, %l2, 32; cvt.u32.u64 %r9, %l5; or.b32 %d0, %r4, %r7; "
          "or.b32 %d0, %d0, %r8; or.b32 %d0, %d0, %r9;");
}

}  // namespace

Family memory() {
  Family family{"memory", {}, {}};
  plain(family);
  with_qualifiers(family);
  policies(family);
  discarded(family);
  wide(family);
  initialised(family);
  return family;
}

}  // namespace plumbline::ptx::conformance
