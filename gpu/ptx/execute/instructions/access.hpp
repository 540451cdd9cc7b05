// SPDX-License-Identifier: Apache-2.0
// Addresses of a warp: checked, and turned into pointers.
#ifndef PLUMBLINE_GPU_PTX_EXECUTE_INSTRUCTIONS_ACCESS_HPP
#define PLUMBLINE_GPU_PTX_EXECUTE_INSTRUCTIONS_ACCESS_HPP

#include "ptx/execute/faults.hpp"
#include "ptx/execute/instructions/lanes.hpp"
#include "ptx/execute/memory_flags.hpp"
#include "ptx/memory/shared.hpp"

namespace plumbline::ptx::PLUMBLINE_PTX_ISA {
namespace {

/// How the lanes' addresses lie: one behind the other, all the same, or otherwise.
enum class Shape { general, contiguous, uniform };
enum class Use { reads, writes, atomic };

struct Access {
  alignas(64) u64 at[32];  ///< of lanes that are not active: the first active lane's
  alignas(64) std::byte* p[32];
  Shape shape = Shape::general;
  bool rewrites = false;                   ///< it is no race if the lanes write what is there
  const Allocation* allocation = nullptr;  ///< of global memory, where all lanes have one
};

inline u32 first_lane(u32 mask) { return static_cast<u32>(__builtin_ctz(mask)); }

/// Addresses from the register a, plus the immediate.
inline void take_addresses(Warp& w, const Operation& o, Access& access) {
  u64* at = access.at;
  const u64 offset = static_cast<u64>(o.immediate);
  if (o.flags & memory_wide) {
    const u64* a = lanes<u64>(w, o.a);
    for (int i = 0; i < 32; ++i) at[i] = a[i] + offset;
  } else {
    const u32* a = lanes<u32>(w, o.a);
    for (int i = 0; i < 32; ++i) at[i] = static_cast<u32>(a[i] + static_cast<u32>(offset));
  }
  if (w.mask != all_lanes) {
    const u64 some = at[first_lane(w.mask)];
    for (int i = 0; i < 32; ++i) at[i] = w.mask & lane_bits[i] ? at[i] : some;
  }
}

struct Range {
  u64 low, high, together;  ///< together: the bits that any address has
};
inline Range range_of(const u64* at) {
  u64 low = at[0], high = at[0], together = at[0];
  for (int i = 1; i < 32; ++i) {
    low = at[i] < low ? at[i] : low;
    high = at[i] > high ? at[i] : high;
    together |= at[i];
  }
  return {low, high, together};
}
inline Shape shape_of(const u64* at, const Range& range, u32 bytes, u32 mask) {
  if (range.low == range.high) return Shape::uniform;
  if (mask != all_lanes || range.high - range.low != u64{31} * bytes) return Shape::general;
  u64 off = 0;
  for (u32 i = 0; i < 32; ++i) off |= at[i] - range.low - u64{i} * bytes;
  return off ? Shape::general : Shape::contiguous;
}

inline void check_aligned(Warp& w, const Operation& o, const Access& access, u64 together,
                          u32 bytes) {
  if (__builtin_expect((together & (bytes - 1)) != 0, 0))
    for (u32 i = 0; i < 32; ++i)
      if (access.at[i] & (bytes - 1) && w.mask & lane_bits[i])
        fault_misaligned(w, o, i, access.at[i], bytes);
}

/// Initialised bits of `bytes` bytes, which do not cross 4 bytes unless aligned to them.
inline bool is_initialised(const Allocation& a, u64 at, u32 bytes) {
  const u8* bits = a.initialised + ((at - a.begin) >> 2);
  switch (bytes) {
    case 4:
      return *bits == 0x0f;
    case 8: {
      u16 two;
      __builtin_memcpy(&two, bits, 2);
      return two == 0x0f0f;
    }
    case 16: {
      u32 four;
      __builtin_memcpy(&four, bits, 4);
      return four == 0x0f0f0f0fu;
    }
    case 32: {
      u64 eight;
      __builtin_memcpy(&eight, bits, 8);
      return eight == 0x0f0f0f0f0f0f0f0fu;
    }
    default: {
      const u32 want = ((1u << bytes) - 1) << (at & 3);
      return (*bits & want) == want;
    }
  }
}
inline void set_initialised(const Allocation& a, u64 at, u32 bytes) {
  u8* bits = a.initialised + ((at - a.begin) >> 2);
  if (bytes >= 4)
    __builtin_memset(bits, 0x0f, bytes / 4);
  else  // another thread may write the other bytes of these four
    __atomic_fetch_or(bits, static_cast<u8>(((1u << bytes) - 1) << (at & 3)), __ATOMIC_RELAXED);
}

inline void check_initialised(Warp& w, const Operation& o, const Access& access,
                              const Allocation& a, u32 bytes) {
  if (access.shape == Shape::contiguous && bytes >= 4) {
    const u8* bits = a.initialised + ((access.at[0] - a.begin) >> 2);
    u8 all = 0x0f;
    for (u32 i = 0; i < 8 * bytes; ++i) all &= bits[i];
    if (all == 0x0f) return;
  }
  for (u32 i = 0; i < 32; ++i)
    if (!is_initialised(a, access.at[i], bytes) && w.mask & lane_bits[i])
      fault_uninitialised(w, o, i, access.at[i], bytes);
}

/// Fills in what the lanes access in global memory.
inline void access_global(Warp& w, const Operation& o, Access& access, u32 bytes, Use use) {
  const Range range = range_of(access.at);
  access.shape = shape_of(access.at, range, bytes, w.mask);
  check_aligned(w, o, access, range.together, bytes);
  Block& block = *w.block;
  const Allocation* a = block.sites[o.site];
  const auto holds = [&](const Allocation* one, u64 low, u64 high) {
    return low >= one->begin && high < one->end && one->end - high >= bytes;
  };
  if (!holds(a, range.low, range.high)) {
    a = block.memory->find(range.low);
    if (a && holds(a, range.low, range.high))
      block.sites[o.site] = a;
    else
      a = nullptr;
  }
  if (__builtin_expect(a != nullptr, 1)) {
    if (use != Use::reads && !a->writable)
      fault_global(w, o, first_lane(w.mask), access.at[first_lane(w.mask)], bytes, true);
    if (use != Use::writes && a->initialised && block.check)
      check_initialised(w, o, access, *a, bytes);
  } else {
    for (u32 i = 0; i < 32; ++i) {
      if (!(w.mask & lane_bits[i])) continue;
      const Allocation* one = block.memory->find(access.at[i]);
      if (!one || !holds(one, access.at[i], access.at[i]) || (use != Use::reads && !one->writable))
        fault_global(w, o, i, access.at[i], bytes, use != Use::reads);
      if (use != Use::writes && one->initialised && block.check &&
          !is_initialised(*one, access.at[i], bytes))
        fault_uninitialised(w, o, i, access.at[i], bytes);
      if (use == Use::writes && one->initialised) set_initialised(*one, access.at[i], bytes);
    }
  }
  access.allocation = a;
  for (int i = 0; i < 32; ++i) access.p[i] = reinterpret_cast<std::byte*>(access.at[i]);
}

/// Marks the granules, and throws where another warp has touched them since the last barrier.
inline bool read_granules(const SharedMemory& s, u32 warp, u32 g, u32 count) {
  const u32 epoch = s.epoch << 8, mine = epoch | warp, ours = mine | atomic_bit, begin = s.begin;
  const u32* __restrict written = s.written + g;
  u32* __restrict read = s.read + g;
  u32 bad = 0;
  for (u32 j = 0; j < count; ++j) {
    const u32 by = written[j], before = read[j];
    bad |= (by - begin >= epoch - begin) & (by != mine) & (by != ours);
    read[j] = (before >= epoch) & (before != mine) ? epoch | several : mine;
  }
  return bad == 0;
}
/// Nothing is marked where it throws.
inline bool write_granules(const SharedMemory& s, u32 warp, u32 by, u32 g, u32 count) {
  const u32 epoch = s.epoch << 8, mine = epoch | warp, ours = mine | atomic_bit;
  u32 bad = 0;
  for (u32 j = g; j < g + count; ++j) {
    const u32 before = s.written[j], read = s.read[j];
    bad |= (before >= epoch) & (before != mine) & (before != ours);
    bad |= (read >= epoch) & (read != mine);
  }
  if (__builtin_expect(bad != 0, 0)) return false;
  for (u32 j = g; j < g + count; ++j) s.written[j] = mine;
  for (u32 j = g; j < g + count; ++j) s.written_by[j] = by;
  return true;
}
/// Whether a copy to any of them is under way.
inline bool copies_in_flight(const SharedMemory& s, u32 g, u32 count) {
  u32 latest = 0;
  for (u32 j = g; j < g + count; ++j) latest = s.written[j] > latest ? s.written[j] : latest;
  return latest >= in_flight;
}
/// Atomic and other strong accesses do not race with one another.
inline bool atomic_granules(const SharedMemory& s, u32 warp, u32 by, u32 g, u32 count, bool writes,
                            bool reads) {
  const u32 epoch = s.epoch << 8, mine = epoch | warp, ours = mine | atomic_bit;
  for (u32 j = g; j < g + count; ++j) {
    const u32 before = s.written[j], read = s.read[j];
    const bool by_others = before >= epoch && before != mine && before != ours;
    if (by_others && (before >= in_flight || !(before & atomic_bit))) return false;
    if (reads && before < s.begin) return false;
    if (!writes) continue;
    if (read >= epoch && read != mine) return false;
    s.written[j] = by_others ? epoch | atomic_several : ours;
    s.written_by[j] = by;
  }
  return true;
}

/// Fills in what the lanes access in shared memory. The addresses are those of .shared.
inline void access_shared(Warp& w, const Operation& o, Access& access, u32 bytes, Use use) {
  const Range range = range_of(access.at);
  access.shape = shape_of(access.at, range, bytes, w.mask);
  check_aligned(w, o, access, range.together, bytes);
  SharedMemory& s = w.block->shared;
  if (__builtin_expect(range.low < shared_begin || range.high + bytes > shared_begin + u64{s.size},
                       0))
    for (u32 i = 0; i < 32; ++i)
      if (w.mask & lane_bits[i] &&
          (access.at[i] < shared_begin || access.at[i] + bytes > shared_begin + u64{s.size}))
        fault_window(w, o, i, "shared", access.at[i], bytes, s.size);
  for (int i = 0; i < 32; ++i) access.p[i] = s.bytes + (access.at[i] - shared_begin);
  if (!w.block->check) return;
  const u32 by = use == Use::reads ? 0 : static_cast<u32>(&o - w.operations);
  const u32 count = bytes >> s.granule;  // a granule is no longer than any access
  const bool strong = use == Use::atomic || o.flags & memory_strong;
  const auto fine = [&](u32 g, u32 n) {
    if (strong) return atomic_granules(s, w.index, by, g, n, use != Use::reads, use != Use::writes);
    return use == Use::reads ? read_granules(s, w.index, g, n)
                             : write_granules(s, w.index, by, g, n);
  };
  const auto granule = [&](int i) {
    return static_cast<u32>(access.at[i] - shared_begin) >> s.granule;
  };
  const auto look_at = [&](u32 lane, u32 g, u32 n) {
    if (__builtin_expect(fine(g, n), 1)) return;
    access.rewrites = use == Use::writes && !strong && !copies_in_flight(s, g, n);
    if (!access.rewrites) fault_shared(w, o, lane, g, use != Use::reads);
  };
  if (access.shape == Shape::uniform) {
    look_at(first_lane(w.mask), granule(0), count);
  } else if (access.shape == Shape::contiguous) {
    look_at(0, granule(0), 32 * count);
  } else {
    bool rewrites = false;
    for (u32 m = w.mask; m; m &= m - 1) {
      const u32 i = first_lane(m);
      look_at(i, granule(static_cast<int>(i)), count);
      rewrites |= access.rewrites;
    }
    access.rewrites = rewrites;
  }
}

/// Of a write that meets other warps' accesses: `same(lane)` tells whether the lane writes what is
/// there. What several warps have written counts as written before the last barrier.
template <class Same>
inline void check_rewrites(Warp& w, const Operation& o, const Access& access, u32 bytes,
                           Same same) {
  const SharedMemory& s = w.block->shared;
  for (u32 m = w.mask; m; m &= m - 1) {
    const u32 i = first_lane(m);
    const u32 g = static_cast<u32>(access.p[i] - s.bytes) >> s.granule;
    if (!same(i)) fault_shared(w, o, i, g, true);
    for (u32 j = g; j < g + (bytes >> s.granule); ++j) s.written[j] = s.begin;
  }
}

/// Local memory: the addresses are offsets in each thread's own.
inline void access_local(Warp& w, const Operation& o, Access& access, u32 bytes) {
  const Range range = range_of(access.at);
  check_aligned(w, o, access, range.together, bytes);
  if (__builtin_expect(range.high + bytes > w.local_stride, 0))
    for (u32 i = 0; i < 32; ++i)
      if (w.mask & lane_bits[i] && access.at[i] + bytes > w.local_stride)
        fault_window(w, o, i, "local", access.at[i], bytes, w.local_stride);
  const u32 active = first_lane(w.mask);
  for (u32 i = 0; i < 32; ++i) {
    const u32 lane = w.mask & lane_bits[i] ? i : active;
    access.p[i] = w.local + u64{lane} * w.local_stride + access.at[i];
  }
  access.shape = Shape::general;
}

/// Calls f(Access&, global) for the lanes of each space that a generic address names; w.mask is
/// what they are.
template <class F>
inline void for_each_space(Warp& w, const Operation& o, u32 bytes, Use use, F f) {
  Access access;
  take_addresses(w, o, access);
  switch (o.c & memory_space) {
    case memory_global:
      access_global(w, o, access, bytes, use);
      f(access, true);
      return;
    case memory_shared:
      access_shared(w, o, access, bytes, use);
      f(access, false);
      return;
    case memory_local:
      access_local(w, o, access, bytes);
      f(access, false);
      return;
    default:
      break;
  }
  const Range range = range_of(access.at);
  if (__builtin_expect(range.low >= shared_window + window_bytes
                           ? range.low >= local_window + window_bytes
                           : range.high < shared_window,
                       1)) {
    access_global(w, o, access, bytes, use);
    f(access, true);
    return;
  }
  const u32 all = w.mask;
  u32 shared = 0, local = 0;
  for (u32 i = 0; i < 32; ++i) {
    if (access.at[i] - shared_window < window_bytes) shared |= lane_bits[i];
    if (access.at[i] - local_window < window_bytes) local |= lane_bits[i];
  }
  const Access given = access;
  const auto part = [&](u32 mask, u64 window) {
    const u64 some = given.at[first_lane(mask)];
    for (u32 i = 0; i < 32; ++i) access.at[i] = (mask & lane_bits[i] ? given.at[i] : some) - window;
    w.mask = mask;
  };
  if (const u32 mask = all & shared) {
    part(mask, shared_window);
    access_shared(w, o, access, bytes, use);
    f(access, false);
  }
  if (const u32 mask = all & local) {
    part(mask, local_window);
    access_local(w, o, access, bytes);
    f(access, false);
  }
  if (const u32 mask = all & ~shared & ~local) {
    part(mask, 0);
    access_global(w, o, access, bytes, use);
    f(access, true);
  }
  w.mask = all;
}

}  // namespace
}  // namespace plumbline::ptx::PLUMBLINE_PTX_ISA

#endif
