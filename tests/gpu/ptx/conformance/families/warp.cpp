// SPDX-License-Identifier: Apache-2.0
// Instructions of a warp: shfl, vote, match, redux, activemask, elect (sections 9.7.9.6 and 9.7.13
// of the PTX ISA). Members are the lanes that take part and those that have left.
#include <fmt/format.h>

#include "tests/gpu/ptx/conformance/families.hpp"

namespace plumbline::ptx::conformance {
namespace {

using enum Type;

/// The source lane of shfl, and whether it is in range.
int source_of(const std::string& mode, int lane, Bits b, Bits c, bool& in_range) {
  const int bval = b & 31, cval = c & 31, segmask = c >> 8 & 31;
  const int most = (lane & segmask) | (cval & ~segmask), least = lane & segmask;
  int j = 0;
  if (mode == "up") j = lane - bval, in_range = j >= most;
  if (mode == "down") j = lane + bval, in_range = j <= most;
  if (mode == "bfly") j = lane ^ bval, in_range = j <= most;
  if (mode == "idx") j = least | (bval & ~segmask), in_range = j <= most;
  return in_range ? j : lane;
}

void shuffles(Family& family) {
  for (const std::string mode : {"up", "down", "bfly", "idx"}) {
    // c as compilers give it: width 32, 16, ..., 1; and any.
    Operand c(b32, range(0, 0xffffffff));
    for (const Bits segments : {0, 16, 24, 28, 30, 31})
      for (const Bits clamp : {0, 31}) {
        c.domain.edges.push_back(segments << 8 | clamp);
        c.domain.edges.push_back(segments << 8 | clamp);
      }
    const Operand b(b32, Domain{range(0, 31).edges, [](Random& r) { return r() % 64; }});
    // A lane reads from itself where its source does not take part: that would be undefined.
    const ExpectWarp prepare = [=](Warp& warp) {
      for (int lane = 0; lane < 32; ++lane) {
        bool in_range = false;
        const int j = source_of(mode, lane, warp.a[1][lane], warp.a[2][lane], in_range);
        if (warp.has(j)) continue;
        warp.a[1][lane] = mode == "idx" ? lane : 0;
        warp.a[2][lane] = mode == "up" ? 0 : 31;
      }
    };
    const auto exchanged = [=](Warp& warp) {
      for (int lane = 0; lane < 32; ++lane) {
        bool in_range = false;
        const int j = source_of(mode, lane, warp.a[1][lane], warp.a[2][lane], in_range);
        warp.d[0][lane] = warp.a[0][j];
        if (warp.d.size() > 1) warp.d[1][lane] = in_range;
      }
    };
    Row& plain =
        family.add_warp(fmt::format("shfl.sync.{}.b32", mode), {b32}, {b32, b, c, b32}, exchanged);
    plain.mask_operand = 3;
    plain.prepare = prepare;
    Row& row = family.add_warp(fmt::format("shfl.sync.{}.b32 d|p", mode), {b32, u32},
                               {b32, b, c, b32}, exchanged);
    row.text =
        fmt::format("shfl.sync.{}.b32 %d0|%p0, %a0, %a1, %a2, %a3; selp.u32 %d1, 1, 0, %p0;", mode);
    row.mask_operand = 3;
    row.prepare = prepare;
  }
}

void votes(Family& family) {
  // All alike, or at random.
  const Operand choice(u32, range(0, 1));
  for (const std::string mode : {"all", "any", "uni", "ballot"})
    for (const bool negated : {false, true}) {
      Row& row = family.add_warp(
          fmt::format("vote.sync.{}{}", mode == "ballot" ? "ballot.b32" : mode + ".pred",
                      negated ? " !a" : ""),
          {u32}, {choice, b32}, [=](Warp& warp) {
            std::uint32_t ballot = 0;
            for (int lane = 0; lane < 32; ++lane)
              if (warp.has(lane))
                ballot |= std::uint32_t{(warp.a[0][lane] != 0) != negated} << lane;
            const bool all = ballot == warp.active, any = ballot != 0;
            warp.d[0].fill(mode == "ballot" ? ballot
                           : mode == "all"  ? all
                           : mode == "any"  ? any
                                            : all || !any);
          });
      row.text = fmt::format("setp.ne.u32 %p0, %a0, 0; ");
      if (mode == "ballot")
        row.text += fmt::format("vote.sync.ballot.b32 %d0, {}%p0, %a1;", negated ? "!" : "");
      else
        row.text += fmt::format("vote.sync.{}.pred %p1, {}%p0, %a1; selp.u32 %d0, 1, 0, %p1;", mode,
                                negated ? "!" : "");
      row.mask_operand = 1;
      row.prepare = [](Warp& warp) {
        // Every third warp is of one mind.
        if (warp.a[0][0] + warp.a[0][1] == 2) warp.a[0].fill(1);
        if (warp.a[0][0] + warp.a[0][1] == 0) warp.a[0].fill(0);
      };
    }
}

void matches(Family& family) {
  for (const Type t : {b32, b64}) {
    // Few values, which differ in one word alone.
    const Operand few(t, of(t == b32 ? std::vector<Bits>{0, 1, 0x80000000, 0xffffffff}
                                     : std::vector<Bits>{0, 1, Bits{1} << 32, ~Bits{0}}));
    Row& any = family.add_warp(fmt::format("match.any.sync.{}", name(t)), {b32}, {few, b32},
                               [](Warp& warp) {
                                 for (int lane = 0; lane < 32; ++lane) {
                                   warp.d[0][lane] = 0;
                                   for (int j = 0; j < 32; ++j)
                                     if (warp.has(j) && warp.a[0][j] == warp.a[0][lane])
                                       warp.d[0][lane] |= Bits{1} << j;
                                 }
                               });
    any.mask_operand = 1;
    for (const bool predicate : {false, true}) {
      Row& all =
          family.add_warp(fmt::format("match.all.sync.{}{}", name(t), predicate ? " d|p" : ""),
                          predicate ? std::vector<Type>{b32, u32} : std::vector<Type>{b32},
                          {few, b32}, [](Warp& warp) {
                            bool same = true;
                            for (int j = 0; j < 32; ++j)
                              for (int i = 0; i < 32; ++i)
                                if (warp.has(i) && warp.has(j) && warp.a[0][i] != warp.a[0][j])
                                  same = false;
                            warp.d[0].fill(same ? warp.active : 0);
                            if (warp.d.size() > 1) warp.d[1].fill(same);
                          });
      if (predicate)
        all.text =
            fmt::format("match.all.sync.{} %d0|%p0, %a0, %a1; selp.u32 %d1, 1, 0, %p0;", name(t));
      all.mask_operand = 1;
      all.prepare = [](Warp& warp) {
        if (warp.a[0][0] == warp.a[0][1]) warp.a[0].fill(warp.a[0][0]);
      };
    }
  }
}

void reductions(Family& family) {
  const auto add = [&](const std::string& form, Type t,
                       const std::function<Integer(Integer, Integer)>& f) {
    Row& row = family.add_warp(form, {t}, {t, b32}, [=](Warp& warp) {
      bool first = true;
      Integer result = 0;
      for (int lane = 0; lane < 32; ++lane) {
        if (!warp.has(lane)) continue;
        const Integer x = integer(t, warp.a[0][lane]);
        result = first ? x : f(result, x);
        first = false;
      }
      warp.d[0].fill(static_cast<Bits>(result));
    });
    row.mask_operand = 1;
  };
  for (const Type t : {u32, s32}) {
    add(fmt::format("redux.sync.add.{}", name(t)), t, [](Integer x, Integer y) { return x + y; });
    add(fmt::format("redux.sync.min.{}", name(t)), t,
        [](Integer x, Integer y) { return std::min(x, y); });
    add(fmt::format("redux.sync.max.{}", name(t)), t,
        [](Integer x, Integer y) { return std::max(x, y); });
  }
  add("redux.sync.and.b32", b32, [](Integer x, Integer y) { return x & y; });
  add("redux.sync.or.b32", b32, [](Integer x, Integer y) { return x | y; });
  add("redux.sync.xor.b32", b32, [](Integer x, Integer y) { return x ^ y; });
}

void masks(Family& family) {
  family.add_warp("activemask.b32", {b32}, {}, [](Warp& warp) { warp.d[0].fill(warp.active); })
      .text = "activemask.b32 %d0;";
  // Any member may lead: it is one that takes part, all know the same, and it alone is told so.
  Row& elect = family.add_warp("elect.sync", {u32, u32, u32}, {b32}, [](Warp& warp) {
    for (int k = 0; k < 3; ++k) warp.d[k].fill(1);
  });
  elect.target = Target::sm_90a;
  elect.mask_operand = 0;
  elect.text =
      "elect.sync %r0|%p0, %a0; activemask.b32 %r1; shr.u32 %r1, %r1, %r0; and.b32 %d0, %r1, 1; "
      "mov.u32 %r2, %laneid; setp.eq.u32 %p1, %r2, %r0; selp.u32 %r3, 1, 0, %p0; "
      "selp.u32 %r4, 1, 0, %p1; setp.eq.u32 %p2, %r3, %r4; selp.u32 %d1, 1, 0, %p2; "
      "redux.sync.min.u32 %r5, %r0, %a0; redux.sync.max.u32 %r6, %r0, %a0; "
      "setp.eq.u32 %p3, %r5, %r6; selp.u32 %d2, 1, 0, %p3;";
}

}  // namespace

Family warp() {
  Family family{"warp", {}, {}};
  shuffles(family);
  votes(family);
  matches(family);
  reductions(family);
  masks(family);
  return family;
}

}  // namespace plumbline::ptx::conformance
