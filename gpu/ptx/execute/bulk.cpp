// SPDX-License-Identifier: Apache-2.0
#include "ptx/execute/bulk.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "ptx/execute/cluster.hpp"
#include "ptx/execute/faults.hpp"
#include "ptx/execute/mbarrier.hpp"
#include "ptx/execute/memory_flags.hpp"
#include "ptx/execute/warp_lanes.hpp"
#include "ptx/profile/probe.hpp"

namespace plumbline::ptx {
namespace {

template <class T>
T lane_of(Warp& w, std::uint32_t offset, std::uint32_t lane) {
  return reinterpret_cast<const T*>(w.registers + offset)[lane];
}

std::uint32_t size_of(Warp& w, const Operation& o, const BulkCopy& copy, std::uint32_t lane) {
  const std::uint32_t bytes = word_of(w, o, copy.size, lane);
  if (bytes % 16 != 0)
    fault(w, o, lane, Fault::Kind::misaligned,
          "a bulk copy of " + std::to_string(bytes) + " bytes, which is no multiple of 16");
  return bytes;
}

}  // namespace

std::uint64_t address_of(Warp& w, const Operation& o, const BulkCopy::Address& a,
                         std::uint32_t lane) {
  const std::uint32_t base = w.lists[o.list + a.base];
  if (a.wide) return lane_of<std::uint64_t>(w, base, lane) + static_cast<std::uint64_t>(a.offset);
  return static_cast<std::uint32_t>(lane_of<std::uint32_t>(w, base, lane) + a.offset);
}

SharedPlace place_of(Warp& w, const Operation& o, const BulkCopy::Address& a, std::uint32_t lane,
                     std::uint32_t bytes, std::uint32_t align) {
  const std::uint64_t address = address_of(w, o, a, lane);
  if (address % align != 0) fault_misaligned(w, o, lane, address, align);
  return shared_place(w, o, lane, address, a.space, bytes);
}

std::uint32_t word_of(Warp& w, const Operation& o, std::uint8_t index, std::uint32_t lane) {
  return lane_of<std::uint32_t>(w, w.lists[o.list + index], lane);
}

std::byte* global_bytes(Warp& w, const Operation& o, std::uint32_t lane, Address at,
                        std::uint32_t bytes, bool writes, bool reads, const Allocation*& last) {
  if (!last || at < last->begin || at >= last->end) last = w.block->memory->find(at);
  const Allocation* a = last;
  if (!a || a->end - at < bytes || (writes && !a->writable))
    fault_global(w, o, lane, at, bytes, writes);
  if (a->initialised && reads && w.block->check)
    for (std::uint32_t k = 0; k < bytes;) {  // by 4 bytes, which share a byte of the bits
      const auto in_word = static_cast<std::uint32_t>((at + k - a->begin) % 4);
      const std::uint32_t some = std::min(4 - in_word, bytes - k);
      const std::uint32_t want = ((1u << some) - 1) << in_word;
      if ((a->initialised[(at + k - a->begin) / 4] & want) != want)
        fault_uninitialised(w, o, lane, at + k, some);
      k += some;
    }
  if (a->initialised && writes)
    for (std::uint32_t k = 0; k < bytes;) {
      const auto in_word = static_cast<std::uint32_t>((at + k - a->begin) % 4);
      const std::uint32_t some = std::min(4 - in_word, bytes - k);
      // Another thread of the CPU may write the other bytes of these four.
      __atomic_fetch_or(a->initialised + (at + k - a->begin) / 4,
                        static_cast<std::uint8_t>(((1u << some) - 1) << in_word), __ATOMIC_RELAXED);
      k += some;
    }
  return reinterpret_cast<std::byte*>(at);
}

void combine(std::byte* to, const std::byte* from, std::uint32_t bytes, std::uint32_t element,
             Combine how) {
  for (std::uint32_t k = 0; k < bytes; k += element) {
    std::uint64_t old = 0, other = 0;
    std::memcpy(&old, to + k, element);
    std::memcpy(&other, from + k, element);
    const std::uint64_t now = how(old, other);
    std::memcpy(to + k, &now, element);
  }
}

void bring(Warp& w, const Operation& o, std::uint32_t lane, const BulkCopy& copy,
           const SharedPlace& to, std::span<const std::byte> bytes, std::uint32_t read_from,
           bool from_shared) {
  const SharedPlace barrier_place = place_of(w, o, copy.barrier, lane, 8, 8);
  Cluster& cluster = *w.block->cluster;
  const auto size = static_cast<std::uint32_t>(bytes.size());
  const auto to_block = [&](Block& block) {
    MBarrier& barrier = mbarrier_at(w, o, lane, block, barrier_place.at);
    if (&block != w.block && block.left)
      fault(w, o, lane, Fault::Kind::out_of_bounds,
            "a copy to the shared memory of block " + std::to_string(block.rank) +
                " of its cluster, which has left the kernel");
    if (w.block->check) {
      const std::uint32_t transfer = transfer_of(block, barrier_place.at, barrier);
      asynchronous_writes(w, o, lane, block, to.at, size, transfer, copy.combine != nullptr);
      if (from_shared) {
        SharedMemory& s = w.block->shared;
        s.special = true;
        const std::uint32_t first = read_from >> s.granule, count = size >> s.granule;
        for (std::uint32_t j = first; j < first + count; ++j) s.read[j] = transferred + transfer;
        cluster.transfers.add(transfer, *w.block, first, count);
      }
    }
    count_shared(w, size, copy.combine != nullptr, true);
    std::byte* const target = block.shared.bytes + to.at;
    if (copy.combine)
      combine(target, bytes.data(), size, copy.element_bytes, copy.combine);
    else
      std::memmove(target, bytes.data(), size);
    mbarrier_came(w, o, lane, block, barrier_place.at, size);
  };
  if (copy.mask == BulkCopy::none) {
    if (to.block != barrier_place.block)
      fault(w, o, lane, Fault::Kind::bad_instruction,
            "the bytes and the mbarrier are in the shared memory of two blocks");
    to_block(*to.block);
    return;
  }
  const std::uint32_t mask = word_of(w, o, copy.mask, lane) & 0xffff;
  if (mask == 0 || mask >> cluster.blocks.size() != 0)
    fault(w, o, lane, Fault::Kind::bad_instruction,
          "a multicast to blocks " + std::to_string(mask) + " (a mask) of a cluster of " +
              std::to_string(cluster.blocks.size()));
  if (w.block->check && cluster.phase == 0 && (mask & ~(1u << w.block->rank)))
    fault(w, o, lane, Fault::Kind::race,
          "a multicast before any barrier.cluster: the other blocks need not have begun");
  for (const auto& one : cluster.blocks)
    if (mask >> one->block.rank & 1) to_block(one->block);
}

void read_in_group(Warp& w, const Operation& o, std::uint32_t lane, std::uint32_t at,
                   std::uint32_t bytes) {
  asynchronous_reads(w, o, lane, at, bytes, Reads::group);
  count_shared(w, bytes, true, false);
  if (w.bulk_reads.size() >= most_in_flight) fault_in_flight(w, o, lane);
  if (w.block->check)
    w.bulk_reads.push_back({at, bytes, lane, w.bulk_committed[lane], &o, w.program});
}

Outcome bulk_to_shared(Warp& w, const Operation& o) {
  const auto& copy = *static_cast<const BulkCopy*>(o.extra);
  const bool from_shared = copy.from.space != memory_global;
  for_lanes(w, [&](std::uint32_t lane) {
    const std::uint32_t bytes = size_of(w, o, copy, lane);
    const SharedPlace to = place_of(w, o, copy.to, lane, bytes, 16);
    if (from_shared) {
      const SharedPlace from = place_of(w, o, copy.from, lane, bytes, 16);
      asynchronous_reads(w, o, lane, from.at, bytes);
      count_shared(w, bytes, true, false);
      bring(w, o, lane, copy, to, {w.block->shared.bytes + from.at, bytes}, from.at, true);
      return;
    }
    const std::uint64_t from = address_of(w, o, copy.from, lane);
    if (from % 16 != 0) fault_misaligned(w, o, lane, from, 16);
    const Allocation* last = nullptr;
    const std::byte* p = global_bytes(w, o, lane, from, bytes, false, true, last);
    count_global(w, from, bytes, true, false);
    bring(w, o, lane, copy, to, {p, bytes}, 0, false);
  });
  return Outcome::next;
}

Outcome bulk_to_global(Warp& w, const Operation& o) {
  const auto& copy = *static_cast<const BulkCopy*>(o.extra);
  for_lanes(w, [&](std::uint32_t lane) {
    const std::uint32_t bytes = size_of(w, o, copy, lane);
    const SharedPlace from = place_of(w, o, copy.from, lane, bytes, 16);
    const std::uint64_t to = address_of(w, o, copy.to, lane);
    if (to % 16 != 0) fault_misaligned(w, o, lane, to, 16);
    const Allocation* last = nullptr;
    std::byte* const p = global_bytes(w, o, lane, to, bytes, true, copy.combine != nullptr, last);
    count_global(w, to, bytes, copy.combine != nullptr, true);
    read_in_group(w, o, lane, from.at, bytes);
    const std::byte* const source = w.block->shared.bytes + from.at;
    if (copy.combine)
      combine(p, source, bytes, copy.element_bytes, copy.combine);
    else
      std::memcpy(p, source, bytes);
  });
  return Outcome::next;
}

Outcome bulk_commit(Warp& w, const Operation&) {
  for (std::uint32_t i = 0; i < 32; ++i) w.bulk_committed[i] += w.mask >> i & 1;
  return Outcome::next;
}

Outcome bulk_wait(Warp& w, const Operation& o) {
  std::vector<BulkRead> kept;
  for (const BulkRead& read : w.bulk_reads) {
    const bool due =
        std::int64_t{read.group} < std::int64_t{w.bulk_committed[read.lane]} - o.immediate;
    if (w.mask >> read.lane & 1 && due)
      asynchronous_reads_end(w, read.at, read.bytes);
    else
      kept.push_back(read);
  }
  w.bulk_reads = std::move(kept);
  // Others may read some of the bytes still.
  SharedMemory& s = w.block->shared;
  for (const BulkRead& read : w.bulk_reads)
    for (std::uint32_t j = read.at >> s.granule; j < (read.at + read.bytes) >> s.granule; ++j)
      s.read[j] = in_flight | w.index;
  return Outcome::next;
}

}  // namespace plumbline::ptx
