// SPDX-License-Identifier: Apache-2.0
// Lanes of one member mask that execute the same exchange in different branches.
#include <cstring>

#include "ptx/execute/exchange.hpp"
#include "ptx/execute/state.hpp"
#include "ptx/execute/wgmma.hpp"

namespace plumbline::ptx {
namespace {

/// Bytes of a lane in the registers of an exchange; 0: not there.
struct Shape {
  unsigned a = 0, b = 0, c = 0, d = 0;
  bool of_predicate = false, to_predicate = false;  ///< a; d
};

Shape shape_of(const Program& program, const Operation& o) {
  const Run run = run_of(program, o);
  if (run == warp_barrier) return {};
  if (run == elect) return {.d = o.d == ~0u ? 0u : 4u};
  if (run == shuffle) return {.a = 4, .b = 4, .c = 4, .d = 4};
  if (run == match_any_64 || run == match_all_64) return {.a = 8, .d = 4};
  if (run != vote) return {.a = 4, .d = 4};
  const bool ballot = static_cast<Vote>(o.immediate & 0xff) == Vote::ballot;
  return {.d = ballot ? 4u : 0u, .of_predicate = true, .to_predicate = !ballot};
}

/// The same instruction with the same qualifiers: the high word only turns the operand of a vote.
bool alike(const Program& program, const Operation& a, const Operation& b) {
  return b.flags & waits_for_lanes && run_of(program, a) == run_of(program, b) &&
         static_cast<std::uint32_t>(a.immediate) == static_cast<std::uint32_t>(b.immediate);
}

void copy_lanes(std::byte* to, std::uint32_t d, const std::byte* from, std::uint32_t a,
                unsigned bytes, std::uint32_t mask) {
  for (std::uint32_t rest = bytes ? mask : 0; rest; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(__builtin_ctz(rest));
    std::memcpy(to + d + lane * bytes, from + a + lane * bytes, bytes);
  }
}

void copy_predicate(std::byte* to, std::uint32_t d, const std::byte* from, std::uint32_t a,
                    std::uint32_t turn, std::uint32_t mask) {
  std::uint32_t target = 0, source = 0;
  std::memcpy(&target, to + d, 4);
  std::memcpy(&source, from + a, 4);
  target = (target & ~mask) | ((source ^ turn) & mask);
  std::memcpy(to + d, &target, 4);
}

}  // namespace

/// Executes an exchange that lanes wait for with those of all fragments that wait for one like it:
/// "all non-exited threads corresponding to membermask have executed [it] with the same qualifiers
/// and same membermask value" (PTX ISA, shfl.sync and others). False: nobody gets on.
bool Runner::join(WarpState& warp) {
  Frame& frame = warp.frames.back();
  std::vector<Fragment>& all = frame.fragments;
  const Program& program = *frame.program;
  const auto& operations = program.operations;
  const auto waits = [&](const Fragment& one) {
    return one.state == Fragment::State::waiting && operations[one.pc].flags & waits_for_lanes;
  };
  warp.program = &program;
  warp.operations = operations.data();
  warp.lists = program.lists.data();
  warp.local_frame = frame.local_frame;
  /// How many are asked for: each may be left out.
  const auto results = [&](const Operation& o) {
    return (o.d != ~0u) + (warp.lists[o.list] != ~0u);
  };
  Bytes file;
  for (std::size_t first = 0; first < all.size(); ++first) {
    if (!waits(all[first])) continue;
    std::vector<std::size_t> together;
    std::uint32_t mask = 0, lead = all[first].pc;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (waits(all[i]) && alike(program, operations[all[first].pc], operations[all[i].pc])) {
        together.push_back(i);
        mask |= all[i].mask;
        if (results(operations[all[i].pc]) > results(operations[lead])) lead = all[i].pc;
      }
    if (together.size() < 2 || together[0] != first) continue;
    const Operation& o = operations[lead];
    const Shape shape = shape_of(program, o);

    // The registers of `o`, with the other lanes' operands, in a file of its own.
    file.resize(program.bytes);
    std::byte* const joint = file.data();
    std::memcpy(joint, frame.registers, program.bytes);
    for (const std::size_t i : together) {
      const Operation& other = operations[all[i].pc];
      const std::uint32_t lanes = all[i].mask;
      copy_lanes(joint, o.target, frame.registers, other.target, 4, lanes);
      copy_lanes(joint, o.a, frame.registers, other.a, shape.a, lanes);
      copy_lanes(joint, o.b, frame.registers, other.b, shape.b, lanes);
      copy_lanes(joint, o.c, frame.registers, other.c, shape.c, lanes);
      if (shape.of_predicate)
        copy_predicate(joint, o.a, frame.registers, other.a,
                       static_cast<std::uint32_t>((o.immediate ^ other.immediate) >> 32), lanes);
    }
    warp.registers = joint;
    warp.mask = mask;
    const std::uint32_t left = o.run(warp, o) == Outcome::wait ? warp.mask : 0;
    warp.registers = frame.registers;
    if (left == mask) continue;

    for (const std::size_t i : together) {
      const Operation& other = operations[all[i].pc];
      const std::uint32_t done = all[i].mask & ~left;
      if (other.d != ~0u) copy_lanes(frame.registers, other.d, joint, o.d, shape.d, done);
      if (shape.to_predicate) copy_predicate(frame.registers, other.d, joint, o.d, 0, done);
      const std::uint32_t p = warp.lists[o.list], other_p = warp.lists[other.list];
      if (other_p != ~0u && p != ~0u) copy_predicate(frame.registers, other_p, joint, p, 0, done);
      all[i].mask &= ~done;
      if (done == 0) continue;
      if (all[i].mask == 0) {
        all[i].mask = done;
        ++all[i].pc;
        all[i].state = Fragment::State::ready;
      } else {
        all.push_back({all[i].pc + 1, done, Fragment::State::ready, 0, false, warp.live});
      }
    }
    return true;
  }
  return false;
}

}  // namespace plumbline::ptx
