// SPDX-License-Identifier: Apache-2.0
// The loop that executes a warp's operations, and how its fragments take turns.
#include <algorithm>

#include "ptx/execute/cluster.hpp"
#include "ptx/execute/control.hpp"
#include "ptx/execute/faults.hpp"
#include "ptx/execute/state.hpp"
#include "ptx/execute/warp_lanes.hpp"

namespace plumbline::ptx {
namespace {

constexpr std::int64_t slice_operations = 1 << 16;  ///< of a warp, before others run
constexpr std::uint32_t never = ~0u;

std::uint32_t& predicate(std::byte* registers, std::uint32_t offset) {
  return *reinterpret_cast<std::uint32_t*>(registers + offset);
}

}  // namespace

/// Puts the fragment that runs next to the front: the one with the lowest pc of those that are
/// ready, joined with all at the same pc. `stop`: the next pc at which another one stands. False:
/// none is ready.
bool Runner::choose(WarpState& warp, std::uint32_t& stop) {
  std::vector<Fragment>& all = warp.frames.back().fragments;
  stop = never;
  std::size_t best = all.size();
  for (int round = 0; best == all.size(); ++round) {
    if (round >= 2 && !join(warp)) return false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      Fragment& one = all[i];
      if (round == 1) {  // all spin, or wait: for lanes that have left since?
        one.deferred = false;
        if (one.state == Fragment::State::waiting && one.live != warp.live)
          one.state = Fragment::State::ready;
      }
      if (one.state == Fragment::State::ready && !one.deferred &&
          (best == all.size() || one.pc < all[best].pc))
        best = i;
    }
  }
  std::swap(all[0], all[best]);
  for (std::size_t i = 1; i < all.size();) {
    if (all[i].pc == all[0].pc && all[i].state != Fragment::State::blocked) {
      all[0].mask |= all[i].mask;
      all[i] = all.back();
      all.pop_back();
    } else {
      if (all[i].pc > all[0].pc && all[i].state != Fragment::State::blocked)
        stop = std::min(stop, all[i].pc);
      ++i;
    }
  }
  return true;
}

Runner::Stop Runner::run(WarpState& w) {
  std::int64_t left = slice_operations;
  std::uint64_t lanes = 0;
  running_ = &w;
  find_floor(w);
  const auto account = [&] {
    counts.warp_instructions += static_cast<std::uint64_t>(slice_operations - left);
    counts.thread_instructions += lanes;
    left = slice_operations;
    lanes = 0;
  };
  for (;;) {  // once for each fragment that is chosen
    if (w.frames.empty()) {
      account();
      w.done = true;
      return Stop::done;
    }
    Frame* frame = &w.frames.back();
    if (frame->fragments.empty()) {
      leave(w);
      continue;
    }
    std::uint32_t stop = never;
    if (!choose(w, stop)) {
      account();
      for (const Fragment& fragment : frame->fragments)
        if (fragment.state == Fragment::State::blocked) return Stop::blocked;
      stuck(w);
    }
    w.registers = frame->registers;
    w.program = frame->program;
    w.operations = frame->program->operations.data();
    w.lists = frame->program->lists.data();
    w.local_frame = frame->local_frame;
    std::byte* const registers = frame->registers;
    const Operation* const operations = w.operations;
    std::uint32_t pc = frame->fragments[0].pc, active = frame->fragments[0].mask;
    const auto keep = [&] {
      frame->fragments[0].pc = pc;
      frame->fragments[0].mask = active;
    };
    /// The lanes `mask` of the running fragment stand at `there`, and no longer in it.
    const auto split = [&](std::uint32_t mask, std::uint32_t there, Fragment::State state,
                           std::uint32_t barrier = 0) {
      active &= ~mask;
      frame->fragments.push_back(
          {there, mask, state, static_cast<std::uint8_t>(barrier), false, w.live});
    };
    const auto drop_if_empty = [&] {
      keep();
      if (active == 0) {
        frame->fragments[0] = frame->fragments.back();
        frame->fragments.pop_back();
      }
    };
    for (bool chosen = true; chosen;) {
      const Operation& o = operations[pc];
      const std::uint32_t m = active & (predicate(registers, o.guard) ^ o.negate);
      --left;
      lanes += count_of(m);
      if (o.flow == Flow::plain) {
        ++pc;
        if (m) {
          w.mask = m;
          const Outcome outcome = o.run(w, o);
          if (outcome != Outcome::next) [[unlikely]] {
            if (outcome == Outcome::wait) {
              // Lanes that are no longer in the mask have executed it.
              split(w.mask, pc - 1, Fragment::State::waiting);
              drop_if_empty();
              break;
            }
            if (outcome == Outcome::again) --pc;
            keep();
            frame->fragments[0].deferred = true;
            account();
            return Stop::spins;
          }
        }
        if (pc < stop) continue;
        keep();
        break;
      }
      switch (o.flow) {
        case Flow::branch:
          if (m == active) {
            const bool back = o.target <= pc;
            pc = o.target;
            if (back && left < 0) {
              keep();
              frame->fragments[0].deferred = true;
              account();
              check_time(w);
              return Stop::slice;
            }
          } else if (m == 0) {
            ++pc;
          } else {
            split(m, o.target, Fragment::State::ready);
            ++pc;
          }
          if (frame->fragments.size() > 1) {
            keep();
            chosen = false;
          }
          break;
        case Flow::branch_table:
          keep();
          {
            const auto* index = reinterpret_cast<const std::uint32_t*>(registers + o.a);
            const auto& table = w.program->branch_tables[o.list];
            ++pc;
            for (std::uint32_t rest = m; rest;) {
              const auto lane = static_cast<std::uint32_t>(__builtin_ctz(rest));
              if (index[lane] >= table.size()) {
                w.mask = m;
                fault(w, o, lane, Fault::Kind::bad_instruction,
                      "brx.idx takes entry " + std::to_string(index[lane]) + " of a table of " +
                          std::to_string(table.size()));
              }
              std::uint32_t same = 0;
              for (std::uint32_t i = lane; i < 32; ++i)
                if (rest >> i & 1 && index[i] == index[lane]) same |= 1u << i;
              split(same, table[index[lane]], Fragment::State::ready);
              rest &= ~same;
            }
            drop_if_empty();
          }
          chosen = false;
          break;
        case Flow::exit:
          w.live &= ~m;
          for (Frame& one : w.frames)
            if (&one != frame)
              for (Fragment& fragment : one.fragments) fragment.mask &= ~m;
          [[fallthrough]];
        case Flow::leave:
          active &= ~m;
          ++pc;
          if (active == 0 || frame->fragments.size() > 1) {
            drop_if_empty();
            chosen = false;
          }
          break;
        case Flow::call:
          ++pc;
          if (m) {
            keep();
            w.mask = m;
            call(w, o, m, pc);
            chosen = false;
          }
          break;
        case Flow::barrier:
        case Flow::cluster:
          ++pc;
          if (m == 0) break;
          w.mask = m;
          if (o.flags & barrier_aligned && m != active)
            fault(w, o, static_cast<std::uint32_t>(__builtin_ctz(m)), Fault::Kind::divergent,
                  std::to_string(count_of(active & ~m)) + " lanes of warp " +
                      std::to_string(w.index) + " pass by this barrier, at which " +
                      std::to_string(count_of(m)) + " wait");
          if (o.flags & barrier_aligned && m != w.live) {
            split(m, pc - 1, Fragment::State::waiting);
            drop_if_empty();
            chosen = false;
            break;
          }
          if (o.flow == Flow::cluster) {
            Cluster& cluster = *block.cluster;
            if (o.flags & barrier_arrive) {
              keep();
              cluster.arrive(w, o, m);
            } else if (!cluster.wait(w, o, m)) {
              split(m, pc, Fragment::State::blocked, cluster_barrier);
              drop_if_empty();
              chosen = false;
            }
            break;
          }
          {
            const std::uint32_t number =
                reinterpret_cast<const std::uint32_t*>(registers + o.a)[__builtin_ctz(m)];
            if (number > 15)
              fault(w, o, static_cast<std::uint32_t>(__builtin_ctz(m)),
                    Fault::Kind::bad_instruction,
                    "barrier " + std::to_string(number) + " does not exist: there are 16");
            if (o.flags & barrier_arrive) {
              keep();
              arrive(w, o, m);
              check_barrier(number);
              break;
            }
            split(m, pc, Fragment::State::blocked, number);
            drop_if_empty();
            arrive(w, o, m);
            check_barrier(number);
          }
          chosen = false;
          break;
        default:
          break;
      }
      if (chosen && pc >= stop) {
        keep();
        break;
      }
    }
    if (left < 0) {
      account();
      check_time(w);
    }
  }
}

}  // namespace plumbline::ptx
