// SPDX-License-Identifier: Apache-2.0
// Races between the lanes of one warp: a lane reads from shared memory what another lane stored,
// and no bar.warp.sync is in between. The ISA lets a warp's lanes run apart, so that the value may
// not be there yet; shfl, vote and their like wait for the lanes, but order no memory. Fences and
// strong accesses count as if they ordered all before them: who uses them may well do it right.
#ifndef PLUMBLINE_GPU_PTX_EXECUTE_INSTRUCTIONS_OWN_WRITES_HPP
#define PLUMBLINE_GPU_PTX_EXECUTE_INSTRUCTIONS_OWN_WRITES_HPP

#include "ptx/execute/faults.hpp"
#include "ptx/execute/instructions/lanes.hpp"
#include "ptx/memory/shared.hpp"

namespace plumbline::ptx::PLUMBLINE_PTX_ISA {
namespace {

/// Of a store between these addresses.
inline void begin_store(Warp& w, const SharedMemory& s, u64 low, u64 end) {
  if (w.store_epoch != s.epoch) w.synced = w.stores;  // a barrier
  w.store_epoch = s.epoch;
  const bool first = w.stores == w.synced;
  w.stored_low = first || low < w.stored_low ? low : w.stored_low;
  w.stored_high = first || end > w.stored_high ? end : w.stored_high;
  ++w.stores;
}
/// The store writes `count` granules for each active lane, from place(lane) on. Several lanes may
/// write the same.
template <class Place>
inline void store_places(const Warp& w, const SharedMemory& s, u32 count, Place place) {
  const u64 now = u64{w.stores} << 32;
  u64* const lanes = s.lanes;
  for (u32 m = w.mask; m; m &= m - 1) {
    const u32 g = place(__builtin_ctz(m));
    for (u32 j = g; j < g + count; ++j) lanes[j] = now;
  }
  for (u32 m = w.mask; m; m &= m - 1) {
    const u32 g = place(__builtin_ctz(m));
    for (u32 j = g; j < g + count; ++j) lanes[j] |= m & -m;
  }
}
/// The same where the lanes' granules lie one behind the other from g on. All are active.
inline void store_row(const Warp& w, const SharedMemory& s, u32 count, u32 g) {
  const u64 now = u64{w.stores} << 32;
  const int shift = __builtin_ctz(count);
  u64* const lanes = s.lanes + g;
  for (u32 j = 0; j < 32 * count; ++j) lanes[j] = now | u64{1} << (j >> shift);
}

/// Whether the warp has stored anything between these addresses that its lanes may not all see.
inline bool has_stored(const Warp& w, const SharedMemory& s, u64 low, u64 end) {
  return w.stores != w.synced && w.store_epoch == s.epoch && low < w.stored_high &&
         end > w.stored_low;
}
/// Throws where one of the lanes `readers` reads granules that others alone have stored.
inline void check_own_writes(Warp& w, const Operation& o, u32 readers, u32 g, u32 count) {
  const SharedMemory& s = w.block->shared;
  const u32 mine = s.epoch << 8 | w.index;
  for (u32 j = g; j < g + count; ++j) {
    const u32 others = readers & ~static_cast<u32>(s.lanes[j]);
    if (s.written[j] == mine && s.lanes[j] >> 32 > w.synced && others != 0)
      fault_lanes(w, o, static_cast<u32>(__builtin_ctz(others)), j);
  }
}

}  // namespace
}  // namespace plumbline::ptx::PLUMBLINE_PTX_ISA

#endif
