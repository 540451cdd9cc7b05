// SPDX-License-Identifier: Apache-2.0
// mov, packing and unpacking, addresses and special registers (sections 9.7.9.3, 9.7.9.4, 9.7.9.19,
// 9.7.9.20 and 10 of the PTX ISA).
#include <fmt/format.h>

#include "tests/gpu/ptx/conformance/families.hpp"

namespace plumbline::ptx::conformance {
namespace {

using enum Type;

void copies(Family& family) {
  for (const Type t : {b16, b32, b64, u16, u32, u64, s16, s32, s64, f32, f64})
    family.add(fmt::format("mov.{}", name(t)), {t}, {t},
               [](const Bits* a, Bits* d) { d[0] = a[0]; });
  family.add("mov.pred", {u32}, {{u32, range(0, 1)}}, [](const Bits* a, Bits* d) { d[0] = a[0]; })
      .with_text("setp.ne.u32 %p0, %a0, 0; mov.pred %p1, %p0; selp.u32 %d0, 1, 0, %p1;");
  // Constants as PTX writes them.
  const auto constant = [&](Type t, const std::string& text, Bits value) {
    family
        .add(fmt::format("mov.{} of {}", name(t), text), {t}, {},
             [=](const Bits*, Bits* d) { d[0] = value; })
        .with_text(fmt::format("mov.{} %d0, {};", name(t), text));
  };
  constant(u32, "42", 42);
  constant(s32, "-1", 0xffffffff);
  constant(u32, "0x7fU", 0x7f);
  constant(u32, "0b101", 5);
  constant(u32, "017", 15);
  constant(u32, "(3+4)*2-1", 13);
  constant(u32, "1<<5|3", 35);
  constant(s32, "-7/2", static_cast<std::uint32_t>(-3));
  constant(u32, "(5>3)?11:22", 11);
  constant(u32, "~0x0f", 0xfffffff0);
  constant(u32, "!0", 1);
  constant(u64, "0xffffffff00000000", 0xffffffff00000000);
  constant(s64, "-9223372036854775808", 0x8000000000000000);
  constant(f32, "0f3F800000", 0x3f800000);
  constant(f32, "0f7FC00001", 0x7fc00001);
  constant(f32, "1.5", 0x3fc00000);
  constant(f32, "-0.1", 0xbdcccccd);
  constant(f32, "1e10", 0x501502f9);
  constant(f64, "0d3FF8000000000000", 0x3ff8000000000000);
  constant(f64, "0.1", 0x3fb999999999999a);
  constant(b16, "-2", 0xfffe);
}

void packs(Family& family) {
  const auto add = [&](const std::string& form, std::vector<Type> results,
                       std::vector<Operand> operands, Expect expect,
                       const std::string& text) -> Row& {
    return family.add(form, std::move(results), std::move(operands), std::move(expect))
        .with_text(text);
  };
  add(
      "mov.b32 pack of 2", {b32}, {b16, b16},
      [](const Bits* a, Bits* d) { d[0] = a[0] | a[1] << 16; }, "mov.b32 %d0, {%a0, %a1};");
  add(
      "mov.b32 unpack to 2", {b16, b16}, {b32},
      [](const Bits* a, Bits* d) { d[0] = a[0], d[1] = a[0] >> 16; }, "mov.b32 {%d0, %d1}, %a0;");
  add(
      "mov.b32 unpack to _ and 1", {b16}, {b32}, [](const Bits* a, Bits* d) { d[0] = a[0] >> 16; },
      "mov.b32 {_, %d0}, %a0;");
  add(
      "mov.b32 unpack to 1 and _", {b16}, {b32}, [](const Bits* a, Bits* d) { d[0] = a[0]; },
      "mov.b32 {%d0, _}, %a0;");
  add(
      "mov.b64 pack of 2", {b64}, {b32, b32},
      [](const Bits* a, Bits* d) { d[0] = a[0] | a[1] << 32; }, "mov.b64 %d0, {%a0, %a1};");
  add(
      "mov.b64 unpack to 2", {b32, b32}, {b64},
      [](const Bits* a, Bits* d) { d[0] = a[0], d[1] = a[0] >> 32; }, "mov.b64 {%d0, %d1}, %a0;");
  add(
      "mov.b64 unpack to _ and 1", {b32}, {b64}, [](const Bits* a, Bits* d) { d[0] = a[0] >> 32; },
      "mov.b64 {_, %d0}, %a0;");
  add(
      "mov.b64 pack of 4", {b64}, {b16, b16, b16, b16},
      [](const Bits* a, Bits* d) { d[0] = a[0] | a[1] << 16 | a[2] << 32 | a[3] << 48; },
      "mov.b64 %d0, {%a0, %a1, %a2, %a3};");
  add(
      "mov.b64 unpack to 4", {b16, b16, b16, b16}, {b64},
      [](const Bits* a, Bits* d) {
        for (int i = 0; i < 4; ++i) d[i] = a[0] >> 16 * i;
      },
      "mov.b64 {%d0, %d1, %d2, %d3}, %a0;");
  add(
      "mov.b32 swaps in place", {b32}, {b32},
      [](const Bits* a, Bits* d) { d[0] = low(a[0] >> 16 | a[0] << 16, 32); },
      "mov.b32 {%h0, %h1}, %a0; mov.b32 %d0, {%h1, %h0};");
  add(
      "mov.b32 pack of 4 bytes", {b32}, {b32},
      [](const Bits* a, Bits* d) {
        d[0] = 0;
        for (int i = 0; i < 4; ++i) d[0] |= (a[0] >> 8 * i & 0xff) << 8 * (3 - i);
      },
      ".reg .b8 %u<4>; mov.b32 {%u0, %u1, %u2, %u3}, %a0; mov.b32 %d0, {%u3, %u2, %u1, %u0};");
  add(
      "mov.b16 pack of 2 bytes", {b16}, {b16},
      [](const Bits* a, Bits* d) { d[0] = a[0] >> 8 | (a[0] & 0xff) << 8; },
      ".reg .b8 %u<2>; mov.b16 {%u0, %u1}, %a0; mov.b16 %d0, {%u1, %u0};");
  add(
      "mov.b128 pack and unpack", {b64, b64}, {b64, b64},
      [](const Bits* a, Bits* d) { d[0] = a[1], d[1] = a[0]; },
      ".reg .b128 %q<2>; mov.b128 %q0, {%a1, %a0}; mov.b128 %q1, %q0; mov.b128 {%d0, %d1}, %q1;")
      .version = "8.3";
}

/// isspacep and cvta: which window a generic address lies in, and the way there and back.
void addresses(Family& family) {
  struct Window {
    const char* name;
    std::string module, before;
  };
  const Window windows[] = {
      {"global", ".global .align 8 .b8 KERNEL_x[64];\n", "  mov.u64 %l7, KERNEL_x+8;\n"},
      {"const", ".const .align 8 .b8 KERNEL_x[64];\n", "  mov.u64 %l7, KERNEL_x+8;\n"},
      {"shared", "", "  .shared .align 8 .b8 x[64];\n  mov.u64 %l7, x+8;\n"},
      {"local", "", "  .local .align 8 .b8 x[64];\n  mov.u64 %l7, x+8;\n"}};
  for (const Window& window : windows) {
    Row& there = family.add(fmt::format("cvta.{0}.u64 cvta.to.{0}.u64", window.name), {u32}, {},
                            [](const Bits*, Bits* d) { d[0] = 1; });
    there.text = fmt::format(
        "cvta.{0}.u64 %l0, %l7; cvta.to.{0}.u64 %l1, %l0; "
        "setp.eq.u64 %p0, %l1, %l7; selp.u32 %d0, 1, 0, %p0;",
        window.name);
    there.before = window.before;
    there.module = window.module;
    if (std::string(window.name) != "const") {
      // A generic address reaches what was written through the window.
      Row& row = family.add(fmt::format("cvta.{} of a variable", window.name), {u32}, {u32},
                            [](const Bits* a, Bits* d) { d[0] = a[0]; });
      row.before = window.before;
      row.module = window.module;
      const std::string variable = std::string(window.name) == "global" ? "KERNEL_x" : "x";
      // One lane alone, for the address is one for all.
      row.text = fmt::format("st.{0}.u32 [%l7], %a0; cvta.{0}.u64 %l0, {1}+8; ld.u32 %d0, [%l0];",
                             window.name, variable);
      row.expect = nullptr;
      row.expect_warp = [](Warp& warp) {
        for (int lane = 0; lane < 32; ++lane) warp.d[0][lane] = warp.a[0][lane];
      };
      row.warps = 64;
      row.prepare = [](Warp& warp) { warp.a[0].fill(77); };
      if (std::string(window.name) != "local")
        row.text = fmt::format(
            "cvta.{0}.u64 %l0, {1}+8; sub.s64 %l1, %l0, 8; cvta.{0}.u64 %l2, {1}; "
            "setp.eq.u64 %p0, %l1, %l2; selp.u32 %d0, 77, 0, %p0;",
            window.name, variable);
    }
    for (const char* space : {"global", "const", "shared", "local"}) {
      const bool yes = std::string(space) == window.name;
      Row& row = family.add(fmt::format("isspacep.{} of {}", space, window.name), {u32}, {},
                            [=](const Bits*, Bits* d) { d[0] = yes; });
      // A constant is global memory as well.
      if (std::string(space) == "global" && std::string(window.name) == "const") {
        family.rows.pop_back();
        continue;
      }
      row.text = fmt::format("cvta.{}.u64 %l0, %l7; isspacep.{} %p0, %l0; selp.u32 %d0, 1, 0, %p0;",
                             window.name, space);
      row.before = window.before;
      row.module = window.module;
    }
  }
}

/// Special registers of a launch in three dimensions: every thread stores the register.
void special_registers(Family& family) {
  constexpr unsigned grid[3] = {3, 2, 2}, block[3] = {10, 3, 2};
  constexpr unsigned per_block = block[0] * block[1] * block[2];
  constexpr unsigned blocks = grid[0] * grid[1] * grid[2];
  const auto add = [&](const std::string& reg,
                       const std::function<std::uint32_t(
                           const unsigned* block_id, const unsigned* thread_id, unsigned linear)>&
                           f,
                       bool is_64 = false) {
    Experiment& e = family.write("mov of %" + reg);
    std::copy(grid, grid + 3, e.grid);
    std::copy(block, block + 3, e.block);
    e.text = fmt::format(
        ".visible .entry KERNEL(.param .u64 out)\n{{\n  .reg .b32 %r<16>;\n  .reg .b64 %l<8>;\n"
        "  mov.u32 %r0, %ctaid.x;\n  mov.u32 %r1, %ctaid.y;\n  mov.u32 %r2, %ctaid.z;\n"
        "  mad.lo.u32 %r3, %r2, 2, %r1;\n  mad.lo.u32 %r3, %r3, 3, %r0;\n"
        "  mov.u32 %r4, %tid.x;\n  mov.u32 %r5, %tid.y;\n  mov.u32 %r6, %tid.z;\n"
        "  mad.lo.u32 %r7, %r6, 3, %r5;\n  mad.lo.u32 %r7, %r7, 10, %r4;\n"
        "  mad.lo.u32 %r8, %r3, 60, %r7;\n  ld.param.u64 %l0, [out];\n"
        "  cvta.to.global.u64 %l0, %l0;\n  mul.wide.u32 %l1, %r8, 4;\n  add.s64 %l0, %l0, %l1;\n"
        "{}  st.global.u32 [%l0], %r9;\n  ret;\n}}\n",
        is_64 ? fmt::format("  mov.u64 %l2, %{};\n  cvt.u32.u64 %r9, %l2;\n", reg)
              : fmt::format("  mov.u32 %r9, %{};\n", reg));
    std::vector<std::uint32_t> expected(blocks * per_block);
    for (unsigned b = 0; b < blocks; ++b)
      for (unsigned t = 0; t < per_block; ++t) {
        const unsigned block_id[3] = {b % 3, b / 3 % 2, b / 6};
        const unsigned thread_id[3] = {t % 10, t / 10 % 3, t / 30};
        expected[b * per_block + t] = f(block_id, thread_id, t);
      }
    e.buffers = {Buffer(expected.size() * 4)};
    e.judge = holds<std::uint32_t>(0, expected);
  };
  const char axes[3] = {'x', 'y', 'z'};
  for (int i = 0; i < 3; ++i) {
    const auto axis = [&](const char* reg) { return fmt::format("{}.{}", reg, axes[i]); };
    add(axis("tid"), [=](const unsigned*, const unsigned* t, unsigned) { return t[i]; });
    add(axis("ctaid"), [=](const unsigned* b, const unsigned*, unsigned) { return b[i]; });
    add(axis("ntid"), [=](const unsigned*, const unsigned*, unsigned) { return block[i]; });
    add(axis("nctaid"), [=](const unsigned*, const unsigned*, unsigned) { return grid[i]; });
  }
  const auto lane = [](unsigned linear) { return linear % 32; };
  add("laneid", [=](const unsigned*, const unsigned*, unsigned t) { return lane(t); });
  add("lanemask_eq", [=](const unsigned*, const unsigned*, unsigned t) { return 1u << lane(t); });
  add("lanemask_lt",
      [=](const unsigned*, const unsigned*, unsigned t) { return (1u << lane(t)) - 1; });
  add("lanemask_le", [=](const unsigned*, const unsigned*, unsigned t) {
    return ((1u << lane(t)) - 1) | 1u << lane(t);
  });
  add("lanemask_gt", [=](const unsigned*, const unsigned*, unsigned t) {
    return ~(((1u << lane(t)) - 1) | 1u << lane(t));
  });
  add("lanemask_ge",
      [=](const unsigned*, const unsigned*, unsigned t) { return ~((1u << lane(t)) - 1); });
  add("dynamic_smem_size", [](const unsigned*, const unsigned*, unsigned) { return 0u; });
  add("total_smem_size", [](const unsigned*, const unsigned*, unsigned) { return 0u; });
  // What they hold is the device's own affair; a program may read them.
  for (const char* reg : {"warpid", "nwarpid", "smid", "nsmid", "clock", "clock_hi",
                          "globaltimer_lo", "globaltimer_hi"}) {
    family.add(fmt::format("mov of %{}", reg), {u32}, {}, [](const Bits*, Bits* d) { d[0] = 1; })
        .with_text(fmt::format("mov.u32 %r0, %{}; mov.u32 %d0, 1;", reg));
  }
  // Time does not run backwards.
  for (const char* reg : {"clock64", "globaltimer"})
    family
        .add(fmt::format("mov of %{} twice", reg), {u32}, {},
             [](const Bits*, Bits* d) { d[0] = 1; })
        .with_text(fmt::format("mov.u64 %l0, %{0}; mov.u64 %l1, %{0}; setp.ge.u64 %p0, %l1, %l0; "
                               "selp.u32 %d0, 1, 0, %p0;",
                               reg));
}

}  // namespace

Family move() {
  Family family{"move", {}, {}};
  copies(family);
  packs(family);
  addresses(family);
  special_registers(family);
  return family;
}

}  // namespace plumbline::ptx::conformance
