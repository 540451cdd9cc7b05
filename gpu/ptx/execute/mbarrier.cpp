// SPDX-License-Identifier: Apache-2.0
#include "ptx/execute/mbarrier.hpp"

#include <cstring>

#include "ptx/execute/cluster.hpp"
#include "ptx/execute/distributed.hpp"
#include "ptx/execute/faults.hpp"
#include "ptx/execute/memory_flags.hpp"
#include "ptx/execute/order.hpp"
#include "ptx/execute/warp_lanes.hpp"

namespace plumbline::ptx {
namespace {

constexpr std::uint32_t most = (1 << 20) - 1;  ///< arrivals, and bytes that are expected

[[noreturn]] void bad(Warp& w, const Operation& o, std::uint32_t lane, const std::string& text) {
  fault(w, o, lane, Fault::Kind::bad_instruction, text);
}

std::string named(const Warp& w, const Block& block, std::uint32_t at) {
  return "the mbarrier at byte " + std::to_string(at) + " of shared memory" +
         (&block == w.block ? "" : " of block " + std::to_string(block.rank) + " of the cluster");
}

SharedPlace place_of(Warp& w, const Operation& o, std::uint32_t lane) {
  std::uint64_t address = static_cast<std::uint64_t>(o.immediate);
  if (o.flags & memory_wide)
    address += lanes_of<std::uint64_t>(w, o.a)[lane];
  else
    address = static_cast<std::uint32_t>(address + lanes_of<std::uint32_t>(w, o.a)[lane]);
  if (address % 8 != 0) fault_misaligned(w, o, lane, address, 8);
  return shared_place(w, o, lane, address, o.c & memory_space, 8);
}

/// Ends the phase where nothing is missing any more.
void check_phase(Warp& w, MBarrier& barrier) {
  if (barrier.pending != 0 || barrier.transactions != 0) return;
  ++barrier.phase;
  barrier.pending = barrier.expected;
  barrier.done.add(barrier.arriving);
  barrier.arriving = {};
  barrier.transfer = ~0u;
  w.block->cluster->new_epoch();
}

void add_transactions(Warp& w, const Operation& o, std::uint32_t lane, const Block& block,
                      std::uint32_t at, MBarrier& barrier, std::int64_t bytes) {
  const std::int64_t now = barrier.transactions + bytes;
  if (now > most || now < -static_cast<std::int64_t>(most))
    bad(w, o, lane,
        named(w, block, at) + " would wait for " + std::to_string(now) +
            " bytes: its transaction count goes from -(2^20 - 1) to 2^20 - 1");
  barrier.transactions = static_cast<std::int32_t>(now);
  ++w.block->cluster->events;
}

void arrive(Warp& w, const Operation& o, std::uint32_t lane, const Block& block, std::uint32_t at,
            MBarrier& barrier, std::uint32_t count) {
  if (count == 0 || count > barrier.pending)
    bad(w, o, lane,
        std::to_string(count) + " arrivals at " + named(w, block, at) + ", whose phase waits for " +
            std::to_string(barrier.pending) + " more of " + std::to_string(barrier.expected));
  barrier.pending -= count;
  ++w.block->cluster->events;
}

}  // namespace

MBarrier& mbarrier_at(Warp& w, const Operation& o, std::uint32_t lane, Block& block,
                      std::uint32_t at) {
  auto& all = block.mbarriers->all;
  const auto found = all.find(at);
  if (found == all.end())
    bad(w, o, lane, named(w, block, at) + " has not been initialised (mbarrier.init)");
  MBarrier& barrier = found->second;
  if (!block.check) return barrier;
  if (&block == w.block) {
    if (!in_order(w, block.shared, w.index, barrier.epoch << 8 | barrier.warp))
      fault(w, o, lane, Fault::Kind::race,
            named(w, block, at) + " was initialised by warp " + std::to_string(barrier.warp) +
                "; no barrier is between them");
  } else if (barrier.visible_from > block.cluster->phase) {
    fault(w, o, lane, Fault::Kind::race,
          named(w, block, at) +
              " is used before its initialisation is visible there: mbarrier.init, "
              "fence.mbarrier_init.release.cluster and barrier.cluster come before");
  }
  return barrier;
}

std::uint32_t transfer_of(Block& block, std::uint32_t at, MBarrier& barrier) {
  if (barrier.transfer == ~0u) {
    barrier.transfer = block.cluster->transfers.begin(*block.cluster, at);
    barrier.arriving.add(barrier.transfer);
  }
  return barrier.transfer;
}

void mbarrier_came(Warp& w, const Operation& o, std::uint32_t lane, Block& block, std::uint32_t at,
                   std::uint32_t bytes) {
  MBarrier& barrier = mbarrier_at(w, o, lane, block, at);
  add_transactions(w, o, lane, block, at, barrier, -static_cast<std::int64_t>(bytes));
  check_phase(w, barrier);
}

Outcome mbarrier_init(Warp& w, const Operation& o) {
  Block& block = *w.block;
  SharedMemory& s = block.shared;
  for_lanes(w, [&](std::uint32_t lane) {
    const SharedPlace place = place_of(w, o, lane);
    const std::uint32_t count = lanes_of<std::uint32_t>(w, o.b)[lane];
    if (count == 0 || count > most)
      bad(w, o, lane, "an mbarrier of " + std::to_string(count) + " arrivals: 1 to 2^20 - 1");
    if (block.mbarriers->all.count(place.at))
      bad(w, o, lane, named(w, block, place.at) + " is initialised already (mbarrier.inval)");
    const auto operation = static_cast<std::uint32_t>(&o - w.operations);
    mbarrier_lies(w, o, lane, place.at);
    MBarrier& barrier = block.mbarriers->all[place.at];
    barrier.expected = barrier.pending = count;
    barrier.epoch = s.epoch;
    barrier.warp = w.index;
    barrier.operation = operation;
    ++block.cluster->events;
  });
  return Outcome::next;
}

Outcome mbarrier_inval(Warp& w, const Operation& o) {
  Block& block = *w.block;
  SharedMemory& s = block.shared;
  for_lanes(w, [&](std::uint32_t lane) {
    const SharedPlace place = place_of(w, o, lane);
    mbarrier_at(w, o, lane, block, place.at);
    block.mbarriers->all.erase(place.at);
    std::memset(s.bytes + place.at, 0xff, 8);
    if (!block.check) return;
    for (std::uint32_t j = place.at >> s.granule; j < (place.at + 8) >> s.granule; ++j)
      s.written[j] = s.epoch << 8 | w.index;
  });
  return Outcome::next;
}

Outcome mbarrier_arrive(Warp& w, const Operation& o) {
  w.synced = w.stores;  // who waits for the phase sees them
  const Known known = w.block->runner->arrival(w);
  for_lanes(w, [&](std::uint32_t lane) {
    const SharedPlace place = place_of(w, o, lane);
    MBarrier& barrier = mbarrier_at(w, o, lane, *place.block, place.at);
    const std::uint32_t b = lanes_of<std::uint32_t>(w, o.b)[lane];
    const std::uint32_t count = o.flags & mbarrier_expects ? 1 : b;
    if (o.d != ~0u)
      lanes_of<std::uint64_t>(w, o.d)[lane] =
          barrier.phase | static_cast<std::uint64_t>(barrier.pending) << 32;
    barrier.arriving.add_order(known);
    if (!(o.flags & mbarrier_relaxed)) barrier.arriving.add(known);
    if (o.flags & mbarrier_expects)
      add_transactions(w, o, lane, *place.block, place.at, barrier, b);
    if (o.flags & mbarrier_no_complete && count >= barrier.pending)
      bad(w, o, lane,
          "an arrival with .noComplete that would complete the phase of " +
              named(w, *place.block, place.at));
    arrive(w, o, lane, *place.block, place.at, barrier, count);
    if (o.flags & mbarrier_drops) barrier.expected -= count;
    check_phase(w, barrier);
  });
  // Who waited for it may be faster than what this warp does next.
  return others_run_here(w.block->variation.order_seed,
                         std::uint64_t{w.block->shared.epoch} << 8 | w.index)
             ? Outcome::spin
             : Outcome::next;
}

Outcome mbarrier_expect(Warp& w, const Operation& o) {
  for_lanes(w, [&](std::uint32_t lane) {
    const SharedPlace place = place_of(w, o, lane);
    MBarrier& barrier = mbarrier_at(w, o, lane, *place.block, place.at);
    add_transactions(w, o, lane, *place.block, place.at, barrier,
                     lanes_of<std::uint32_t>(w, o.b)[lane]);
    check_phase(w, barrier);
  });
  return Outcome::next;
}

Outcome mbarrier_complete(Warp& w, const Operation& o) {
  for_lanes(w, [&](std::uint32_t lane) {
    const SharedPlace place = place_of(w, o, lane);
    mbarrier_came(w, o, lane, *place.block, place.at, lanes_of<std::uint32_t>(w, o.b)[lane]);
  });
  return Outcome::next;
}

Outcome mbarrier_test(Warp& w, const Operation& o) {
  std::uint32_t done = 0;
  for_lanes(w, [&](std::uint32_t lane) {
    const SharedPlace place = place_of(w, o, lane);
    const MBarrier& barrier = mbarrier_at(w, o, lane, *place.block, place.at);
    bool is = false;
    if (o.flags & mbarrier_parity) {
      const std::uint32_t parity = lanes_of<std::uint32_t>(w, o.b)[lane];
      if (parity > 1) bad(w, o, lane, "a parity of " + std::to_string(parity) + ": 0 or 1");
      is = (barrier.phase & 1) != parity;
    } else {
      const auto phase = static_cast<std::uint32_t>(lanes_of<std::uint64_t>(w, o.b)[lane]);
      if (barrier.phase - phase > 1)
        bad(w, o, lane,
            "a state of phase " + std::to_string(phase) + " of " +
                named(w, *place.block, place.at) + ", which is in phase " +
                std::to_string(barrier.phase) + ": it must be of this or the one before");
      is = barrier.phase != phase;
    }
    if (!is) return;
    done |= 1u << lane;
    w.known.add_order(barrier.done);
    if (!(o.flags & mbarrier_relaxed)) w.known.add(barrier.done);
  });
  if (done) w.block->runner->find_floor(w);
  std::uint32_t& d = *lanes_of<std::uint32_t>(w, o.d);
  d = (d & ~w.mask) | done;
  return done == w.mask ? Outcome::next : Outcome::spin;
}

Outcome mbarrier_pending(Warp& w, const Operation& o) {
  for_lanes(w, [&](std::uint32_t lane) {
    lanes_of<std::uint32_t>(w, o.d)[lane] =
        static_cast<std::uint32_t>(lanes_of<std::uint64_t>(w, o.a)[lane] >> 32);
  });
  return Outcome::next;
}

Outcome mbarrier_copies(Warp& w, const Operation& o) {
  Block& block = *w.block;
  SharedMemory& s = block.shared;
  const Known known = block.runner->arrival(w);
  for_lanes(w, [&](std::uint32_t lane) {
    const SharedPlace place = place_of(w, o, lane);
    MBarrier& barrier = mbarrier_at(w, o, lane, block, place.at);
    std::size_t kept = 0;
    for (const Copy& copy : w.copies) {
      if (copy.lane != lane) {
        w.copies[kept++] = copy;
        continue;
      }
      if (copy.filled) std::memcpy(s.bytes + copy.to, copy.from, copy.filled);
      std::memset(s.bytes + copy.to + copy.filled, 0, copy.bytes - copy.filled);
      if (!block.check) continue;
      const std::uint32_t transfer = transfer_of(block, place.at, barrier);
      const std::uint32_t g = copy.to >> s.granule, n = copy.bytes >> s.granule;
      for (std::uint32_t j = g; j < g + n; ++j) s.written[j] = transferred + transfer;
      s.special = true;
      block.cluster->transfers.add(transfer, block, g, n);
    }
    w.copies.resize(kept);
    barrier.arriving.add(known);
    // Without .noinc one more arrival is waited for, and comes.
    if (o.flags & mbarrier_noinc) arrive(w, o, lane, block, place.at, barrier, 1);
    check_phase(w, barrier);
  });
  return Outcome::next;
}

std::string mbarrier_state(Warp& w, const Operation& o, std::uint32_t lane) {
  const SharedPlace place = place_of(w, o, lane);
  const MBarrier& barrier = mbarrier_at(w, o, lane, *place.block, place.at);
  return "waits for " + named(w, *place.block, place.at) + ", whose phase " +
         std::to_string(barrier.phase) + " lacks " + std::to_string(barrier.pending) + " of " +
         std::to_string(barrier.expected) + " arrivals and " +
         std::to_string(barrier.transactions) + " bytes";
}

}  // namespace plumbline::ptx
