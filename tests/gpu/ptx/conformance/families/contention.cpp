// SPDX-License-Identifier: Apache-2.0
// Many threads, one word: what atom returns and what is left, whatever the order (section 9.7.13.5
// of the PTX ISA).
#include <fmt/format.h>

#include <algorithm>

#include "tests/gpu/ptx/conformance/families.hpp"
#include "tests/gpu/ptx/conformance/program.hpp"

namespace plumbline::ptx::conformance {
namespace {

constexpr unsigned blocks = 5, threads = 96, all = blocks * threads;

/// The word is in global memory (`more`), or each block's own in shared memory, which the last
/// instructions copy to element %ctaid.x of the same buffer.
struct Place {
  const char *name, *space;
  bool is_shared;
};
constexpr Place places[] = {
    {"global", ".global", false}, {"shared", ".shared", true}, {"generic", "", false}};

/// What the olds of one group of threads and the final value must be together.
using Group = std::function<bool(std::vector<std::uint32_t> olds, std::uint32_t final)>;

void add(Family& family, const std::string& op, const Place& place, std::uint32_t initial,
         const std::string& instruction, const Group& right) {
  Program program;
  program.blocks = blocks;
  program.threads = threads;
  program.more = {buffer_of(std::vector<std::uint32_t>(blocks, initial))};
  if (place.is_shared) {
    program.body = fmt::format(R"(
  .shared .align 4 .b32 word;
  setp.eq.u32 %p7, %t, 0;
  @%p7 st.shared.u32 [word], {};
  mov.u64 %l0, word;
  bar.sync 0;
  {}
  bar.sync 0;
  mov.u32 %r30, %ctaid.x;
  mul.wide.u32 %l1, %r30, 4;
  add.s64 %l1, %b1, %l1;
  ld.shared.u32 %r31, [word];
  @%p7 st.global.u32 [%l1], %r31;)",
                               initial, instruction);
  } else {
    program.body = fmt::format("  mov.u64 %l0, %b1;\n  {}", instruction);
    if (!*place.space) program.body = "  cvta.global.u64 %b1, %b1;\n" + program.body;
  }
  Experiment& e = add_program(family, fmt::format("{} by many threads, {}", op, place.name),
                              program, [](unsigned, unsigned) { return 0u; });
  const bool is_shared = place.is_shared;
  e.judge = [=](const std::vector<Buffer>& after) {
    const auto olds = values_of<std::uint32_t>(after[0]),
               finals = values_of<std::uint32_t>(after[1]);
    Verdict verdict;
    const unsigned groups = is_shared ? blocks : 1, size = all / groups;
    for (unsigned g = 0; g < groups; ++g) {
      ++verdict.compared;
      if (!right({olds.begin() + g * size, olds.begin() + (g + 1) * size}, finals[g]))
        verdict.differs({fmt::format("group {}", g), fmt::format("{:#x} at the end", finals[g]),
                         "a result of some order"});
    }
    return verdict;
  };
}

bool is_permutation_of_range(std::vector<std::uint32_t> olds, std::uint32_t first) {
  std::sort(olds.begin(), olds.end());
  for (std::size_t i = 0; i < olds.size(); ++i)
    if (olds[i] != first + i) return false;
  return true;
}

/// The values of `f` from `initial` on, as often as there are threads, in any order; and what
/// follows.
Group chain(std::uint32_t initial, const std::function<std::uint32_t(std::uint32_t)>& f) {
  return [=](std::vector<std::uint32_t> olds, std::uint32_t final) {
    std::vector<std::uint32_t> expected;
    std::uint32_t x = initial;
    for (std::size_t i = 0; i < olds.size(); ++i, x = f(x)) expected.push_back(x);
    std::sort(olds.begin(), olds.end());
    std::sort(expected.begin(), expected.end());
    return olds == expected && final == x;
  };
}

void counters(Family& family, const Place& place) {
  const std::string s = place.space;
  add(family, "atom.add.u32", place, 7, "atom" + s + ".add.u32 %r0, [%l0], 1;",
      chain(7, [](std::uint32_t x) { return x + 1; }));
  add(family, "atom.inc.u32", place, 3, "atom" + s + ".inc.u32 %r0, [%l0], 10;",
      chain(3, [](std::uint32_t x) { return x >= 10 ? 0 : x + 1; }));
  add(family, "atom.dec.u32", place, 3, "atom" + s + ".dec.u32 %r0, [%l0], 10;",
      chain(3, [](std::uint32_t x) { return x == 0 || x > 10 ? 10 : x - 1; }));
  add(family, "atom.add.f32", place, 0x3f800000,
      "mov.f32 %f0, 0f40000000; atom" + s + ".add.f32 %f1, [%l0], %f0; cvt.rzi.u32.f32 %r0, %f1;",
      [](std::vector<std::uint32_t> olds, std::uint32_t final) {
        // Odd numbers from 1 on; exact.
        for (auto& old : olds) {
          if (old % 2 == 0) return false;
          old /= 2;
        }
        const auto end = static_cast<float>(1 + 2 * olds.size());
        float got;
        std::memcpy(&got, &final, sizeof got);
        return is_permutation_of_range(olds, 0) && got == end;
      });
  // A lock: one lane of a warp holds it while the others spin.
  add(family, "atom.cas.b32 in a loop", place, 0,
      "LOOP: ld.volatile" + s + ".u32 %r1, [%l0]; add.u32 %r2, %r1, 1; atom" + s +
          ".cas.b32 %r0, [%l0], %r1, %r2; setp.ne.u32 %p0, %r0, %r1; @%p0 bra LOOP;",
      chain(0, [](std::uint32_t x) { return x + 1; }));
  add(family, "atom.exch.b32", place, 100000, "atom" + s + ".exch.b32 %r0, [%l0], %g;",
      [=](std::vector<std::uint32_t> olds, std::uint32_t final) {
        // Each thread's number is handed on once, and the last one stays.
        olds.push_back(final);
        std::sort(olds.begin(), olds.end());
        return olds.back() == 100000 && std::adjacent_find(olds.begin(), olds.end()) == olds.end();
      });
}

/// The last value alone: red, with operands that differ.
void reductions(Family& family, const Place& place) {
  const std::string s = place.space;
  const auto last = [&](const std::string& op, std::uint32_t initial, const std::string& text,
                        std::uint32_t end) {
    add(family, "red" + op, place, initial, text,
        [=](const std::vector<std::uint32_t>&, std::uint32_t final) { return final == end; });
  };
  const unsigned size = place.is_shared ? threads : all;
  last(".add.s32", 0, "sub.s32 %r1, 5, 7; red" + s + ".add.s32 [%l0], %r1;", 0u - 2 * size);
  last(".max.u32", 5, "and.b32 %r1, %t, 63; red" + s + ".max.u32 [%l0], %r1;", 63);
  last(".min.s32", 5, "sub.s32 %r1, 0, %t; red" + s + ".min.s32 [%l0], %r1;", 0u - (threads - 1));
  last(".or.b32", 0, "mov.u32 %r1, 1; shl.b32 %r1, %r1, %lane; red" + s + ".or.b32 [%l0], %r1;",
       0xffffffff);
  last(".and.b32", 0xffffffff,
       "mov.u32 %r1, 1; shl.b32 %r1, %r1, %lane; and.b32 %r1, %r1, 0xff00; not.b32 %r1, %r1; red" +
           s + ".and.b32 [%l0], %r1;",
       0xffff00ff);
  last(".xor.b32", 0, "mov.u32 %r1, 1; shl.b32 %r1, %r1, %lane; red" + s + ".xor.b32 [%l0], %r1;",
       (size / 32) % 2 ? 0xffffffff : 0);
}

/// Blocks that wait for each other: all must run, or take turns.
void between_blocks(Family& family) {
  Program program;
  program.blocks = blocks;
  program.threads = threads;
  program.more = {buffer_of(std::vector<std::uint32_t>(4, 0))};
  // The last block to arrive sees what all have written.
  program.body = R"(
  .shared .align 4 .b32 ticket;
  red.global.add.u32 [%b1], %t;
  fence.acq_rel.gpu;
  bar.sync 0;
  setp.ne.u32 %p0, %t, 0;
  @%p0 bra WAIT;
  atom.acq_rel.gpu.global.add.u32 %r1, [%b1+4], 1;
  st.shared.u32 [ticket], %r1;
WAIT:
  bar.sync 0;
  ld.shared.u32 %r1, [ticket];
  mov.u32 %r2, %nctaid.x;
  sub.u32 %r2, %r2, 1;
  setp.ne.u32 %p1, %r1, %r2;
  mov.u32 %r0, 0;
  @%p1 bra END;
  fence.acq_rel.gpu;
  ld.relaxed.gpu.global.u32 %r0, [%b1];
END:)";
  Experiment& e =
      add_program(family, "the last block sums", program, [](unsigned, unsigned) { return 0u; });
  e.judge = [](const std::vector<Buffer>& after) {
    const auto got = values_of<std::uint32_t>(after[0]);
    Verdict verdict;
    verdict.compared = got.size();
    const std::uint32_t sum = blocks * (threads * (threads - 1) / 2);
    unsigned full = 0;
    for (unsigned i = 0; i < got.size(); ++i) {
      full += got[i] == sum;
      if (got[i] != sum && got[i] != 0)
        verdict.differs(
            {fmt::format("thread {}", i), std::to_string(got[i]), fmt::format("0 or {}", sum)});
    }
    if (full != threads) verdict.differs({"threads that saw the sum", std::to_string(full), "96"});
    return verdict;
  };
}

}  // namespace

Family contention() {
  Family family{"contention", {}, {}};
  for (const Place& place : places) {
    counters(family, place);
    reductions(family, place);
  }
  between_blocks(family);
  return family;
}

}  // namespace plumbline::ptx::conformance
