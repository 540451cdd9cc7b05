// SPDX-License-Identifier: Apache-2.0
// Bulk copies and reductions by the asynchronous proxy, setmaxnreg, griddepcontrol
// (sections 9.7.9.25, 9.7.13.13 and 9.7.19.5 of the PTX ISA). Tensor copies need a map that the
// host encodes: not here.
#include <fmt/format.h>

#include "tests/gpu/ptx/conformance/families.hpp"
#include "tests/gpu/ptx/conformance/program.hpp"

namespace plumbline::ptx::conformance {
namespace {

std::vector<std::uint32_t> words(unsigned n, std::uint32_t seed) {
  std::vector<std::uint32_t> values(n);
  for (unsigned i = 0; i < n; ++i) values[i] = seed + i * 2654435761u;
  return values;
}

/// 512 bytes from %b1 to shared memory by `copy`; each thread reads its word.
void add_load(Family& family, const std::string& form, const std::string& copy) {
  Program program;
  program.target = Target::sm_90a;
  program.version = "8.6";
  const auto source = words(128, 5);
  program.more = {buffer_of(source)};
  program.body = fmt::format(R"(
  .shared .align 8 .b64 barrier;
  .shared .align 128 .b8 there[512];
  mov.u64 %l0, barrier;
  mov.u64 %l1, there;
  mov.u32 %r2, 512;
  mov.u16 %h0, 1;
  setp.ne.u32 %p0, %t, 0;
  @%p0 bra READY;
  mbarrier.init.shared.b64 [%l0], 1;
  fence.mbarrier_init.release.cluster;
  fence.proxy.async;
READY:
  bar.sync 0;
  @%p0 bra WAIT;
  mbarrier.arrive.expect_tx.shared.b64 _, [%l0], 512;
  createpolicy.fractional.L2::evict_first.b64 %l2;
  {}
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p1, [%l0], 0;
  @!%p1 bra WAIT;
  mul.wide.u32 %l3, %t, 4;
  add.s64 %l3, %l1, %l3;
  ld.shared.u32 %r0, [%l3];)",
                             copy);
  add_program(family, form, program, [=](unsigned, unsigned t) { return source[t]; });
}

/// Each thread's word of shared memory, then `copy` to %b1; the other way round.
void add_store(Family& family, const std::string& form, const std::string& copy,
               const std::string& wait,
               const std::function<std::uint32_t(std::uint32_t there, std::uint32_t here)>& update,
               const std::vector<std::uint32_t>& there, const std::vector<std::uint32_t>& here) {
  Program program;
  program.target = Target::sm_90a;
  program.version = "8.6";
  program.more = {buffer_of(there), buffer_of(here)};
  program.body = fmt::format(R"(
  .shared .align 128 .b8 here[512];
  mov.u64 %l1, here;
  mul.wide.u32 %l3, %t, 4;
  add.s64 %l4, %l1, %l3;
  add.s64 %l5, %b2, %l3;
  ld.global.u32 %r1, [%l5];
  st.shared.u32 [%l4], %r1;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  setp.ne.u32 %p0, %t, 0;
  @%p0 bra END;
  mov.u32 %r2, 512;
  {}
  cp.async.bulk.commit_group;
  {}
END:
  bar.sync 0;
  mov.u32 %r0, 1;)",
                             copy, wait);
  Experiment& e = add_program(family, form, program, [](unsigned, unsigned) { return 1u; });
  std::vector<std::uint32_t> after(there.size());
  for (std::size_t i = 0; i < after.size(); ++i) after[i] = update(there[i], here[i]);
  e.judge = holds<std::uint32_t>(1, after);
}

void copies(Family& family) {
  const std::string mbarrier = ".mbarrier::complete_tx::bytes";
  for (const char* to : {"shared::cluster", "shared::cta"}) {
    const std::string form = fmt::format("cp.async.bulk.{}.global", to) + mbarrier;
    add_load(family, form, form + " [%l1], [%b1], 512, [%l0];");
    add_load(family, form + " of a size in a register", form + " [%l1], [%b1], %r2, [%l0];");
    add_load(family, form + ".L2::cache_hint",
             form + ".L2::cache_hint [%l1], [%b1], 512, [%l0], %l2;");
    add_load(family, form + " in two parts",
             form + " [%l1], [%b1], 496, [%l0];\n  " + form + " [%l1+496], [%b1+496], 16, [%l0];");
  }
  add_load(family, "cp.async.bulk.prefetch.L2.global",
           "cp.async.bulk.prefetch.L2.global [%b1], 512;\n  cp.async.bulk.shared::cluster.global" +
               mbarrier + " [%l1], [%b1], 512, [%l0];");
  const auto first = words(128, 77), second = words(128, 1234567);
  const std::string store = "cp.async.bulk.global.shared::cta.bulk_group";
  const auto take = [](std::uint32_t, std::uint32_t here) { return here; };
  for (const char* wait : {"cp.async.bulk.wait_group 0;", "cp.async.bulk.wait_group.read 0;"})
    add_store(family, store + " " + wait, store + " [%b1], [%l1], 512;", wait, take, first, second);
  add_store(family, store + ".L2::cache_hint",
            "createpolicy.fractional.L2::evict_first.b64 %l2;\n  " + store +
                ".L2::cache_hint [%b1], [%l1], %r2, %l2;",
            "cp.async.bulk.wait_group 0;", take, first, second);
  const auto reduce = [&](const std::string& op,
                          const std::function<std::uint32_t(std::uint32_t, std::uint32_t)>& f,
                          std::vector<std::uint32_t> there, std::vector<std::uint32_t> here) {
    const std::string form = "cp.reduce.async.bulk.global.shared::cta.bulk_group" + op;
    add_store(family, form, form + " [%b1], [%l1], 512;", "cp.async.bulk.wait_group 0;", f, there,
              here);
  };
  reduce(
      ".add.u32", [](std::uint32_t x, std::uint32_t y) { return x + y; }, first, second);
  reduce(
      ".add.s32", [](std::uint32_t x, std::uint32_t y) { return x + y; }, first, second);
  reduce(
      ".min.u32", [](std::uint32_t x, std::uint32_t y) { return std::min(x, y); }, first, second);
  reduce(
      ".max.s32",
      [](std::uint32_t x, std::uint32_t y) {
        return static_cast<std::int32_t>(x) > static_cast<std::int32_t>(y) ? x : y;
      },
      first, second);
  reduce(
      ".and.b32", [](std::uint32_t x, std::uint32_t y) { return x & y; }, first, second);
  reduce(
      ".or.b32", [](std::uint32_t x, std::uint32_t y) { return x | y; }, first, second);
  reduce(
      ".xor.b32", [](std::uint32_t x, std::uint32_t y) { return x ^ y; }, first, second);
  reduce(
      ".inc.u32", [](std::uint32_t x, std::uint32_t y) { return x >= y ? 0 : x + 1; }, first,
      second);
  reduce(
      ".dec.u32", [](std::uint32_t x, std::uint32_t y) { return x == 0 || x > y ? y : x - 1; },
      first, second);
  // Small integers as floats: exact.
  std::vector<std::uint32_t> a, b;
  for (int i = 0; i < 128; ++i) {
    a.push_back(static_cast<std::uint32_t>(converted(formats::f32, Rounding::rn, i - 50)));
    b.push_back(static_cast<std::uint32_t>(converted(formats::f32, Rounding::rn, 3 * i)));
  }
  reduce(
      ".add.f32",
      [](std::uint32_t x, std::uint32_t y) {
        return static_cast<std::uint32_t>(sum(formats::f32, Rounding::rn, x, y));
      },
      a, b);
}

void others(Family& family) {
  const auto add = [&](const std::string& form, const std::string& body) {
    Program program;
    program.target = Target::sm_90a;
    program.body = body + "\n  mov.u32 %r0, 6;";
    return &add_program(family, form, program, [](unsigned, unsigned) { return 6u; });
  };
  add("griddepcontrol", "  griddepcontrol.launch_dependents;\n  griddepcontrol.wait;");
  Experiment* e = add(
      "setmaxnreg", "  setmaxnreg.dec.sync.aligned.u32 40;\n  setmaxnreg.inc.sync.aligned.u32 64;");
  e->text.replace(e->text.find(")\n{"), 2, ")\n.maxntid 128, 1, 1\n.maxnreg 64\n");
}

}  // namespace

Family bulk() {
  Family family{"bulk", {}, {}};
  copies(family);
  others(family);
  return family;
}

}  // namespace plumbline::ptx::conformance
