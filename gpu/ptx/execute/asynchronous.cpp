// SPDX-License-Identifier: Apache-2.0
#include "ptx/execute/asynchronous.hpp"

#include <algorithm>

#include "ptx/execute/cluster.hpp"
#include "ptx/execute/faults.hpp"
#include "ptx/execute/mbarrier.hpp"
#include "ptx/execute/wgmma.hpp"

namespace plumbline::ptx {
namespace {

bool is_transfer(std::uint32_t stamp) { return stamp - transferred < transfers_at_once; }

std::uint32_t who_of(const Warp& w, const Block& block) {
  return &block == w.block ? w.index : of_cluster | w.block->rank;
}

/// Whether a proxy fence lies between an ordinary write and a read by the warp: of the writing
/// warp, or of any after a barrier.
bool is_fenced(const Warp& w, const SharedMemory& s, std::uint32_t stamp, std::uint32_t by) {
  const std::uint32_t who = stamp & 0xff & ~atomic_bit;
  // Before the block's first barrier stands what several warps have written.
  if (is_transfer(stamp) || stamp >> 8 <= s.begin >> 8 || by >= fenced || who >= of_cluster)
    return true;
  const auto& warps = w.block->runner->warps;
  if (who >= warps.size() || warps[who]->fences != (by & ~operation_bits)) return true;
  const std::uint32_t written = stamp >> 8;
  return std::any_of(warps.begin(), warps.end(), [&](const auto& one) {
    return one->fence_epoch > written && (one->index == w.index || one->fence_epoch < s.barrier);
  });
}

/// A write of granules, which have the stamp then.
void write(Warp& w, const Operation& o, std::uint32_t lane, Block& block, std::uint32_t first,
           std::uint32_t end, std::uint32_t stamp, bool reduces = false) {
  SharedMemory& s = block.shared;
  const std::uint32_t who = who_of(w, block);
  const std::uint32_t by = static_cast<std::uint32_t>(&o - w.operations) | fenced;
  s.special = true;
  for (std::uint32_t j = first; j < end; ++j) {
    if (reduces && s.written[j] < s.begin) fault_shared(w, o, lane, j, false, &block);
    if (reduces && s.written[j] == stamp) continue;
    // Two copies to the same bytes in one phase: nobody can tell which came last.
    if (!in_order(w, s, who, s.written[j]) || !reads_in_order(w, s, who, j))
      fault_shared(w, o, lane, j, true, &block);
    s.written[j] = stamp;
    s.written_by[j] = by;
  }
}

}  // namespace

bool in_order(const Warp& w, const SharedMemory& s, std::uint32_t who, std::uint32_t stamp) {
  if (is_transfer(stamp)) return w.known.has(stamp - transferred);
  const std::uint32_t epoch = stamp >> 8, warp = stamp & 0xff & ~atomic_bit;
  if (epoch < s.floor) return true;
  if (stamp >= in_flight) return false;
  if (warp == who || warp == (as_a | who)) return true;
  // Of several warps only the last barrier of all or some of them tells.
  return s.by_warps && epoch < (warp < warps_at_most ? w.known.after[warp] : s.barrier);
}

bool reads_in_order(const Warp& w, const SharedMemory& s, std::uint32_t who,
                    std::uint32_t granule) {
  const std::uint32_t stamp = s.read[granule];
  if (!in_order(w, s, who, stamp)) return false;
  if (stamp >= in_flight || stamp >> 8 < s.floor || !s.by_warps || who >= warps_at_most)
    return true;
  const auto& groups = w.block->warpgroups;
  return !groups || groups->reads_are_known(w, s, granule);
}

void saw_others(Warp& w) {
  SharedMemory& s = w.block->shared;
  if (!s.by_warps) return;
  const std::uint32_t now = w.block->runner->arrival(w).after[w.index];
  std::fill(std::begin(w.known.after), std::end(w.known.after), now);
  w.block->runner->find_floor(w);
}

void asynchronous_reads(Warp& w, const Operation& o, std::uint32_t lane, std::uint32_t at,
                        std::uint32_t bytes, Reads until) {
  if (!w.block->check || bytes == 0) return;
  SharedMemory& s = w.block->shared;
  const std::uint32_t epoch = s.epoch << 8, mine = epoch | w.index;
  const std::uint32_t first = at >> s.granule, end = ((at + bytes - 1) >> s.granule) + 1;
  std::uint32_t last = ~0u, last_by = ~0u;  // that were right
  for (std::uint32_t j = first; j < end; ++j) {
    const std::uint32_t stamp = s.written[j], by = s.written_by[j] & ~operation_bits;
    if (stamp != last || by != last_by) {
      if (stamp < s.begin || !in_order(w, s, w.index, stamp)) fault_shared(w, o, lane, j, false);
      if (!is_fenced(w, s, stamp, s.written_by[j])) fault_proxy(w, o, lane, j);
      last = stamp;
      last_by = by;
    }
    std::uint32_t& read = s.read[j];
    if (until == Reads::group)
      read = in_flight | w.index;
    else
      read = read >= epoch && read != mine ? std::max(read, epoch | several) : mine;
  }
}

void asynchronous_reads_end(Warp& w, std::uint32_t at, std::uint32_t bytes) {
  if (!w.block->check || bytes == 0) return;
  SharedMemory& s = w.block->shared;
  for (std::uint32_t j = at >> s.granule; j <= (at + bytes - 1) >> s.granule; ++j)
    if (s.read[j] == (in_flight | w.index)) s.read[j] = s.epoch << 8 | w.index;
}

void asynchronous_writes(Warp& w, const Operation& o, std::uint32_t lane, Block& block,
                         std::uint32_t at, std::uint32_t bytes, std::uint32_t transfer,
                         bool reduces) {
  if (!w.block->check || bytes == 0) return;
  const SharedMemory& s = block.shared;
  const std::uint32_t first = at >> s.granule, end = ((at + bytes - 1) >> s.granule) + 1;
  write(w, o, lane, block, first, end, transferred + transfer, reduces);
  w.block->cluster->transfers.add(transfer, block, first, end - first);
}

void mbarrier_lies(Warp& w, const Operation& o, std::uint32_t lane, std::uint32_t at) {
  if (!w.block->check) return;
  const SharedMemory& s = w.block->shared;
  write(w, o, lane, *w.block, at >> s.granule, (at + 8) >> s.granule, of_mbarrier);
}

bool settled(const Warp& w, SharedMemory& s, std::uint32_t who, std::uint32_t granule,
             std::uint32_t count, bool reads, bool strong) {
  const auto later = [&](std::uint32_t stamp) { return stamp >> 8 >= s.floor; };
  for (std::uint32_t j = granule; j < granule + count; ++j) {
    std::uint32_t &written = s.written[j], &read = s.read[j];
    const bool atomic = strong && written < in_flight && written & atomic_bit;
    if (written < s.begin && reads) return false;
    if (!atomic && !in_order(w, s, who, written)) return false;
    if (reads) continue;
    if (!reads_in_order(w, s, who, j)) return false;
    if (!atomic && later(written)) written = s.begin;
    if (later(read)) read = 0;
  }
  return true;
}

Outcome proxy_fence(Warp& w, const Operation&) {
  SharedMemory& s = w.block->shared;
  w.fence_epoch = s.barrier;
  w.fences += one_fence;
  if (w.fences < fenced || !w.block->check) return Outcome::next;
  w.fences = 0;
  for (std::uint32_t j = 0; j < s.size >> s.granule; ++j)
    if ((s.written[j] & 0xff & ~atomic_bit) == w.index) s.written_by[j] |= fenced;
  return Outcome::next;
}

Outcome memory_fence(Warp& w, const Operation&) {
  w.synced = w.stores;
  return Outcome::next;
}

Outcome mbarrier_init_fence(Warp& w, const Operation&) {
  w.synced = w.stores;
  for (auto& [at, barrier] : w.block->mbarriers->all)
    if (barrier.warp == w.index) barrier.fenced = true;
  return Outcome::next;
}

void Transfers::clear() {
  for (auto& ranges : ranges_) ranges.clear();
  next_ = 0;
}

std::uint32_t Transfers::begin(Cluster& cluster, std::uint32_t mbarrier) {
  const std::uint32_t transfer = next_++ % transfers_at_once;
  const std::uint32_t stamp = transferred + transfer;
  for (const Range& range : ranges_[transfer]) {
    SharedMemory& s = range.block->shared;
    for (std::uint32_t j = range.first; j < range.first + range.count; ++j) {
      if (s.written[j] == stamp) s.written[j] = s.begin;
      if (s.read[j] == stamp) s.read[j] = 0;
    }
  }
  ranges_[transfer].clear();
  mbarrier_[transfer] = mbarrier;
  cluster.arriving.remove(transfer);
  for (const auto& runner : cluster.blocks) {
    for (Barrier& barrier : runner->barriers) barrier.known.remove(transfer);
    for (const auto& warp : runner->warps) warp->known.remove(transfer);
    for (auto& [at, barrier] : runner->block.mbarriers->all) {
      barrier.arriving.remove(transfer);
      barrier.done.remove(transfer);
      if (barrier.transfer == transfer) barrier.transfer = ~0u;
    }
  }
  return transfer;
}

void Transfers::add(std::uint32_t transfer, Block& block, std::uint32_t granule,
                    std::uint32_t count) {
  auto& ranges = ranges_[transfer];
  if (!ranges.empty()) {
    Range& last = ranges.back();
    if (last.block == &block && last.first + last.count == granule) {
      last.count += count;
      return;
    }
  }
  ranges.push_back({&block, granule, count});
}

}  // namespace plumbline::ptx
