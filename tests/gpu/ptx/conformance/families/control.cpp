// SPDX-License-Identifier: Apache-2.0
// Control flow: branches, loops, brx.idx, calls, exit, ret, trap (section 9.7.12 of the PTX ISA),
// and warps whose lanes go separate ways.
#include "tests/gpu/ptx/conformance/families.hpp"
#include "tests/gpu/ptx/conformance/program.hpp"

namespace plumbline::ptx::conformance {
namespace {

void branches(Family& family) {
  add_program(family, "bra forward and back", {R"(
  mov.u32 %r0, 0;
  bra LATER;
BACK:
  add.u32 %r0, %r0, 5;
  bra.uni END;
LATER:
  mov.u32 %r0, 7;
  bra BACK;
END:)"},
              [](unsigned, unsigned) { return 12u; });
  add_program(family, "bra that divides a warp", {R"(
  and.b32 %r1, %t, 1;
  setp.eq.u32 %p0, %r1, 0;
  @%p0 bra EVEN;
  mul.lo.u32 %r0, %t, 3;
  bra JOIN;
EVEN:
  add.u32 %r0, %t, 1000;
JOIN:
  add.u32 %r0, %r0, 1;)"},
              [](unsigned, unsigned t) { return (t % 2 ? 3 * t : t + 1000) + 1; });
  add_program(family, "@!p bra", {R"(
  setp.lt.u32 %p0, %t, 40;
  mov.u32 %r0, 1;
  @!%p0 bra END;
  mov.u32 %r0, 2;
END:)"},
              [](unsigned, unsigned t) { return t < 40 ? 2u : 1u; });
  add_program(family, "nested branches", {R"(
  setp.lt.u32 %p0, %lane, 16;
  and.b32 %r1, %lane, 2;
  setp.ne.u32 %p1, %r1, 0;
  and.b32 %r2, %lane, 1;
  setp.ne.u32 %p2, %r2, 0;
  mov.u32 %r0, 0;
  @%p0 bra LOW;
  @%p1 bra HIGH_TWO;
  add.u32 %r0, %r0, 1;
  bra HIGH_END;
HIGH_TWO:
  @%p2 bra HIGH_THREE;
  add.u32 %r0, %r0, 2;
  bra HIGH_END;
HIGH_THREE:
  add.u32 %r0, %r0, 3;
HIGH_END:
  add.u32 %r0, %r0, 100;
  bra END;
LOW:
  @!%p2 bra LOW_END;
  add.u32 %r0, %r0, 4;
LOW_END:
  add.u32 %r0, %r0, 200;
END:
  activemask.b32 %r3;
  add.u32 %r0, %r0, %lane;)"},
              [](unsigned, unsigned t) {
                const unsigned lane = t % 32;
                if (lane < 16) return 200 + (lane % 2 ? 4 : 0) + lane;
                return 100 + (lane & 2 ? lane & 1 ? 3 : 2 : 1) + lane;
              });
  add_program(family, "loop with another trip count for each lane", {R"(
  mov.u32 %r0, 0;
  mov.u32 %r1, 0;
LOOP:
  setp.ge.u32 %p0, %r1, %t;
  @%p0 bra END;
  add.u32 %r1, %r1, 1;
  add.u32 %r0, %r0, %r1;
  bra LOOP;
END:)"},
              [](unsigned, unsigned t) { return t * (t + 1) / 2; });
  add_program(family, "nested loops, continue and break", {R"(
  mov.u32 %r0, 0;
  mov.u32 %r1, 0;
OUTER:
  mov.u32 %r2, 0;
INNER:
  add.u32 %r2, %r2, 1;
  xor.b32 %r3, %r2, %lane;
  and.b32 %r3, %r3, 3;
  setp.eq.u32 %p0, %r3, 0;
  @%p0 bra NEXT;
  add.u32 %r0, %r0, %r2;
  setp.gt.u32 %p1, %r0, 300;
  @%p1 bra END;
NEXT:
  setp.lt.u32 %p2, %r2, 9;
  @%p2 bra INNER;
  add.u32 %r1, %r1, 1;
  setp.le.u32 %p3, %r1, %lane;
  @%p3 bra OUTER;
END:)"},
              [](unsigned, unsigned t) {
                const unsigned lane = t % 32;
                unsigned sum = 0;
                for (unsigned i = 0; i <= lane; ++i)
                  for (unsigned j = 1; j <= 9; ++j) {
                    if (((j ^ lane) & 3) == 0) continue;
                    sum += j;
                    if (sum > 300) return sum;
                  }
                return sum;
              });
  add_program(family, "brx.idx", {R"(
  and.b32 %r1, %t, 3;
targets: .branchtargets ZERO, ONE, TWO, THREE;
  brx.idx %r1, targets;
ZERO:
  mov.u32 %r0, 10;
  bra END;
TWO:
  mov.u32 %r0, 30;
  bra END;
ONE:
  mov.u32 %r0, 20;
THREE:
  add.u32 %r0, %r0, 1;
END:)"},
              [](unsigned, unsigned t) {
                const unsigned results[4] = {10, 21, 30, 0xdeae};
                return results[t % 4];
              });
  add_program(family, "brx.idx.uni", {R"(
  and.b32 %r1, %warp, 1;
targets: .branchtargets ZERO, ONE;
  brx.idx.uni %r1, targets;
ZERO:
  mov.u32 %r0, 10;
  bra.uni END;
ONE:
  mov.u32 %r0, 20;
END:)"},
              [](unsigned, unsigned t) { return t / 32 % 2 ? 20u : 10u; });
  add_program(family, "@p brx.idx", {R"(
  and.b32 %r1, %t, 1;
  setp.lt.u32 %p0, %lane, 20;
targets: .branchtargets ZERO, ONE;
  @%p0 brx.idx %r1, targets;
  mov.u32 %r0, 5;
  bra END;
ZERO:
  mov.u32 %r0, 10;
  bra END;
ONE:
  mov.u32 %r0, 20;
END:)"},
              [](unsigned, unsigned t) { return t % 32 >= 20 ? 5u
                                                : t % 2      ? 20u
                                                             : 10u; });
}

void leaving(Family& family) {
  add_program(family, "exit in part of a warp", {R"(
  setp.gt.u32 %p0, %lane, 20;
  @%p0 exit;
  mov.u32 %r0, 3;)"},
              [](unsigned, unsigned t) { return t % 32 > 20 ? untouched : 3u; });
  add_program(family, "ret in part of a warp", {R"(
  and.b32 %r1, %t, 4;
  setp.eq.u32 %p0, %r1, 0;
  @%p0 ret;
  mov.u32 %r0, 4;)"},
              [](unsigned, unsigned t) { return t & 4 ? 4u : untouched; });
  add_program(family, "exit in a branch, the others go on", {R"(
  setp.eq.u32 %p0, %lane, 0;
  @%p0 bra OUT;
  activemask.b32 %r0;
  bra END;
OUT:
  exit;
END:)"},
              [](unsigned, unsigned t) { return t % 32 ? 0xfffffffeu : untouched; });
  add_program(family, "a barrier after a warp's exit", {R"(
  .shared .b32 sum;
  setp.eq.u32 %p0, %warp, 3;
  @%p0 exit;
  setp.eq.u32 %p1, %t, 0;
  @%p1 st.shared.u32 [sum], 17;
  bar.sync 0;
  ld.shared.u32 %r0, [sum];)"},
              [](unsigned, unsigned t) { return t / 32 == 3 ? untouched : 17u; });
  // Warps that nothing holds together end before the trap of another.
  Experiment& trap = add_program(family, "trap", {R"(
  setp.eq.u32 %p0, %t, 77;
  @%p0 trap;)"},
                                 [](unsigned, unsigned) { return 0u; });
  trap.ending = Ending::trap;
  Experiment& every = add_program(family, "trap of every thread", {"  trap;"},
                                  [](unsigned, unsigned) { return 0u; });
  every.ending = Ending::trap;
  add_program(family, "trap of no thread", {R"(
  setp.gt.u32 %p0, %t, 4000;
  @%p0 trap;
  mov.u32 %r0, 1;)"},
              [](unsigned, unsigned) { return 1u; });
  // What it does without a debugger is open.
  add_program(family, "brkpt of no thread", {R"(
  setp.gt.u32 %p0, %t, 4000;
  @%p0 brkpt;
  mov.u32 %r0, 1;)"},
              [](unsigned, unsigned) { return 1u; });
  add_program(family, "nanosleep and pmevent", {R"(
  nanosleep.u32 10;
  nanosleep.u32 %lane;
  pmevent 1;
  mov.u32 %r0, 9;)"},
              [](unsigned, unsigned) { return 9u; });
}

/// Instructions of a warp in two branches, each with its own members.
void divided_warps(Family& family) {
  add_program(family, "shfl.sync in two branches", {R"(
  setp.lt.u32 %p0, %lane, 12;
  @%p0 bra LOW;
  shfl.sync.idx.b32 %r0, %t, 20, 31, 0xfffff000;
  bra END;
LOW:
  shfl.sync.idx.b32 %r0, %t, 3, 31, 0x00000fff;
END:)"},
              [](unsigned, unsigned t) { return t / 32 * 32 + (t % 32 < 12 ? 3 : 20); });
  add_program(family, "shfl.sync of one set from two branches", {R"(
  setp.lt.u32 %p0, %lane, 12;
  @%p0 bra LOW;
  shfl.sync.bfly.b32 %r0, %t, 16, 31, 0xffffffff;
  bra END;
LOW:
  add.u32 %r1, %t, 1000;
  shfl.sync.bfly.b32 %r0, %r1, 16, 31, 0xffffffff;
END:)"},
              [](unsigned, unsigned t) { return (t ^ 16) + (((t ^ 16) % 32) < 12 ? 1000 : 0); });
  add_program(family, "vote.sync in two branches", {R"(
  and.b32 %r1, %lane, 1;
  setp.eq.u32 %p0, %r1, 0;
  setp.lt.u32 %p1, %lane, 6;
  @%p0 bra EVEN;
  vote.sync.ballot.b32 %r0, %p1, 0xaaaaaaaa;
  bra END;
EVEN:
  vote.sync.ballot.b32 %r0, %p1, 0x55555555;
END:)"},
              [](unsigned, unsigned t) { return t % 2 ? 0x2au : 0x15u; });
  add_program(family, "bar.warp.sync after a branch", {R"(
  .shared .align 4 .b8 words[512];
  mov.u64 %l0, words;
  mul.wide.u32 %l1, %t, 4;
  add.s64 %l0, %l0, %l1;
  setp.lt.u32 %p0, %lane, 16;
  @%p0 bra LOW;
  st.shared.u32 [%l0], %t;
  bra JOIN;
LOW:
  add.u32 %r1, %t, 500;
  st.shared.u32 [%l0], %r1;
JOIN:
  bar.warp.sync 0xffffffff;
  xor.b32 %r2, %t, 31;
  mov.u64 %l0, words;
  mul.wide.u32 %l1, %r2, 4;
  add.s64 %l0, %l0, %l1;
  ld.shared.u32 %r0, [%l0];)"},
              [](unsigned, unsigned t) { return (t ^ 31) + ((t ^ 31) % 32 < 16 ? 500 : 0); });
  // A lane waits for another of its warp: hardware of sm_70 and later lets both go on.
  add_program(family, "a lane waits for another of its warp", {R"(
  .shared .align 4 .b32 flag;
  setp.eq.u32 %p0, %t, 0;
  @%p0 st.shared.u32 [flag], 0;
  bar.sync 0;
  setp.eq.u32 %p1, %t, 5;
  @%p1 bra GIVE;
WAIT:
  atom.acquire.cta.shared.add.u32 %r1, [flag], 0;
  setp.eq.u32 %p2, %r1, 0;
  @%p2 bra WAIT;
  bra END;
GIVE:
  atom.release.cta.shared.exch.b32 %r2, [flag], 1;
END:
  mov.u32 %r0, 6;)"},
              [](unsigned, unsigned) { return 6u; });
}

}  // namespace

Family control() {
  Family family{"control", {}, {}};
  branches(family);
  leaving(family);
  divided_warps(family);
  return family;
}

}  // namespace plumbline::ptx::conformance
