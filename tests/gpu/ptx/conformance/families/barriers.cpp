// SPDX-License-Identifier: Apache-2.0
// Barriers of a block, fences, and clusters (sections 9.7.13.1 to 9.7.13.4 of the PTX ISA).
#include <fmt/format.h>

#include "tests/gpu/ptx/conformance/families.hpp"
#include "tests/gpu/ptx/conformance/program.hpp"

namespace plumbline::ptx::conformance {
namespace {

/// Each thread writes a word, waits as `wait` says, and reads the word of the thread opposite.
void exchange(Family& family, const std::string& form, const std::string& wait,
              unsigned threads = 128, Target target = Target::sm_80) {
  Program program;
  program.threads = threads;
  program.target = target;
  program.body = fmt::format(R"(
  .shared .align 4 .b8 words[4096];
  mov.u64 %l0, words;
  mul.wide.u32 %l1, %t, 4;
  add.s64 %l2, %l0, %l1;
  mul.lo.u32 %r1, %t, 3;
  st.shared.u32 [%l2], %r1;
  mov.u32 %r3, {0};
  mov.u32 %r4, 5;
  {1}
  sub.u32 %r2, %r3, 1;
  sub.u32 %r2, %r2, %t;
  mul.wide.u32 %l1, %r2, 4;
  add.s64 %l2, %l0, %l1;
  ld.shared.u32 %r0, [%l2];)",
                             threads, wait);
  add_program(family, form, program, [=](unsigned, unsigned t) { return 3 * (threads - 1 - t); });
}

void plain(Family& family) {
  exchange(family, "bar.sync 0", "bar.sync 0;");
  exchange(family, "bar.sync 0 of 100 threads", "bar.sync 0;", 100);
  exchange(family, "bar.sync 0 of 1024 threads", "bar.sync 0;", 1024);
  exchange(family, "bar.sync 0 of one warp", "bar.sync 0;", 32);
  exchange(family, "bar.cta.sync 15", "bar.cta.sync 15;");
  exchange(family, "bar.sync a", "bar.sync %r4;");
  exchange(family, "bar.sync a, b", "bar.sync %r4, %r3;");
  exchange(family, "bar.sync 1, 128", "bar.sync 1, 128;");
  exchange(family, "barrier.sync 0", "barrier.sync 0;");
  exchange(family, "barrier.cta.sync 3", "barrier.cta.sync 3;");
  exchange(family, "barrier.sync.aligned 0", "barrier.sync.aligned 0;");
  exchange(family, "barrier.cta.sync.aligned a, b", "barrier.cta.sync.aligned %r4, %r3;");
  // Two branches of a warp wait at two places for one barrier.
  exchange(family, "barrier.sync in two branches", R"(
  and.b32 %r5, %t, 1;
  setp.eq.u32 %p0, %r5, 0;
  @%p0 bra EVEN;
  barrier.sync 2;
  bra JOIN;
EVEN:
  barrier.sync 2;
JOIN:)");
  exchange(family, "bar.sync many times", R"(
  mov.u32 %r5, 0;
AGAIN:
  bar.sync 0;
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p0, %r5, 20;
  @%p0 bra AGAIN;)");
  exchange(family, "bar.sync of all sixteen", [] {
    std::string text;
    for (int i = 0; i < 16; ++i) text += fmt::format("bar.sync {};\n", i);
    return text;
  }());
}

void reductions(Family& family) {
  struct Case {
    const char *name, *condition;
    std::function<bool(unsigned)> holds;
  };
  const Case cases[] = {{"some", "setp.lt.u32 %p0, %t, 40;", [](unsigned t) { return t < 40; }},
                        {"all", "setp.lt.u32 %p0, %t, 4000;", [](unsigned) { return true; }},
                        {"none", "setp.gt.u32 %p0, %t, 4000;", [](unsigned) { return false; }}};
  for (const char* op : {"bar", "bar.cta", "barrier", "barrier.cta"})
    for (const Case& c : cases)
      for (const bool negated : {false, true})
        for (const std::string reduction : {"popc", "and", "or"}) {
          unsigned count = 0;
          for (unsigned t = 0; t < 128; ++t) count += c.holds(t) != negated;
          const std::string form =
              fmt::format("{}.red.{}{}", op, reduction, reduction == "popc" ? ".u32" : ".pred");
          const std::string no = negated ? "!" : "";
          Program program;
          program.body = std::string("  ") + c.condition;
          program.body += reduction == "popc"
                              ? fmt::format(
                                    "\n  {} %r0, 0, {}%p0;\n  {} %r1, 1, 128, {}%p0;\n  "
                                    "mad.lo.u32 %r0, %r0, 1000, %r1;",
                                    form, no, form, no)
                              : fmt::format(
                                    "\n  {} %p1, 0, {}%p0;\n  {} %p2, 1, 128, {}%p0;\n  "
                                    "selp.u32 %r0, 1000, 0, %p1;\n  selp.u32 %r1, 1, 0, %p2;\n"
                                    "  add.u32 %r0, %r0, %r1;",
                                    form, no, form, no);
          const unsigned result = reduction == "popc"  ? count
                                  : reduction == "and" ? count == 128
                                                       : count > 0;
          add_program(family, fmt::format("{} of {}{}", form, no, c.name), program,
                      [=](unsigned, unsigned) { return 1001 * result; });
        }
}

void producers(Family& family) {
  for (const char* op : {"bar", "barrier", "barrier.cta"})
    add_program(family, fmt::format("{0}.arrive and {0}.sync", op),
                {fmt::format(R"(
  .shared .align 4 .b8 words[512];
  mov.u64 %l0, words;
  setp.ge.u32 %p0, %t, 64;
  @%p0 bra CONSUMER;
  mul.wide.u32 %l1, %t, 4;
  add.s64 %l2, %l0, %l1;
  add.u32 %r1, %t, 9;
  st.shared.u32 [%l2], %r1;
  {0}.arrive 1, 128;
  {0}.sync 2, 128;
  mov.u32 %r0, 1;
  bra END;
CONSUMER:
  {0}.sync 1, 128;
  sub.u32 %r2, %t, 64;
  mul.wide.u32 %l1, %r2, 4;
  add.s64 %l2, %l0, %l1;
  ld.shared.u32 %r0, [%l2];
  {0}.arrive 2, 128;
END:)",
                             op)},
                [](unsigned, unsigned t) { return t < 64 ? 1 : t - 64 + 9; });
  // Half of the block alone.
  add_program(family, "bar.sync of two warps", {R"(
  .shared .align 4 .b8 words[512];
  mov.u64 %l0, words;
  mul.wide.u32 %l1, %t, 4;
  add.s64 %l2, %l0, %l1;
  st.shared.u32 [%l2], %t;
  shr.u32 %r1, %t, 6;
  add.u32 %r1, %r1, 1;
  bar.sync %r1, 64;
  xor.b32 %r2, %t, 63;
  mul.wide.u32 %l1, %r2, 4;
  add.s64 %l2, %l0, %l1;
  ld.shared.u32 %r0, [%l2];)"},
              [](unsigned, unsigned t) { return t ^ 63; });
}

/// Fences change nothing that one thread sees; that they are there is what is tested.
void fences(Family& family) {
  const auto add = [&](const std::string& fence, Target target = Target::sm_80,
                       const std::string& version = "8.0") {
    Program program;
    program.body =
        fmt::format("  st.global.u32 [%out], 4;\n  {};\n  ld.global.u32 %r0, [%out];", fence);
    program.target = target;
    program.version = version;
    add_program(family, fence, program, [](unsigned, unsigned) { return 4u; });
  };
  for (const char* level : {"cta", "gl", "sys"}) add(fmt::format("membar.{}", level));
  for (const char* sem : {"", ".sc", ".acq_rel"})
    for (const char* scope : {"cta", "gpu", "sys"}) add(fmt::format("fence{}.{}", sem, scope));
  for (const char* sem : {"", ".sc", ".acq_rel"})
    add(fmt::format("fence{}.cluster", sem), Target::sm_90a);
  for (const char* sem : {".acquire", ".release"})
    for (const char* scope : {"cta", "cluster", "gpu", "sys"})
      add(fmt::format("fence{}.{}", sem, scope), Target::sm_90a, "8.6");
  add("fence.proxy.alias");
  add("membar.proxy.alias");
  for (const char* proxy : {"async", "async.global", "async.shared::cta", "async.shared::cluster"})
    add(fmt::format("fence.proxy.{}", proxy), Target::sm_90a);
  add("fence.mbarrier_init.release.cluster", Target::sm_90a);
  add("fence.proxy.tensormap::generic.release.gpu", Target::sm_90a, "8.3");
}

/// A cluster of two blocks, as the kernel itself demands.
void clusters(Family& family) {
  const auto add = [&](const std::string& form, const std::string& body, const Expected& expected) {
    Program program;
    program.body = body;
    program.blocks = 6;
    program.threads = 64;
    program.target = Target::sm_90a;
    Experiment& e = add_program(family, form, program, expected);
    e.text.replace(e.text.find(")\n{"), 2, ")\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n");
  };
  const auto special = [&](const std::string& reg, const Expected& expected) {
    add("mov of %" + reg, "  mov.u32 %r0, %" + reg + ";", expected);
  };
  special("cluster_ctarank", [](unsigned b, unsigned) { return b % 2; });
  special("cluster_nctarank", [](unsigned, unsigned) { return 2u; });
  special("cluster_ctaid.x", [](unsigned b, unsigned) { return b % 2; });
  special("cluster_nctaid.x", [](unsigned, unsigned) { return 2u; });
  special("clusterid.x", [](unsigned b, unsigned) { return b / 2; });
  special("nclusterid.x", [](unsigned, unsigned) { return 3u; });
  special("clusterid.y", [](unsigned, unsigned) { return 0u; });
  add("mov of %is_explicit_cluster",
      "  mov.pred %p0, %is_explicit_cluster;\n  selp.u32 %r0, 1, 0, %p0;",
      [](unsigned, unsigned) { return 1u; });
  const auto neighbour = [](const std::string& wait, const std::string& load) {
    return fmt::format(R"(
  .shared .align 4 .b8 words[256];
  mov.u64 %l0, words;
  mul.wide.u32 %l1, %t, 4;
  add.s64 %l2, %l0, %l1;
  st.shared.u32 [%l2], %g;
  mov.u32 %r1, %cluster_ctarank;
  xor.b32 %r1, %r1, 1;
  {0}
  {1}
  {0})",
                       wait, load);
  };
  const auto other = [](unsigned b, unsigned t) { return (b ^ 1) * 64 + t; };
  const std::string plain_wait = "barrier.cluster.arrive;\n  barrier.cluster.wait;";
  const std::string by_window =
      "mapa.shared::cluster.u64 %l3, %l2, %r1;\n  ld.shared::cluster.u32 %r0, [%l3];";
  add("mapa.shared::cluster ld.shared::cluster", neighbour(plain_wait, by_window), other);
  add("barrier.cluster.arrive.aligned wait.aligned",
      neighbour("barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;", by_window),
      other);
  add("barrier.cluster.arrive.release wait.acquire",
      neighbour("barrier.cluster.arrive.release;\n  barrier.cluster.wait.acquire;", by_window),
      other);
  add("fence and barrier.cluster.arrive.relaxed",
      neighbour("fence.acq_rel.cluster;\n  barrier.cluster.arrive.relaxed;\n  "
                "barrier.cluster.wait.acquire;",
                by_window),
      other);
  add("mapa of a generic address",
      neighbour(plain_wait,
                "cvta.shared.u64 %l2, %l2;\n  mapa.u64 %l3, %l2, %r1;\n  ld.u32 %r0, [%l3];"),
      other);
  add("getctarank",
      neighbour(plain_wait,
                "mapa.shared::cluster.u64 %l3, %l2, %r1;\n"
                "  getctarank.shared::cluster.u64 %r0, %l3;"),
      [](unsigned b, unsigned) { return (b ^ 1) % 2; });
  add("st.shared::cluster", neighbour(plain_wait, R"(mapa.shared::cluster.u64 %l3, %l2, %r1;
  add.u32 %r2, %g, 7;
  st.shared::cluster.u32 [%l3], %r2;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  ld.shared.u32 %r0, [%l2];)"),
      [=](unsigned b, unsigned t) { return other(b, t) + 7; });
  add("atom.shared::cluster", neighbour(plain_wait, R"(mapa.shared::cluster.u64 %l3, %l2, %r1;
  atom.shared::cluster.add.u32 %r2, [%l3], 1000;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  ld.shared.u32 %r0, [%l2];)"),
      [](unsigned b, unsigned t) { return b * 64 + t + 1000; });
}

}  // namespace

Family barriers() {
  Family family{"barriers", {}, {}};
  plain(family);
  reductions(family);
  producers(family);
  fences(family);
  clusters(family);
  return family;
}

}  // namespace plumbline::ptx::conformance
