// SPDX-License-Identifier: Apache-2.0
#include "ptx/profile/probe.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "ptx/execute/memory_flags.hpp"
#include "ptx/memory/shared.hpp"
#include "ptx/profile/accesses.hpp"

namespace plumbline::ptx {
namespace {

template <class T>
const T* lanes(const Warp& w, std::uint32_t offset) {
  return reinterpret_cast<const T*>(w.registers + offset);
}

std::uint64_t number_of(std::uint32_t mask) {
  return static_cast<std::uint64_t>(std::popcount(mask));
}

/// Calls f(lane) for each.
template <class F>
void for_each(std::uint32_t mask, F f) {
  for (; mask; mask &= mask - 1) f(static_cast<std::uint32_t>(std::countr_zero(mask)));
}

std::uint64_t address(const Warp& w, const Operation& o, std::uint32_t lane) {
  const auto offset = static_cast<std::uint64_t>(o.immediate);
  if (o.flags & memory_wide) return lanes<std::uint64_t>(w, o.a)[lane] + offset;
  return static_cast<std::uint32_t>(lanes<std::uint32_t>(w, o.a)[lane] + offset);
}

void shared(Tally& tally, const Addresses& addresses, std::uint32_t bytes, Probe::Kind kind) {
  if (addresses.count == 0) return;
  const bool atomic = kind == Probe::Kind::atomic;
  const Cost cost = shared_transactions(addresses, bytes, atomic);
  ++tally.shared_accesses;
  tally.shared_transactions += cost.is;
  tally.shared_ideal += cost.ideal;
  const std::uint64_t all = std::uint64_t{addresses.count} * bytes;
  if (kind == Probe::Kind::load || atomic) tally.shared_bytes_read += all;
  if (kind != Probe::Kind::load) tally.shared_bytes_written += all;
}

void global(Tally& tally, const Addresses& addresses, std::uint32_t bytes, Probe::Kind kind) {
  if (addresses.count == 0) return;
  const Cost cost = global_sectors(addresses, bytes);
  ++tally.global_accesses;
  tally.global_sectors += cost.is;
  tally.global_ideal += cost.ideal;
  const std::uint64_t all = std::uint64_t{addresses.count} * bytes;
  if (kind != Probe::Kind::store) tally.global_bytes_read += all;
  if (kind == Probe::Kind::store || kind == Probe::Kind::atomic) tally.global_bytes_written += all;
}

void access(Tally& tally, const Warp& w, const Operation& o, const Probe& p, std::uint32_t mask) {
  Addresses of_shared, of_global, of_any;
  std::uint64_t local = 0;
  for_each(mask & p.lanes, [&](std::uint32_t lane) {
    const std::uint64_t at = address(w, o, lane);
    std::uint32_t space = o.c & memory_space;
    if (space == memory_generic)
      space = at - shared_window < window_bytes  ? memory_shared
              : at - local_window < window_bytes ? memory_local
                                                 : memory_global;
    if (space == memory_local)
      ++local;
    else
      (space == memory_global ? of_global : of_shared).add(lane, at);
    of_any.add(lane, at);
  });
  shared(tally, of_shared, p.bytes, p.kind);
  global(tally, of_global, p.bytes, p.kind);
  (p.kind == Probe::Kind::load ? tally.local_bytes_read : tally.local_bytes_written) +=
      local * p.bytes;
  if (p.kind == Probe::Kind::atomic) {
    tally.atomics += of_any.count;
    tally.atomic_turns += most_at_one_address(of_any);
  }
}

/// cp.async: see execute/instructions/copy.cpp.
void copy(Tally& tally, const Warp& w, const Operation& o, const Probe& p, std::uint32_t mask) {
  const std::uint32_t* list = w.lists + o.list;
  const std::uint32_t* size = list[0] == ~0u ? nullptr : lanes<std::uint32_t>(w, list[0]);
  const std::uint32_t ignored = list[1] == ~0u ? 0 : *lanes<std::uint32_t>(w, list[1]);
  const auto offset = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(o.target)});
  Addresses to, from;
  for_each(mask, [&](std::uint32_t lane) {
    to.add(lane, address(w, o, lane));
    if (ignored >> lane & 1 || (size && size[lane] == 0)) return;  // filled with zeros
    from.add(lane, lanes<std::uint64_t>(w, o.d)[lane] + offset);
  });
  shared(tally, to, p.bytes, Probe::Kind::store);
  global(tally, from, p.bytes, Probe::Kind::copy);
}

/// Whether the lanes' entries of a branch table differ.
bool differ(const std::uint32_t* index, std::uint32_t mask) {
  bool other = false;
  const std::uint32_t one = index[std::countr_zero(mask)];
  for_each(mask, [&](std::uint32_t lane) { other |= index[lane] != one; });
  return other;
}

}  // namespace

Outcome probe(Warp& w, const Operation& o) {
  const Probe& p = *static_cast<const Probe*>(o.extra);
  Tally& tally = w.block->tallies[p.instruction];
  w.counted = {&tally};
  const std::uint32_t active = w.mask;
  const std::uint32_t on = active & (*lanes<std::uint32_t>(w, o.b) ^ (p.negated ? ~0u : 0));
  ++tally.warp_instructions;
  tally.active_threads += number_of(active);
  tally.thread_instructions += number_of(on);
  if (on == 0) return Outcome::next;
  tally.flops += number_of(on) * p.traits.thread_flops + p.traits.warp_flops;
  tally.barriers += p.traits.barrier;
  switch (p.kind) {
    case Probe::Kind::plain:
      break;
    case Probe::Kind::branch:
      tally.divergent_branches += on != active;
      break;
    case Probe::Kind::branch_table:
      tally.divergent_branches += on != active || differ(lanes<std::uint32_t>(w, o.a), on);
      break;
    case Probe::Kind::copy:
      copy(tally, w, o, p, on);
      break;
    default:
      access(tally, w, o, p, on);
      break;
  }
  return Outcome::next;
}

void count_shared(Warp& w, std::uint32_t bytes, bool reads, bool writes) {
  if (!w.counted.tally || bytes == 0) return;
  Tally& tally = *w.counted.tally;
  tally.shared_accesses += !std::exchange(w.counted.shared, true);
  const std::uint32_t times = std::uint32_t{reads} + std::uint32_t{writes};
  tally.shared_transactions += times * ((bytes + 127) / 128);
  tally.shared_ideal += times * ((bytes + 127) / 128);
  if (reads) tally.shared_bytes_read += bytes;
  if (writes) tally.shared_bytes_written += bytes;
}

void count_global(Warp& w, std::uint64_t address, std::uint32_t bytes, bool reads, bool writes) {
  if (!w.counted.tally || bytes == 0) return;
  Tally& tally = *w.counted.tally;
  tally.global_accesses += !std::exchange(w.counted.global, true);
  tally.global_sectors += (address + bytes - 1) / 32 - address / 32 + 1;
  tally.global_ideal += (bytes + 31) / 32;
  if (reads) tally.global_bytes_read += bytes;
  if (writes) tally.global_bytes_written += bytes;
}

}  // namespace plumbline::ptx
