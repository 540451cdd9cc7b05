// SPDX-License-Identifier: Apache-2.0
// Bulk copies and reductions by the asynchronous proxy, also within a cluster; setmaxnreg,
// griddepcontrol (sections 9.7.9.25, 9.7.13.13 and 9.7.19.5 of the PTX ISA). Tensor copies:
// tensor.cpp.
#include <fmt/format.h>

#include <algorithm>

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
  for (std::size_t i = 0; i < after.size() && update; ++i) after[i] = update(there[i], here[i]);
  e.judge = holds<std::uint32_t>(1, after);
}

void copies(Family& family) {
  const std::string mbarrier = ".mbarrier::complete_tx::bytes";
  for (const char* to : {"shared::cluster", "shared::cta"}) {
    const std::string form = fmt::format("cp.async.bulk.{}.global", to) + mbarrier;
    add_load(family, form, form + " [%l1], [%b1], 512, [%l0];");
    add_load(family, form + " of a size in a register", form + " [%l1], [%b1], %r2, [%l0];");
    add_load(family, form + ".L2::cache_hint",
             "createpolicy.fractional.L2::evict_first.b64 %l2;\n  " + form +
                 ".L2::cache_hint [%l1], [%b1], 512, [%l0], %l2;");
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
      ".min.s32",
      [](std::uint32_t x, std::uint32_t y) {
        return static_cast<std::int32_t>(x) < static_cast<std::int32_t>(y) ? x : y;
      },
      first, second);
  reduce(
      ".max.u32", [](std::uint32_t x, std::uint32_t y) { return std::max(x, y); }, first, second);
  // Pairs of words.
  const auto wide = [&](const std::string& op,
                        const std::function<std::uint64_t(std::uint64_t, std::uint64_t)>& f) {
    const auto join = [](const std::vector<std::uint32_t>& from) {
      return values_of<std::uint64_t>(buffer_of(from));
    };
    const auto x = join(first), y = join(second);
    std::vector<std::uint64_t> after(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) after[i] = f(x[i], y[i]);
    reduce(op, {}, first, second);
    family.experiments.back().judge = holds(1, after);
  };
  using L = std::uint64_t;
  wide(".add.u64", [](L x, L y) { return x + y; });
  wide(".min.u64", [](L x, L y) { return std::min(x, y); });
  wide(".max.u64", [](L x, L y) { return std::max(x, y); });
  wide(".min.s64", [](L x, L y) {
    return static_cast<std::int64_t>(x) < static_cast<std::int64_t>(y) ? x : y;
  });
  wide(".max.s64", [](L x, L y) {
    return static_cast<std::int64_t>(x) > static_cast<std::int64_t>(y) ? x : y;
  });
  wide(".and.b64", [](L x, L y) { return x & y; });
  wide(".or.b64", [](L x, L y) { return x | y; });
  wide(".xor.b64", [](L x, L y) { return x ^ y; });
  const auto halves = [](const std::vector<double>& values, const Format& format) {
    std::vector<std::uint32_t> packed;
    for (std::size_t i = 0; i < 256; ++i) {
      const Bits bits = converted(format, Rounding::rn, values[i * 5 % values.size()]);
      if (i % 2 == 0)
        packed.push_back(static_cast<std::uint32_t>(bits));
      else
        packed.back() |= static_cast<std::uint32_t>(bits) << 16;
    }
    return packed;
  };
  const std::vector<double> some = {1, -1, 2048, 3, 0.25, 5.9604644775390625e-8, -77, 60000},
                            others = {1, 1, 0.5, -3, 1000, 5.9604644775390625e-8, 77, 60000, 2049};
  struct Half {
    const char* type;
    const Format& format;
  };
  for (const Half& half : {Half{"f16", formats::f16}, Half{"bf16", formats::bf16}}) {
    const Format& format = half.format;
    const auto both = [](auto f) {
      return [=](std::uint32_t x, std::uint32_t y) {
        return static_cast<std::uint32_t>(f(x & 0xffff, y & 0xffff) | f(x >> 16, y >> 16) << 16);
      };
    };
    const auto a = halves(some, format), b = halves(others, format);
    reduce(std::string(".add.noftz.") + half.type,
           both([&format](Bits x, Bits y) { return sum(format, Rounding::rn, x, y); }), a, b);
    reduce(std::string(".min.") + half.type,
           both([&format](Bits x, Bits y) { return value(format, x) < value(format, y) ? x : y; }),
           a, b);
    reduce(std::string(".max.") + half.type,
           both([&format](Bits x, Bits y) { return value(format, x) > value(format, y) ? x : y; }),
           a, b);
  }
  std::vector<std::uint64_t> c, d, sums;
  for (int i = 0; i < 64; ++i) {
    c.push_back(converted(formats::f64, Rounding::rn, i - 0.1));
    d.push_back(converted(formats::f64, Rounding::rn, 0.3 * i));
    sums.push_back(sum(formats::f64, Rounding::rn, c.back(), d.back()));
  }
  reduce(".add.f64", {}, values_of<std::uint32_t>(buffer_of(c)),
         values_of<std::uint32_t>(buffer_of(d)));
  family.experiments.back().judge = holds(1, sums);
  reduce(
      ".add.f32",
      [](std::uint32_t x, std::uint32_t y) {
        return static_cast<std::uint32_t>(sum(formats::f32, Rounding::rn, x, y));
      },
      a, b);
}

/// Clusters of four blocks, each with 512 bytes of shared memory `there` at %l1, `here` at %l2 and
/// an mbarrier of one arrival at %l0; `before` and `copy` are thread 0's; thread t reads word t.
void add_cluster(Family& family, const std::string& form, const std::string& before,
                 const std::string& copy, const Expected& expected, unsigned bytes = 512) {
  Program program;
  program.target = Target::sm_90a;
  program.version = "8.6";
  program.blocks = 8;
  program.more = {buffer_of(words(1024, 9))};
  program.body = fmt::format(R"(
  .shared .align 8 .b64 barrier;
  .shared .align 128 .b8 there[512];
  .shared .align 128 .b8 here[512];
  mov.u64 %l0, barrier;
  mov.u64 %l1, there;
  mov.u64 %l2, here;
  mul.wide.u32 %l3, %t, 4;
  add.s64 %l4, %l2, %l3;
  st.shared.u32 [%l4], %g;
  add.s64 %l4, %l1, %l3;
  mov.u32 %r4, 1000;
  st.shared.u32 [%l4], %r4;
  fence.proxy.async;
  mov.u32 %r1, %cluster_ctarank;
  add.u32 %r2, %r1, 1;
  and.b32 %r2, %r2, 3;
  mapa.shared::cluster.u64 %l5, %l1, %r2;
  mapa.shared::cluster.u64 %l6, %l0, %r2;
  setp.ne.u32 %p0, %t, 0;
  @%p0 bra READY;
  mbarrier.init.shared.b64 [%l0], 1;
  mbarrier.arrive.expect_tx.shared.b64 _, [%l0], {0};
  fence.mbarrier_init.release.cluster;
READY:
  barrier.cluster.arrive;
  barrier.cluster.wait;
  mov.u32 %r5, %ctaid.x;
  and.b32 %r5, %r5, 4;
  mul.wide.u32 %l7, %r5, 512;
  add.s64 %l7, %b1, %l7;
  mul.wide.u32 %l8, %r1, 512;
  add.s64 %l7, %l7, %l8;
  {1}
  @%p0 bra WAIT;
  {2}
WAIT:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%l0], 0;
  @!%p1 bra WAIT;
  ld.shared.u32 %r0, [%l4];
  barrier.cluster.arrive;
  barrier.cluster.wait;)",
                             bytes, before, copy);
  Experiment& e = add_program(family, form, program, expected);
  e.text.replace(e.text.find(")\n{"), 2, ")\n.reqnctapercluster 4, 1, 1\n");
}

void clusters(Family& family) {
  const std::string tail = ".mbarrier::complete_tx::bytes";
  const auto source = words(1024, 9);
  const auto from_left = [](unsigned b, unsigned t) { return ((b & 4) + (b + 3) % 4) * 128 + t; };
  const std::string to_cluster = "cp.async.bulk.shared::cluster.shared::cta" + tail;
  add_cluster(family, to_cluster, "", to_cluster + " [%l5], [%l2], 512, [%l6];", from_left);
  const std::string load = "cp.async.bulk.shared::cluster.global" + tail;
  add_cluster(
      family, load + " to another block", "", load + " [%l5], [%l7], 512, [%l6];",
      [=](unsigned b, unsigned t) { return source[(b & 4) * 128 + (b + 3) % 4 * 128 + t]; });
  // Block 1 alone copies, to blocks 0, 1 and 3; block 2 gets its own.
  const std::string multicast = load + ".multicast::cluster";
  add_cluster(family, multicast,
              "setp.eq.u32 %p2, %r1, 1;\n  setp.eq.u32 %p3, %r1, 2;\n  mov.u16 %h1, 11;",
              "@%p2 " + multicast + " [%l1], [%l7], 512, [%l0], %h1;\n  @%p3 " + load +
                  " [%l1], [%l7], 512, [%l0];",
              [=](unsigned b, unsigned t) {
                return source[(b & 4) * 128 + (b % 4 == 2 ? 2 : 1) * 128 + t];
              });
  // Each thread stores its words to the next block.
  const std::string stored = "st.async.weak.shared::cluster" + tail;
  const std::string mine = "add.s64 %l9, %l5, %l3;\n  ";
  for (const char* type : {"u32", "s32", "b32"})
    add_cluster(family, stored + "." + type, mine + stored + "." + type + " [%l9], %g, [%l6];", "",
                from_left);
  add_cluster(family, stored + ".f32",
              mine + "mov.b32 %f0, %g;\n  " + stored + ".f32 [%l9], %f0, [%l6];", "", from_left);
  // Of 8 and 16 bytes: by the first threads alone.
  const auto by_some = [](unsigned threads, const std::string& values, const std::string& store) {
    return fmt::format(
        "setp.ge.u32 %p2, %t, {0};\n  @%p2 bra STORED;\n  mul.wide.u32 %l9, %t, {1};\n"
        "  add.s64 %l9, %l5, %l9;\n  mul.lo.u32 %r6, %t, {2};\n  sub.u32 %r7, %g, %t;\n"
        "  add.u32 %r6, %r6, %r7;\n  add.u32 %r7, %r6, 1;\n  add.u32 %r8, %r6, 2;\n"
        "  add.u32 %r9, %r6, 3;\n  {3}{4}\nSTORED:",
        threads, 512 / threads, 128 / threads, values, store);
  };
  for (const char* type : {"u64", "s64", "b64"})
    add_cluster(
        family, stored + "." + type,
        by_some(64, "mov.b64 %l10, {%r6, %r7};\n  ", stored + "." + type + " [%l9], %l10, [%l6];"),
        "", from_left);
  add_cluster(family, stored + ".v2.b32",
              by_some(64, "", stored + ".v2.b32 [%l9], {%r6, %r7}, [%l6];"), "", from_left);
  add_cluster(family, stored + ".v4.u32",
              by_some(32, "", stored + ".v4.u32 [%l9], {%r6, %r7, %r8, %r9}, [%l6];"), "",
              from_left);
  add_cluster(family, stored + ".v2.b64",
              by_some(32, "mov.b64 %l10, {%r6, %r7};\n  mov.b64 %l11, {%r8, %r9};\n  ",
                      stored + ".v2.b64 [%l9], {%l10, %l11}, [%l6];"),
              "", from_left);
  const auto reduced = [&](const std::string& op, auto f) {
    const std::string form = "red.async.relaxed.cluster.shared::cluster" + tail + "." + op;
    add_cluster(family, form, mine + form + " [%l9], %g, [%l6];", "",
                [=](unsigned b, unsigned t) { return f(1000u, from_left(b, t)); });
  };
  reduced("add.u32", [](unsigned x, unsigned y) { return x + y; });
  reduced("add.s32", [](unsigned x, unsigned y) { return x + y; });
  reduced("min.u32", [](unsigned x, unsigned y) { return std::min(x, y); });
  reduced("max.s32", [](unsigned x, unsigned y) { return std::max(x, y); });
  reduced("inc.u32", [](unsigned x, unsigned y) { return x >= y ? 0 : x + 1; });
  reduced("dec.u32", [](unsigned x, unsigned y) { return x == 0 || x > y ? y : x - 1; });
  reduced("and.b32", [](unsigned x, unsigned y) { return x & y; });
  reduced("or.b32", [](unsigned x, unsigned y) { return x | y; });
  reduced("xor.b32", [](unsigned x, unsigned y) { return x ^ y; });
  // All four add to each other's bytes.
  for (const char* type : {"u32", "s32"}) {
    const std::string reduce =
        std::string("cp.reduce.async.bulk.shared::cluster.shared::cta") + tail + ".add." + type;
    add_cluster(family, reduce, "", reduce + " [%l5], [%l2], 512, [%l6];",
                [=](unsigned b, unsigned t) { return 1000 + from_left(b, t); });
    const std::string all =
        "mapa.shared::cluster.u64 %l5, %l1, 0;\n  mapa.shared::cluster.u64 %l6, "
        "%l0, 0;\n  " +
        reduce +
        " [%l5], [%l2], 512, [%l6];\n  setp.ne.u32 %p2, "
        "%r1, 0;\n  @%p2 mbarrier.complete_tx.shared.b64 [%l0], 2048;";
    add_cluster(
        family, reduce + " by all blocks", "", all,
        [=](unsigned b, unsigned t) {
          return b % 4 ? 1000 : 1000 + 4 * t + 128 * (4 * (b & 4) + 6);
        },
        2048);
  }
  const auto logic = [&](const std::string& op, auto f) {
    const std::string reduce = "cp.reduce.async.bulk.shared::cluster.shared::cta" + tail + "." + op;
    add_cluster(family, reduce, "", reduce + " [%l5], [%l2], 512, [%l6];",
                [=](unsigned b, unsigned t) { return f(1000u, from_left(b, t)); });
  };
  logic("and.b32", [](unsigned x, unsigned y) { return x & y; });
  logic("or.b32", [](unsigned x, unsigned y) { return x | y; });
  logic("xor.b32", [](unsigned x, unsigned y) { return x ^ y; });
  logic("min.u32", [](unsigned x, unsigned y) { return std::min(x, y); });
  logic("max.u32", [](unsigned x, unsigned y) { return std::max(x, y); });
  logic("min.s32", [](unsigned x, unsigned y) { return std::min(x, y); });
  logic("max.s32", [](unsigned x, unsigned y) { return std::max(x, y); });
  logic("inc.u32", [](unsigned x, unsigned y) { return x >= y ? 0 : x + 1; });
  logic("dec.u32", [](unsigned x, unsigned y) { return x == 0 || x > y ? y : x - 1; });
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
  clusters(family);
  others(family);
  return family;
}

}  // namespace plumbline::ptx::conformance
