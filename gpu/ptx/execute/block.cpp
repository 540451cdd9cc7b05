// SPDX-License-Identifier: Apache-2.0
// A block: its warps take turns; barriers; calls of functions.
#include <algorithm>
#include <cstring>

#include "ptx/execute/cluster.hpp"
#include "ptx/execute/control.hpp"
#include "ptx/execute/faults.hpp"
#include "ptx/execute/mbarrier.hpp"
#include "ptx/execute/order.hpp"
#include "ptx/execute/state.hpp"
#include "ptx/execute/warp_lanes.hpp"
#include "ptx/execute/wgmma.hpp"

namespace plumbline::ptx {
namespace {

const Allocation no_allocation;  // no address is in it

}  // namespace

Runner::Runner(LaunchState& state) : launch(state) {
  block.memory = state.memory;
  sites_.assign(state.kernel->sites + 1, &no_allocation);
  block.sites = sites_.data();
  block.parameters = state.parameters;
  block.parameter_bytes = state.parameter_bytes;
  block.size = state.launch.block;
  block.grid = state.launch.grid;
  block.variation = state.options.variation;
  block.check = state.options.check;
  block.runner = this;
  tallies.resize(state.kernel->profiled.size());
  block.tallies = tallies.data();
  block.mbarriers = std::make_shared<MBarriers>();
  SharedMemory& shared = block.shared;
  shared.size = state.shared_bytes;
  if (state.kernel->fixed_granules) shared.granule = state.kernel->granule;
  shared_.resize(shared.size + 64);
  shared.bytes = shared_.data();
  if (block.check) {
    // Room for granules of one byte; of what is not used, the host gives no pages.
    const std::size_t granules = ((std::size_t{shared.size} >> shared.granule) + 1)
                                 << shared.granule;
    for (Bytes* bytes : {&written_, &read_, &written_by_}) bytes->resize(4 * granules);
    shared.written = reinterpret_cast<std::uint32_t*>(written_.data());
    shared.read = reinterpret_cast<std::uint32_t*>(read_.data());
    shared.written_by = reinterpret_cast<std::uint32_t*>(written_by_.data());
    lanes_.resize(8 * granules);
    shared.lanes = reinterpret_cast<std::uint64_t*>(lanes_.data());
    clear_stamps();
  }
  const std::uint32_t threads = block.size.x * block.size.y * block.size.z;
  for (std::uint32_t i = 0; i < (threads + 31) / 32; ++i) {
    warps.push_back(std::make_unique<WarpState>());
    warps.back()->index = i;
    warps.back()->block = &block;
  }
  const Order order(warps.size(), block.variation.order_seed);
  for (std::size_t i = 0; i < warps.size(); ++i) turns.push_back(warps[order[i]].get());
}

void Runner::clear_stamps() {
  if (!block.check) return;
  const SharedMemory& shared = block.shared;
  const std::size_t bytes = 4 * ((std::size_t{shared.size} >> shared.granule) + 1);
  std::memset(shared.written, 0, bytes);
  std::memset(shared.read, 0, bytes);
  std::memset(shared.lanes, 0, 2 * bytes);
}

void Runner::begin(const Extent& index) {
  block.index = index;
  block.left = false;
  running_ = nullptr;
  block.mbarriers->all.clear();
  std::memset(shared_.data(), 0xff, block.shared.size);
  if (block.warpgroups) block.warpgroups->clear(block.shared);
  // Stamps of earlier blocks are below this one's first.
  SharedMemory& shared = block.shared;
  if (shared.epoch >= (in_flight >> 9)) shared.epoch = 0;
  if (shared.epoch == 0 || shared.special) clear_stamps();
  shared.special = false;
  ++shared.epoch;
  const bool asks = launch.options.uninitialised == Options::Uninitialised::stop;
  shared.begin = asks ? shared.epoch << 8 : 0;
  ++shared.epoch;  // so that what several warps have written has a stamp before the first barrier
  shared.barrier = shared.floor = shared.epoch;
  shared.by_warps = block.check && block.cluster->blocks.size() == 1;
  for (Barrier& barrier : barriers) barrier = Barrier{};
  const std::uint32_t threads = block.size.x * block.size.y * block.size.z;
  const Program& program = *launch.kernel->entry;
  for (auto& one : warps) {
    WarpState& warp = *one;
    const std::uint32_t first = 32 * warp.index;
    warp.live = threads - first >= 32 ? ~0u : (1u << (threads - first)) - 1;
    warp.done = warp.spins = false;
    warp.polls = 0;
    if (block.check)
      for (const Copy& copy : warp.copies)  // of the block before, which nobody waited for
        for (std::uint32_t i = 0; i < copy.bytes >> shared.granule; ++i)
          shared.written[(copy.to >> shared.granule) + i] = 0;
    warp.copies.clear();
    std::fill(std::begin(warp.committed), std::end(warp.committed), 0);
    std::fill(std::begin(warp.bulk_committed), std::end(warp.bulk_committed), 0);
    warp.known = {};
    std::fill(std::begin(warp.known.after), std::end(warp.known.after), shared.epoch);
    warp.stores = warp.synced = warp.store_epoch = 0;
    warp.fences = warp.fence_epoch = warp.cluster_arrived = warp.cluster_passed = 0;
    warp.frames.clear();
    warp.local_stride = program.local_bytes;
    if (const std::size_t wanted = 32 * std::size_t{warp.local_stride};
        warp.local_bytes.size() < wanted) {
      block.cluster->take(wanted);
      warp.local_bytes.resize(wanted);
    }
    warp.local = warp.local_bytes.data();
    enter(warp, program, warp.live, 0);
  }
}

void Runner::enter(WarpState& warp, const Program& program, std::uint32_t mask,
                   std::uint32_t local_frame) {
  const std::size_t depth = warp.frames.size();
  if (warp.files.size() <= depth) warp.files.resize(depth + 1);
  Bytes& file = warp.files[depth];
  bool fresh = depth > 0 || warp.prepared != &program;
  if (file.size() < program.bytes) {
    block.cluster->take(program.bytes);
    file.resize(program.bytes);
    fresh = true;
  }
  if (fresh) std::memset(file.data(), 0, program.bytes);
  if (depth == 0) warp.prepared = &program;
  prepare_registers(*this, warp, program, file.data(), local_frame, fresh);
  Frame frame;
  frame.program = &program;
  frame.registers = file.data();
  frame.local_frame = local_frame;
  frame.mask = mask;
  frame.fragments.push_back({0, mask, Fragment::State::ready, 0, false, warp.live});
  warp.frames.push_back(std::move(frame));
}

void Runner::new_epoch() {
  next_epoch();
  SharedMemory& shared = block.shared;
  shared.barrier = shared.epoch;
  if (!shared.by_warps) shared.floor = shared.epoch;
}

Known Runner::arrival(const Warp& warp) {
  if (block.shared.by_warps) next_epoch();
  Known known = warp.known;
  known.after[warp.index] = block.shared.epoch;
  return known;
}

void Runner::find_floor(const Warp& warp) {
  SharedMemory& shared = block.shared;
  if (!shared.by_warps) return;
  shared.floor = shared.epoch;
  for (const auto& other : warps)
    if (other->index != warp.index)
      shared.floor = std::min(shared.floor, warp.known.after[other->index]);
}

void Runner::next_epoch() {
  SharedMemory& shared = block.shared;
  if (++shared.epoch < (in_flight >> 8) - 1) return;
  // What was written stays initialised.
  shared.epoch = 2;
  if (block.check)
    for (std::size_t i = 0; i <= shared.size >> shared.granule; ++i) {
      const std::uint32_t by = shared.written[i];
      shared.written[i] = by < shared.begin ? 0 : by < in_flight ? 1 << 8 : by;
      if (shared.read[i] < in_flight) shared.read[i] = 0;
    }
  if (shared.begin) shared.begin = 1 << 8;
  shared.barrier = shared.floor = shared.epoch;
  if (block.warpgroups) block.warpgroups->forget_readings();
  // All that has happened is in order then.
  for (const auto& warp : warps)
    std::fill(std::begin(warp->known.after), std::end(warp->known.after), shared.epoch);
  for (Barrier& barrier : barriers)
    std::fill(std::begin(barrier.known.after), std::end(barrier.known.after), 0);
  for (auto& [at, barrier] : block.mbarriers->all) {
    std::fill(std::begin(barrier.arriving.after), std::end(barrier.arriving.after), 0);
    std::fill(std::begin(barrier.done.after), std::end(barrier.done.after), 0);
    barrier.epoch = 0;
  }
}

void Runner::arrive(WarpState& warp, const Operation& o, std::uint32_t mask) {
  const auto lane = static_cast<std::uint32_t>(__builtin_ctz(mask));
  const auto value = [&](std::uint32_t offset) {
    return reinterpret_cast<const std::uint32_t*>(warp.registers + offset)[lane];
  };
  const std::uint32_t number = value(o.a);
  Barrier& barrier = barriers[number];
  const bool counted = o.flags & barrier_counted;
  std::uint32_t expected = 0;
  if (counted) {
    expected = value(o.b);
    if (expected == 0 || expected % 32 != 0)
      fault(warp, o, lane, Fault::Kind::bad_instruction,
            "a barrier of " + std::to_string(expected) +
                " threads: the count must be a multiple of 32 and not 0");
  }
  if (!barrier.in_use) {
    barrier = Barrier{};
    barrier.in_use = true;
    barrier.counted = counted;
    barrier.expected = expected;
    barrier.operation = static_cast<std::uint32_t>(&o - warp.operations);
    barrier.warp = warp.index;
  } else if (barrier.counted != counted || barrier.expected != expected) {
    fault(warp, o, lane, Fault::Kind::barrier,
          "barrier " + std::to_string(number) + " is waited for with " +
              (counted ? std::to_string(expected) + " threads" : "all threads") + ", but by warp " +
              std::to_string(barrier.warp) + " with " +
              (barrier.counted ? std::to_string(barrier.expected) + " threads" : "all threads"));
  }
  if (barrier.lanes[warp.index] == 0) barrier.arrived += 32 - count_of(warp.live);
  barrier.lanes[warp.index] |= mask;
  barrier.known.add(arrival(warp));
  barrier.arrived += count_of(mask);
  if (o.flags & (barrier_popc | barrier_and | barrier_or)) {
    const std::uint32_t p = *reinterpret_cast<const std::uint32_t*>(warp.registers + o.c) ^
                            static_cast<std::uint32_t>(o.immediate);
    barrier.popc += count_of(p & mask);
    barrier.any |= (p & mask) != 0;
    barrier.all &= (p & mask) == mask;
  }
}

void Runner::check_barrier(std::uint32_t number) {
  Barrier& barrier = barriers[number];
  if (!barrier.in_use) return;
  if (barrier.counted) {
    if (barrier.arrived >= barrier.expected) release(number);
    return;
  }
  for (const auto& warp : warps)
    if ((barrier.lanes[warp->index] & warp->live) != warp->live) return;
  release(number);
}

void Runner::release(std::uint32_t number) {
  const Barrier barrier = barriers[number];
  barriers[number] = Barrier{};
  new_epoch();
  // Where every warp waits here, none has done anything since it arrived: all is in order before
  // what comes, and the checks of it have one floor.
  const bool all_wait =
      block.shared.by_warps && std::ranges::all_of(warps, [&](const auto& warp) {
        if (warp->frames.empty()) return false;
        std::uint32_t waiting = 0;
        for (const Fragment& fragment : warp->frames.back().fragments)
          if (fragment.state == Fragment::State::blocked && fragment.barrier == number)
            waiting |= fragment.mask;
        return (warp->live & ~waiting) == 0;
      });
  for (auto& warp : warps) {
    if (!barrier.lanes[warp->index] || warp->frames.empty()) continue;
    Frame& frame = warp->frames.back();
    for (Fragment& fragment : frame.fragments) {
      if (fragment.state != Fragment::State::blocked || fragment.barrier != number) continue;
      fragment.state = Fragment::State::ready;
      warp->known.add(barrier.known);
      const Operation& o = frame.program->operations[fragment.pc - 1];
      if (o.flags & barrier_popc) {
        auto* d = reinterpret_cast<std::uint32_t*>(frame.registers + o.d);
        for (std::uint32_t i = 0; i < 32; ++i)
          if (fragment.mask >> i & 1) d[i] = barrier.popc;
      } else if (o.flags & (barrier_and | barrier_or)) {
        auto& p = *reinterpret_cast<std::uint32_t*>(frame.registers + o.d);
        const bool is = o.flags & barrier_and ? barrier.all : barrier.any;
        p = is ? p | fragment.mask : p & ~fragment.mask;
      }
    }
  }
  if (all_wait)
    for (auto& warp : warps)
      std::fill(std::begin(warp->known.after), std::end(warp->known.after), block.shared.epoch);
  if (running_) find_floor(*running_);
}

Runner::Progress Runner::go_on() {
  for (;;) {
    bool all_done = true, moved = false, spins = false;
    for (WarpState* warp : turns) {
      if (warp->done) continue;
      const std::uint64_t before = counts.warp_instructions;
      const Stop stop = run(*warp);
      if (stop == Stop::done) {
        check_left(*warp);
        for (std::uint32_t i = 0; i < 16; ++i) check_barrier(i);
        block.cluster->check_barrier();
      }
      warp->spins = stop == Stop::spins;
      spins |= warp->spins;
      moved |= !warp->spins && (stop == Stop::done || counts.warp_instructions != before);
      all_done &= warp->done;
    }
    if (all_done) {
      if (block.warpgroups) block.warpgroups->end(*warps.front());
      block.left = true;
      return Progress::done;
    }
    for (auto& warp : warps)
      if (!warp->done) {
        check_time(*warp);
        break;
      }
    if (moved && block.cluster->blocks.size() > 1 &&
        others_run_here(block.variation.order_seed, counts.warp_instructions << 8 | block.rank)) {
      ++block.cluster->events;
      return Progress::waits;
    }
    if (moved) continue;
    if (spins || waits_for_cluster()) return Progress::waits;
    deadlock();
  }
}

bool Runner::waits_for_cluster() const {
  for (const auto& warp : warps) {
    if (warp->done) continue;
    for (const Fragment& fragment : warp->frames.back().fragments)
      if (fragment.state == Fragment::State::blocked && fragment.barrier == cluster_barrier)
        return true;
  }
  return false;
}

}  // namespace plumbline::ptx
