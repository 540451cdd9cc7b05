// SPDX-License-Identifier: Apache-2.0
// cp.async and mbarrier (sections 9.7.9.25 and 9.7.13.15 of the PTX ISA).
#include <fmt/format.h>

#include "tests/gpu/ptx/conformance/families.hpp"
#include "tests/gpu/ptx/conformance/program.hpp"

namespace plumbline::ptx::conformance {
namespace {

using enum Type;

/// A thread's 16 bytes of %a0 and %a1 lie at %l6 in global memory; %l7 are its 16 bytes of shared
/// memory, full of ones.
const char* const places =
    "  .shared .align 16 .b8 there[2048];\n  mov.u64 %l6, KERNEL_here;\n"
    "  mul.wide.u32 %l5, %thread, 16;\n  add.s64 %l6, %l6, %l5;\n"
    "  st.global.v2.b64 [%l6], {%a0, %a1};\n  mov.u64 %l7, there;\n  mov.u32 %r15, %tid.x;\n"
    "  mul.wide.u32 %l5, %r15, 16;\n  add.s64 %l7, %l7, %l5;\n  mov.u64 %l5, -1;\n"
    "  st.shared.v2.b64 [%l7], {%l5, %l5};\n";

/// The first `copied` bytes, zeros up to `size`, and what was there before.
void expect_copy(const Bits* a, int size, int copied, Bits* d) {
  for (int i = 0; i < 16; ++i) {
    const Bits byte = i < copied ? a[i / 8] >> 8 * (i % 8) & 0xff : i < size ? 0 : 0xff;
    if (i % 8 == 0) d[i / 8] = 0;
    d[i / 8] |= byte << 8 * (i % 8);
  }
}

void copies(Family& family) {
  const Operand word(b64, Domain{{0, ~Bits{0}}, [](Random& r) { return r(); }});
  const auto add = [&](const std::string& form, const std::string& instruction, int size,
                       std::vector<Operand> more, const std::function<int(const Bits*)>& copied) {
    std::vector<Operand> operands = {word, word};
    operands.insert(operands.end(), more.begin(), more.end());
    Row& row = family.add(form, {b64, b64}, operands,
                          [=](const Bits* a, Bits* d) { expect_copy(a, size, copied(a), d); });
    row.module = ".global .align 16 .b8 KERNEL_here[131072];\n";
    row.before = places;
    row.text = instruction + " cp.async.wait_all; ld.shared.v2.b64 {%d0, %d1}, [%l7];";
  };
  for (const int size : {4, 8, 16})
    for (const char* cache : {"ca", "cg"}) {
      if (size != 16 && cache[1] == 'g') continue;
      for (const char* modifiers :
           {".shared.global", ".shared::cta.global", ".shared.global.L2::64B",
            ".shared.global.L2::128B", ".shared.global.L2::256B"})
        add(fmt::format("cp.async.{}{} of {}", cache, modifiers, size),
            fmt::format("cp.async.{}{} [%l7], [%l6], {};", cache, modifiers, size), size, {},
            [=](const Bits*) { return size; });
      const std::string form = fmt::format("cp.async.{}.shared.global", cache);
      add(fmt::format("{} of {} with src-size", form, size),
          fmt::format("{} [%l7], [%l6], {}, %a2;", form, size), size, {{u32, range(0, size)}},
          [](const Bits* a) { return static_cast<int>(a[2]); });
      add(fmt::format("{} of {} with ignore-src", form, size),
          fmt::format("setp.ne.u32 %p0, %a2, 0; {} [%l7], [%l6], {}, %p0;", form, size), size,
          {{u32, range(0, 1)}}, [=](const Bits* a) { return a[2] ? 0 : size; });
      add(fmt::format("{}.L2::cache_hint of {}", form, size),
          fmt::format(
              "createpolicy.fractional.L2::evict_first.b64 %l0; {}.L2::cache_hint [%l7], [%l6], "
              "{}, %l0;",
              form, size),
          size, {}, [=](const Bits*) { return size; });
    }
  // Groups: what is waited for is there; the rest may be under way.
  add("cp.async.commit_group wait_group 0",
      "cp.async.ca.shared.global [%l7], [%l6], 8; cp.async.commit_group; cp.async.wait_group 0;", 8,
      {}, [](const Bits*) { return 8; });
  add("cp.async.wait_group 1",
      "cp.async.ca.shared.global [%l7], [%l6], 8; cp.async.commit_group; "
      "cp.async.ca.shared.global [%l7+8], [%l6+8], 8; cp.async.commit_group; cp.async.wait_group "
      "1; "
      "ld.shared.b64 %l0, [%l7];",
      16, {}, [](const Bits*) { return 16; });
  add("cp.async.commit_group of nothing",
      "cp.async.ca.shared.global [%l7], [%l6], 16; cp.async.commit_group; cp.async.commit_group; "
      "cp.async.wait_group 1;",
      16, {}, [](const Bits*) { return 16; });
}

/// mbarriers as programs of one block of 128 threads.
void mbarriers(Family& family) {
  const std::string start = R"(
  .shared .align 8 .b64 barrier;
  .shared .align 4 .b8 words[512];
  mov.u64 %l0, barrier;
  mov.u64 %l1, words;
  mul.wide.u32 %l2, %t, 4;
  add.s64 %l2, %l1, %l2;
  setp.eq.u32 %p0, %t, 0;
)";
  const std::string init = "  @%p0 mbarrier.init.shared.b64 [%l0], 128;\n  bar.sync 0;\n";
  const std::string write = "  st.shared.u32 [%l2], %t;\n";
  const std::string read = R"(
  xor.b32 %r2, %t, 127;
  mul.wide.u32 %l4, %r2, 4;
  add.s64 %l4, %l1, %l4;
  ld.shared.u32 %r0, [%l4];
)";
  const auto opposite = [](unsigned, unsigned t) { return t ^ 127; };
  const auto add = [&](const std::string& form, const std::string& body, const Expected& expected,
                       Target target = Target::sm_80, const std::string& version = "8.0") {
    Program program;
    program.body = start + body;
    program.target = target;
    program.version = version;
    add_program(family, form, program, expected);
  };
  const auto wait = [](const std::string& instruction) {
    return "WAIT:\n  " + instruction + "\n  @!%p1 bra WAIT;\n";
  };
  for (const char* space : {".shared", "", ".shared::cta"}) {
    const std::string s = space, to = s.empty() ? "  cvta.shared.u64 %l0, %l0;\n" : "";
    add("mbarrier.arrive test_wait" + s,
        to + "  @%p0 mbarrier.init" + s + ".b64 [%l0], 128;\n  bar.sync 0;\n" + write +
            "  mbarrier.arrive" + s + ".b64 %l3, [%l0];\n" +
            wait("mbarrier.test_wait" + s + ".b64 %p1, [%l0], %l3;") + read,
        opposite);
  }
  add("mbarrier.test_wait.parity",
      init + write + "  mbarrier.arrive.shared.b64 _, [%l0];\n" +
          wait("mbarrier.test_wait.parity.shared.b64 %p1, [%l0], 0;") + read,
      opposite);
  add("mbarrier.try_wait",
      init + write + "  mbarrier.arrive.shared.b64 %l3, [%l0];\n" +
          wait("mbarrier.try_wait.shared.b64 %p1, [%l0], %l3;") + read,
      opposite, Target::sm_90a);
  add("mbarrier.try_wait.parity with a time",
      init + write + "  mbarrier.arrive.shared.b64 %l3, [%l0];\n  mov.u32 %r5, 100000;\n" +
          wait("mbarrier.try_wait.parity.shared.b64 %p1, [%l0], 0, %r5;") + read,
      opposite, Target::sm_90a);
  for (const char* scope : {"cta", "cluster"})
    add(fmt::format("mbarrier.arrive.release.{0} try_wait.acquire.{0}", scope),
        init + write + fmt::format("  mbarrier.arrive.release.{}.shared.b64 %l3, [%l0];\n", scope) +
            wait(fmt::format("mbarrier.try_wait.acquire.{}.shared.b64 %p1, [%l0], %l3;", scope)) +
            read,
        opposite, Target::sm_90a);
  add("mbarrier.arrive with a count",
      "  @%p0 mbarrier.init.shared.b64 [%l0], 256;\n  bar.sync 0;\n" + write +
          "  mbarrier.arrive.shared.b64 %l3, [%l0], 2;\n" +
          wait("mbarrier.try_wait.shared.b64 %p1, [%l0], %l3;") + read,
      opposite, Target::sm_90a);
  // Phases: 0, 1, 0, ... and a word that moves on by one thread in each.
  add("mbarrier of many phases", init + R"(
  mov.u32 %r3, 0;
  mov.u32 %r0, %t;
PHASE:
  st.shared.u32 [%l2], %r0;
  mbarrier.arrive.shared.b64 %l3, [%l0];
WAIT:
  mbarrier.test_wait.shared.b64 %p1, [%l0], %l3;
  @!%p1 bra WAIT;
  add.u32 %r2, %t, 1;
  and.b32 %r2, %r2, 127;
  mul.wide.u32 %l4, %r2, 4;
  add.s64 %l4, %l1, %l4;
  ld.shared.u32 %r0, [%l4];
  and.b32 %r4, %r3, 1;
  mbarrier.arrive.shared.b64 %l3, [%l0];
AGAIN:
  mbarrier.test_wait.shared.b64 %p1, [%l0], %l3;
  @!%p1 bra AGAIN;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p2, %r3, 7;
  @%p2 bra PHASE;)",
      [](unsigned, unsigned t) { return (t + 7) % 128; });
  add("mbarrier.test_wait of a phase that goes on",
      "  @%p0 mbarrier.init.shared.b64 [%l0], 129;\n  bar.sync 0;\n"
      "  mbarrier.arrive.shared.b64 %l3, [%l0];\n  bar.sync 0;\n"
      "  mbarrier.test_wait.shared.b64 %p1, [%l0], %l3;\n  selp.u32 %r0, 1, 0, %p1;\n",
      [](unsigned, unsigned) { return 0u; });
  add("mbarrier.test_wait.parity before any arrival",
      // The phase before the first counts as complete: its parity is 1.
      init +
          "  mbarrier.test_wait.parity.shared.b64 %p1, [%l0], 1;\n"
          "  mbarrier.test_wait.parity.shared.b64 %p2, [%l0], 0;\n"
          "  selp.u32 %r0, 1, 0, %p1;\n  selp.u32 %r1, 10, 0, %p2;\n  add.u32 %r0, %r0, %r1;\n",
      [](unsigned, unsigned) { return 1u; });
  add("mbarrier.arrive.noComplete and pending_count",
      "  @%p0 mbarrier.init.shared.b64 [%l0], 200;\n  bar.sync 0;\n"
      "  setp.ne.u32 %p2, %t, 0;\n  @%p2 bra LATER;\n"
      "  mbarrier.arrive.noComplete.shared.b64 %l3, [%l0], 50;\n"
      "  mbarrier.arrive.noComplete.shared.b64 %l5, [%l0], 1;\n"
      "  mbarrier.pending_count.b64 %r0, %l3;\n  mbarrier.pending_count.b64 %r1, %l5;\n"
      "  mad.lo.u32 %r0, %r0, 1000, %r1;\nLATER:\n",
      [](unsigned, unsigned t) { return t ? 0xdead : 200150u; });
  // Half of the threads leave after the first phase: the second needs the others alone.
  add("mbarrier.arrive_drop", init + R"(
  setp.ge.u32 %p3, %t, 64;
  @%p3 bra DROP;
  mbarrier.arrive.shared.b64 %l3, [%l0];
WAIT:
  mbarrier.test_wait.shared.b64 %p1, [%l0], %l3;
  @!%p1 bra WAIT;
  mbarrier.arrive.shared.b64 %l3, [%l0];
AGAIN:
  mbarrier.test_wait.shared.b64 %p1, [%l0], %l3;
  @!%p1 bra AGAIN;
  mov.u32 %r0, 2;
  bra END;
DROP:
  mbarrier.arrive_drop.shared.b64 %l3, [%l0];
  mov.u32 %r0, 1;
END:)",
      [](unsigned, unsigned t) { return t < 64 ? 2u : 1u; });
  add("mbarrier.inval and init again",
      init + "  mbarrier.arrive.shared.b64 %l3, [%l0];\n" +
          wait("mbarrier.test_wait.shared.b64 %p1, [%l0], %l3;") +
          "  bar.sync 0;\n  @%p0 mbarrier.inval.shared.b64 [%l0];\n"
          "  @%p0 mbarrier.init.shared.b64 [%l0], 1;\n  bar.sync 0;\n"
          "  @%p0 mbarrier.arrive.shared.b64 %l3, [%l0];\n" +
          "AGAIN:\n  mbarrier.test_wait.parity.shared.b64 %p1, [%l0], 0;\n  @!%p1 bra AGAIN;\n"
          "  mov.u32 %r0, 8;\n",
      [](unsigned, unsigned) { return 8u; });
  // Transactions: a phase ends when the bytes that were expected have come, too.
  add(
      "mbarrier.expect_tx complete_tx",
      "  @%p0 mbarrier.init.shared.b64 [%l0], 1;\n  bar.sync 0;\n" + write +
          "  @%p0 mbarrier.expect_tx.relaxed.cta.shared.b64 [%l0], 512;\n  bar.sync 0;\n"
          "  @%p0 mbarrier.arrive.shared.b64 _, [%l0];\n"
          "  mbarrier.complete_tx.shared.b64 [%l0], 4;\n" +
          wait("mbarrier.try_wait.parity.shared.b64 %p1, [%l0], 0;") + "  mov.u32 %r0, 3;\n",
      [](unsigned, unsigned) { return 3u; }, Target::sm_90a);
  add(
      "mbarrier.arrive.expect_tx",
      "  @%p0 mbarrier.init.shared.b64 [%l0], 1;\n  bar.sync 0;\n" + write +
          "  @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%l0], 512;\n  bar.sync 0;\n"
          "  mbarrier.test_wait.parity.shared.b64 %p2, [%l0], 0;\n  bar.sync 0;\n"
          "  mbarrier.complete_tx.shared.b64 [%l0], 4;\n" +
          wait("mbarrier.try_wait.parity.shared.b64 %p1, [%l0], 0;") +
          "  selp.u32 %r0, 1, 0, %p2;\n",
      [](unsigned, unsigned) { return 0u; }, Target::sm_90a);
  add(
      "mbarrier.complete_tx before expect_tx",
      "  @%p0 mbarrier.init.shared.b64 [%l0], 1;\n  bar.sync 0;\n" + write +
          "  mbarrier.complete_tx.shared.b64 [%l0], 4;\n  bar.sync 0;\n"
          "  @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%l0], 512;\n" +
          wait("mbarrier.try_wait.parity.shared.b64 %p1, [%l0], 0;") + "  mov.u32 %r0, 3;\n",
      [](unsigned, unsigned) { return 3u; }, Target::sm_90a);
  add(
      "mbarrier of the most arrivals and bytes",
      "  @%p0 mbarrier.init.shared.b64 [%l0], 1048575;\n  bar.sync 0;\n  mov.u32 %r0, 0;\n"
      "  @!%p0 bra END;\n  mbarrier.expect_tx.shared.b64 [%l0], 1048575;\n"
      "  mbarrier.arrive.shared.b64 %l3, [%l0], 1048575;\n"
      "  mbarrier.pending_count.b64 %r0, %l3;\n"
      "  mbarrier.test_wait.shared.b64 %p1, [%l0], %l3;\n  @%p1 bra END;\n"
      "  mbarrier.complete_tx.shared.b64 [%l0], 1048575;\n"
      "  mbarrier.test_wait.shared.b64 %p1, [%l0], %l3;\n  selp.u32 %r0, %r0, 0, %p1;\nEND:\n",
      [](unsigned, unsigned t) { return t ? 0u : 1048575u; }, Target::sm_90a);
  for (const char* sem : {".release.cta", ".release.cluster", ".relaxed.cta", ".relaxed.cluster"}) {
    const std::string form = sem, acquire = form.substr(0, 8) == ".relaxed"
                                                ? form
                                                : ".acquire" + form.substr(8);
    // What the relaxed forms do not order, the barrier of the block does.
    add("mbarrier.arrive" + form + " test_wait" + acquire,
        init + write + "  mbarrier.arrive" + form + ".shared::cta.b64 %l3, [%l0];\n" +
            wait("mbarrier.test_wait" + acquire + ".shared::cta.b64 %p1, [%l0], %l3;") +
            "  bar.sync 0;\n" + read,
        opposite, Target::sm_90a, "8.6");
    add("mbarrier.arrive.expect_tx" + form + " try_wait.parity" + acquire,
        init + write + "  mbarrier.arrive.expect_tx" + form +
            ".shared::cta.b64 %l3, [%l0], 8;\n  mbarrier.complete_tx.relaxed.cta.shared::cta.b64 "
            "[%l0], 8;\n" +
            wait("mbarrier.try_wait.parity" + acquire + ".shared::cta.b64 %p1, [%l0], 0;") +
            "  bar.sync 0;\n" + read,
        opposite, Target::sm_90a, "8.6");
    // Threads 64 to 127 leave with the first phase.
    add(
        "mbarrier.arrive_drop" + form,
        init +
            "  setp.ge.u32 %p3, %t, 64;\n  @%p3 bra DROP;\n"
            "  mbarrier.arrive.shared.b64 _, [%l0];\n" +
            wait("mbarrier.try_wait.parity.shared.b64 %p1, [%l0], 0;") +
            "  mbarrier.arrive.shared.b64 _, [%l0];\n"
            "AGAIN:\n  mbarrier.try_wait.parity.shared.b64 %p1, [%l0], 1;\n  @!%p1 bra AGAIN;\n"
            "  mov.u32 %r0, 2;\n  bra END;\nDROP:\n  mbarrier.arrive_drop" +
            form + ".shared::cta.b64 %l3, [%l0];\n  mov.u32 %r0, 1;\nEND:\n",
        [](unsigned, unsigned t) { return t < 64 ? 2u : 1u; }, Target::sm_90a, "8.6");
  }
  add(
      "mbarrier.arrive_drop.expect_tx",
      "  @%p0 mbarrier.init.shared.b64 [%l0], 2;\n  bar.sync 0;\n  mov.u32 %r0, 5;\n"
      "  @!%p0 bra END;\n  mbarrier.arrive_drop.expect_tx.shared.b64 %l3, [%l0], 16;\n"
      "  mbarrier.arrive.shared.b64 %l5, [%l0];\n"
      "  mbarrier.test_wait.shared.b64 %p1, [%l0], %l3;\n"
      "  mbarrier.complete_tx.shared.b64 [%l0], 16;\n"
      "  mbarrier.test_wait.shared.b64 %p2, [%l0], %l3;\n"
      // One arrival is the whole second phase.
      "  mbarrier.arrive.shared.b64 %l5, [%l0];\n"
      "  mbarrier.test_wait.shared.b64 %p3, [%l0], %l5;\n"
      "  selp.u32 %r0, 1, 0, %p1;\n  selp.u32 %r1, 10, 0, %p2;\n  selp.u32 %r2, 100, 0, %p3;\n"
      "  add.u32 %r0, %r0, %r1;\n  add.u32 %r0, %r0, %r2;\nEND:\n",
      [](unsigned, unsigned t) { return t ? 5u : 110u; }, Target::sm_90a);
  add(
      "mbarrier.arrive_drop.noComplete",
      "  @%p0 mbarrier.init.shared.b64 [%l0], 9;\n  bar.sync 0;\n  mov.u32 %r0, 5;\n"
      "  @!%p0 bra END;\n  mbarrier.arrive_drop.noComplete.shared.b64 %l3, [%l0], 3;\n"
      "  mbarrier.arrive_drop.shared.b64 %l4, [%l0], 5;\n"
      "  mbarrier.arrive.shared.b64 %l5, [%l0];\n  mbarrier.arrive.shared.b64 %l6, [%l0];\n"
      "  mbarrier.pending_count.b64 %r1, %l3;\n  mbarrier.pending_count.b64 %r2, %l4;\n"
      "  mbarrier.pending_count.b64 %r3, %l5;\n  mbarrier.pending_count.b64 %r4, %l6;\n"
      "  mad.lo.u32 %r0, %r1, 10, %r2;\n  mad.lo.u32 %r0, %r0, 10, %r3;\n"
      "  mad.lo.u32 %r0, %r0, 10, %r4;\nEND:\n",
      [](unsigned, unsigned t) { return t ? 5u : 9611u; }, Target::sm_90a);
  // Copies that arrive: each thread's own, then all see all.
  for (const char* noinc : {".noinc", ""}) {
    Program program;
    std::vector<std::uint32_t> source(128);
    for (unsigned i = 0; i < 128; ++i) source[i] = i * i + 1;
    program.more = {buffer_of(source)};
    program.body = start +
                   fmt::format(
                       "  @%p0 mbarrier.init.shared.b64 [%l0], {};\n  bar.sync 0;\n"
                       "  mul.wide.u32 %l5, %t, 4;\n  add.s64 %l5, %b1, %l5;\n"
                       "  cp.async.ca.shared.global [%l2], [%l5], 4;\n"
                       "  cp.async.mbarrier.arrive{}.shared.b64 [%l0];\n{}",
                       128, noinc, *noinc ? "" : "  mbarrier.arrive.shared.b64 _, [%l0];\n") +
                   wait("mbarrier.test_wait.parity.shared.b64 %p1, [%l0], 0;") + read;
    add_program(family, fmt::format("cp.async.mbarrier.arrive{}", noinc), program,
                [=](unsigned, unsigned t) { return (t ^ 127) * (t ^ 127) + 1; });
  }
}

/// Two blocks, each of whose threads acts upon the mbarrier of the other (%l5) and waits for its
/// own
/// (%l0), which expects `arrivals`.
void remote(Family& family) {
  const auto add = [&](const std::string& form, unsigned arrivals, const std::string& body) {
    Program program;
    program.blocks = 4;
    program.threads = 64;
    program.target = Target::sm_90a;
    program.version = "8.6";
    program.body = fmt::format(R"(
  .shared .align 8 .b64 barrier;
  mov.u64 %l0, barrier;
  setp.eq.u32 %p0, %t, 0;
  @%p0 mbarrier.init.shared.b64 [%l0], {};
  @%p0 fence.mbarrier_init.release.cluster;
  barrier.cluster.arrive.relaxed;
  barrier.cluster.wait;
  mov.u32 %r1, %cluster_ctarank;
  xor.b32 %r1, %r1, 1;
  mapa.shared::cluster.u64 %l5, %l0, %r1;
  {}
WAIT:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%l0], 0;
  @!%p1 bra WAIT;
  mov.u32 %r0, 8;
  barrier.cluster.arrive;
  barrier.cluster.wait;)",
                               arrivals, body);
    Experiment& e = add_program(family, form, program, [](unsigned, unsigned) { return 8u; });
    e.text.replace(e.text.find(")\n{"), 2, ")\n.reqnctapercluster 2, 1, 1\n");
  };
  const std::string there = ".shared::cluster.b64 ";
  add("mbarrier.arrive.shared::cluster", 64,
      "mbarrier.arrive.release.cluster" + there + "_, [%l5];");
  add("mbarrier.arrive.shared::cluster with a count", 192,
      "mbarrier.arrive.release.cluster" + there + "_, [%l5], 3;");
  add("mbarrier.arrive_drop.shared::cluster", 64,
      "mbarrier.arrive_drop.release.cluster" + there + "_, [%l5];");
  add("mbarrier.arrive.expect_tx.shared::cluster", 64,
      "mbarrier.arrive.expect_tx.release.cluster" + there +
          "_, [%l5], 4;\n  mbarrier.complete_tx.relaxed.cluster" + there + "[%l5], 4;");
  add("mbarrier.arrive_drop.expect_tx.shared::cluster", 64,
      "mbarrier.arrive_drop.expect_tx.release.cluster" + there +
          "_, [%l5], 4;\n  mbarrier.complete_tx.relaxed.cluster" + there + "[%l5], 4;");
  add("mbarrier.expect_tx.shared::cluster", 64,
      "mbarrier.expect_tx.relaxed.cluster" + there +
          "[%l5], 4;\n  mbarrier.arrive.shared::cluster.b64 _, [%l5];\n"
          "  mbarrier.complete_tx.relaxed.cluster" +
          there + "[%l5], 4;");
}

}  // namespace

Family asynchronous() {
  Family family{"asynchronous", {}, {}};
  copies(family);
  mbarriers(family);
  remote(family);
  return family;
}

}  // namespace plumbline::ptx::conformance
