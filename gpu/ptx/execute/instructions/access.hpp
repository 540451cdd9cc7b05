// SPDX-License-Identifier: Apache-2.0
// Addresses of a warp: checked, and turned into pointers.
#ifndef PLUMBLINE_GPU_PTX_EXECUTE_INSTRUCTIONS_ACCESS_HPP
#define PLUMBLINE_GPU_PTX_EXECUTE_INSTRUCTIONS_ACCESS_HPP

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "ptx/execute/asynchronous.hpp"
#include "ptx/execute/distributed.hpp"
#include "ptx/execute/faults.hpp"
#include "ptx/execute/instructions/lanes.hpp"
#include "ptx/execute/instructions/own_writes.hpp"
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
  /// p[i] is base + 4 word(i) where there is a base: then loads of words need no pointers.
  std::byte* base = nullptr;
  u64 at_base = 0;
  s32 word(int i) const { return static_cast<s32>((at[i] - at_base) >> 2); }
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
/// Finds the shape, too. The least and the largest address are only looked for where the shape does
/// not tell them. `bytes` is a power of two; addresses that go beyond the last one and begin again
/// with 0 are not contiguous.
inline Range range_and_shape(Access& access, u32 bytes, u32 mask) {
  const u64* at = access.at;
  const u64 first = at[0];
  const int shift = __builtin_ctz(bytes);
  u64 apart = 0, off = 0;
  for (u32 i = 0; i < 32; ++i) {
    const u64 distance = at[i] - first;
    apart |= distance;
    off |= distance ^ u64 { i } << shift;
  }
  const u64 last = apart == 0 ? first : first + u64{31} * bytes;
  access.shape = apart == 0                                       ? Shape::uniform
                 : off == 0 && mask == all_lanes && last >= first ? Shape::contiguous
                                                                  : Shape::general;
  return access.shape == Shape::general ? range_of(at) : Range{first, last, first};
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
/// W has a byte for each 4 bytes of an access.
template <class W>
inline bool are_initialised(const Allocation& a, const u64* at) {
  constexpr W want = static_cast<W>(0x0f0f0f0f0f0f0f0full);
  W all = want;
  for (int i = 0; i < 32; ++i) {
    W bits;
    __builtin_memcpy(&bits, a.initialised + ((at[i] - a.begin) >> 2), sizeof bits);
    all &= bits;
  }
  return all == want;
}
template <class W>
inline void set_each_initialised(const Allocation& a, const u64* at) {
  constexpr W set = static_cast<W>(0x0f0f0f0f0f0f0f0full);
  for (int i = 0; i < 32; ++i)
    __builtin_memcpy(a.initialised + ((at[i] - a.begin) >> 2), &set, sizeof set);
}
inline void set_initialised(const Allocation& a, u64 at, u32 bytes) {
  u8* bits = a.initialised + ((at - a.begin) >> 2);
  if (bytes >= 4)
    __builtin_memset(bits, 0x0f, bytes / 4);
  else  // another thread may write the other bytes of these four
    __atomic_fetch_or(bits, static_cast<u8>(((1u << bytes) - 1) << (at & 3)), __ATOMIC_RELAXED);
}

/// What the lanes write, all of it in `a`.
inline void set_initialised(const Allocation& a, const Access& access, u32 bytes) {
  if (access.shape == Shape::contiguous && bytes >= 4)
    __builtin_memset(a.initialised + ((access.at[0] - a.begin) >> 2), 0x0f, 8 * bytes);
  else if (access.shape == Shape::uniform)
    set_initialised(a, access.at[0], bytes);
  else if (bytes == 4)
    set_each_initialised<u8>(a, access.at);
  else if (bytes == 8)
    set_each_initialised<u16>(a, access.at);
  else if (bytes == 16)
    set_each_initialised<u32>(a, access.at);
  else
    for (u32 i = 0; i < 32; ++i) set_initialised(a, access.at[i], bytes);
}

inline void check_initialised(Warp& w, const Operation& o, const Access& access,
                              const Allocation& a, u32 bytes) {
  if (access.shape == Shape::contiguous && bytes >= 4) {
    const u8* bits = a.initialised + ((access.at[0] - a.begin) >> 2);
    u8 all = 0x0f;
    for (u32 i = 0; i < 8 * bytes; ++i) all &= bits[i];
    if (all == 0x0f) return;
  } else if (access.shape == Shape::uniform) {
    if (is_initialised(a, access.at[0], bytes)) return;
  } else if (bytes == 4   ? are_initialised<u8>(a, access.at)
             : bytes == 8 ? are_initialised<u16>(a, access.at)
                          : bytes == 16 && are_initialised<u32>(a, access.at)) {
    return;
  }
  for (u32 i = 0; i < 32; ++i)
    if (!is_initialised(a, access.at[i], bytes) && w.mask & lane_bits[i])
      fault_uninitialised(w, o, i, access.at[i], bytes);
}

#ifdef __AVX512F__
typedef u32 Four __attribute__((vector_size(16)));
typedef u32 Sixteen __attribute__((vector_size(64)));

/// Four times 16 bytes, one behind the other. By the CPU's registers: what four stores have
/// written, a load of all of it waits for.
inline Sixteen four_of(const std::byte* a, const std::byte* b, const std::byte* c,
                       const std::byte* d) {
  Four v[4];
  __builtin_memcpy(&v[0], a, 16);
  __builtin_memcpy(&v[1], b, 16);
  __builtin_memcpy(&v[2], c, 16);
  __builtin_memcpy(&v[3], d, 16);
  const auto low = __builtin_shufflevector(v[0], v[1], 0, 1, 2, 3, 4, 5, 6, 7);
  const auto high = __builtin_shufflevector(v[2], v[3], 0, 1, 2, 3, 4, 5, 6, 7);
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
#endif

/// Fills in what the lanes access in global memory.
inline void access_global(Warp& w, const Operation& o, Access& access, u32 bytes, Use use) {
  const Range range = range_and_shape(access, bytes, w.mask);
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
  access.base = nullptr;
  if (a && a->end - a->begin < u64{1} << 32) {
    access.at_base = a->begin & ~u64{7};
    access.base = reinterpret_cast<std::byte*>(access.at_base);
  }
  for (int i = 0; i < 32; ++i) access.p[i] = reinterpret_cast<std::byte*>(access.at[i]);
}

/// Marks the granules, and throws where another warp has touched them since the last barrier.
inline bool read_granules(const SharedMemory& s, u32 warp, u32 g, u32 count) {
  const u32 epoch = s.epoch << 8, mine = epoch | warp, ours = mine | atomic_bit, begin = s.begin;
  const u32 floor = s.floor << 8;
  const u32* __restrict written = s.written + g;
  u32* __restrict read = s.read + g;
  u32 bad = 0;
  for (u32 j = 0; j < count; ++j) {
    const u32 by = written[j], before = read[j];
    bad |= (by - begin >= floor - begin) & (by != mine) & (by != ours);
    const u32 shared = before > (epoch | several) ? before : epoch | several;
    read[j] = (before >= epoch) & (before != mine) ? shared : mine;
  }
  return bad == 0;
}
/// Nothing is marked where it throws.
inline bool write_granules(const SharedMemory& s, u32 warp, u32 by, u32 g, u32 count) {
  const u32 floor = s.floor << 8, mine = s.epoch << 8 | warp, ours = mine | atomic_bit;
  u32* __restrict written = s.written + g;
  u32* __restrict written_by = s.written_by + g;
  const u32* __restrict readers = s.read + g;
  u32 bad = 0;
  for (u32 j = 0; j < count; ++j) {
    const u32 before = written[j], read = readers[j];
    bad |= (before >= floor) & (before != mine) & (before != ours);
    bad |= (read >= floor) & (read != mine);
  }
  if (__builtin_expect(bad != 0, 0)) return false;
  for (u32 j = 0; j < count; ++j) written[j] = mine;
  for (u32 j = 0; j < count; ++j) written_by[j] = by;
  return true;
}

// The same for `places` of `count` granules each, all at once and without a jump for each of them.
// False says nothing yet: the functions above, place by place, find out what is wrong. Nothing is
// marked as written then.

/// Some of the granules of a place, as a vector.
template <u32 count>
struct Granules {
  static constexpr u32 width = count < 4 ? count : 4, parts = count / width;
  typedef u32 Vector __attribute__((vector_size(4 * width)));
  static Vector load(const u32* from) {
    Vector v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
  }
  static void store(u32* to, Vector v) { __builtin_memcpy(to, &v, sizeof v); }
  static bool any(Vector v) {
    u32 each[width], all = 0;
    __builtin_memcpy(each, &v, sizeof v);
    for (const u32 one : each) all |= one;
    return all != 0;
  }
};

/// Lanes of 32 whose place no lane before them has, as far as that shows when one bit of the lanes'
/// numbers is left out: most often a place depends on some of these bits alone. Where the CPU is
/// slow at it, all lanes.
inline u32 first_of_each([[maybe_unused]] const s32* places) {
#ifdef __AVX512F__
  const __m512i low = _mm512_loadu_si512(places), high = _mm512_loadu_si512(places + 16);
  const auto again = [](__m512i x) {
    return _mm512_mask_cmpeq_epi32_mask(0xaaaa, x, _mm512_maskz_rol_epi64(0xff, x, 32)) |
           _mm512_mask_cmpeq_epi32_mask(0xcccc, x, _mm512_bslli_epi128(x, 8)) |
           _mm512_mask_cmpeq_epi32_mask(0xf0f0, x, _mm512_maskz_shuffle_i32x4(0xffff, x, x, 0xb1)) |
           _mm512_mask_cmpeq_epi32_mask(0xff00, x, _mm512_maskz_shuffle_i32x4(0xffff, x, x, 0x4e));
  };
  const u32 of_high = again(high) | _mm512_cmpeq_epi32_mask(low, high);
  return ~(of_high << 16 | again(low));
#else
  return all_lanes;
#endif
}

/// `lanes`: whose places are looked at.
template <u32 count>
inline bool read_places(const SharedMemory& s, u32 warp, const s32* places, u32 lanes) {
  using G = Granules<count>;
  using V = typename G::Vector;
  const u32 epoch = s.epoch << 8, mine = epoch | warp, ours = mine | atomic_bit, begin = s.begin;
  const u32 floor = s.floor << 8;
  const V by_several = V{} + (epoch | several), by_me = V{} + mine;
  const u32* const written = s.written;  // the compiler cannot know that stamps are not pointers
  u32* const read = s.read;
  V bad{};
  for (u32 rest = lanes; rest; rest &= rest - 1)
    for (u32 j = 0; j < G::parts; ++j) {
      const u32 at = static_cast<u32>(places[first_lane(rest)]) + j * G::width;
      const V by = G::load(written + at), before = G::load(read + at);
      bad |= reinterpret_cast<V>((by - begin >= floor - begin) & (by != mine) & (by != ours));
      const V by_all = before > by_several ? before : by_several;
      G::store(read + at, (before >= epoch) & (before != mine) ? by_all : by_me);
    }
  return !G::any(bad);
}
template <>
inline bool read_places<1>(const SharedMemory& s, u32 warp, const s32* places, u32) {
  const u32 epoch = s.epoch << 8, mine = epoch | warp, ours = mine | atomic_bit, begin = s.begin;
  const u32 by_several = epoch | several, floor = s.floor << 8;
  alignas(64) u32 by[32], before[32], now[32];
  const u32* const written = s.written;
  u32* const read = s.read;
  for (int i = 0; i < 32; ++i) by[i] = written[places[i]];
  for (int i = 0; i < 32; ++i) before[i] = read[places[i]];
  u32 bad = 0, changed = 0;
  for (int i = 0; i < 32; ++i) {
    bad |= (by[i] - begin >= floor - begin) & (by[i] != mine) & (by[i] != ours) ? 1 : 0;
    const u32 by_all = before[i] > by_several ? before[i] : by_several;
    now[i] = (before[i] >= epoch) & (before[i] != mine) ? by_all : mine;
    changed |= now[i] ^ before[i];
  }
  if (changed)
    for (int i = 0; i < 32; ++i) read[places[i]] = now[i];
  return bad == 0;
}
inline bool read_places(const SharedMemory& s, u32 warp, const s32* places, u32 lanes, u32 count) {
  switch (count) {
    case 1:
      return read_places<1>(s, warp, places, lanes);
    case 2:
      return read_places<2>(s, warp, places, lanes);
    case 4:
      return read_places<4>(s, warp, places, lanes);
    case 8:
      return read_places<8>(s, warp, places, lanes);
    case 16:
      return read_places<16>(s, warp, places, lanes);
    default:
      return false;
  }
}

/// `stamp`: of who writes, or of a copy.
template <u32 count>
inline bool write_places(const SharedMemory& s, u32 warp, u32 by, u32 stamp, const s32* places,
                         u32 n) {
  using G = Granules<count>;
  using V = typename G::Vector;
  const u32 floor = s.floor << 8, mine = s.epoch << 8 | warp, ours = mine | atomic_bit;
  u32 *const written = s.written, *const written_by = s.written_by;
  const u32* const readers = s.read;
  V bad{};
  for (u32 i = 0; i < n; ++i)
    for (u32 j = 0; j < G::parts; ++j) {
      const u32 at = static_cast<u32>(places[i]) + j * G::width;
      const V before = G::load(written + at), read = G::load(readers + at);
      bad |= reinterpret_cast<V>((before >= floor) & (before != mine) & (before != ours));
      bad |= reinterpret_cast<V>((read >= floor) & (read != mine));
    }
  if (G::any(bad)) return false;
  for (u32 i = 0; i < n; ++i)
    for (u32 j = 0; j < G::parts; ++j) {
      const u32 at = static_cast<u32>(places[i]) + j * G::width;
      G::store(written + at, V{} + stamp);
      G::store(written_by + at, V{} + by);
    }
  return true;
}
template <>
inline bool write_places<1>(const SharedMemory& s, u32 warp, u32 by, u32 stamp, const s32* places,
                            u32 n) {
  const u32 floor = s.floor << 8, mine = s.epoch << 8 | warp, ours = mine | atomic_bit;
  u32 *const written = s.written, *const written_by = s.written_by;
  const u32* const readers = s.read;
  u32 bad = 0;
  for (u32 i = 0; i < n; ++i) {
    const u32 before = written[places[i]], read = readers[places[i]];
    bad |= (before >= floor) & (before != mine) & (before != ours) ? 1 : 0;
    bad |= (read >= floor) & (read != mine) ? 1 : 0;
  }
  if (bad) return false;
  for (u32 i = 0; i < n; ++i) written[places[i]] = stamp;
  for (u32 i = 0; i < n; ++i) written_by[places[i]] = by;
  return true;
}
inline bool write_places(const SharedMemory& s, u32 warp, u32 by, u32 stamp, const s32* places,
                         u32 n, u32 count) {
  switch (count) {
    case 1:
      return write_places<1>(s, warp, by, stamp, places, n);
    case 2:
      return write_places<2>(s, warp, by, stamp, places, n);
    case 4:
      return write_places<4>(s, warp, by, stamp, places, n);
    case 8:
      return write_places<8>(s, warp, by, stamp, places, n);
    case 16:
      return write_places<16>(s, warp, by, stamp, places, n);
    default:
      return false;
  }
}

/// Whether a copy to any of them is under way.
inline bool copies_in_flight(const SharedMemory& s, u32 g, u32 count) {
  u32 latest = 0;
  for (u32 j = g; j < g + count; ++j) latest = s.written[j] > latest ? s.written[j] : latest;
  return latest >= in_flight;
}
/// Whether an atomic reads what nothing has written.
inline bool reads_nothing(const SharedMemory& s, u32 g, u32 count, Use use) {
  for (u32 j = g; use == Use::atomic && j < g + count; ++j)
    if (s.written[j] < s.begin) return true;
  return false;
}
/// Atomic and other strong accesses do not race with one another. An ordinary store of the warp
/// stays one for the others until a barrier, whatever atomics of its own come after it.
inline bool atomic_granules(const Warp& w, const SharedMemory& s, u32 who, u32 by, u32 g, u32 count,
                            bool writes, bool reads) {
  const u32 epoch = s.epoch << 8, floor = s.floor << 8;
  for (u32 j = g; j < g + count; ++j) {
    const u32 before = s.written[j], read = s.read[j];
    const bool by_others = before >= floor && !in_order(w, s, who, before);
    if (before >= in_flight || (by_others && !(before & atomic_bit))) return false;
    if (reads && before < s.begin) return false;
    if (!writes) continue;
    if (read >= floor && (read >= in_flight || !in_order(w, s, who, read))) return false;
    if (before >= floor && (before & 0xff) == who) continue;  // the warp's own ordinary store
    s.written[j] = by_others ? epoch | atomic_several : epoch | who | atomic_bit;
    s.written_by[j] = by;
  }
  return true;
}

/// Whether the stamps allow an access of the warp: `fine` marks it where they plainly do.
template <class Fine>
inline bool allowed(Warp& w, SharedMemory& s, u32 who, u32 g, u32 count, bool reads, bool strong,
                    Fine fine) {
  return __builtin_expect(fine(), 1) ||
         ((s.special || s.by_warps) && settled(w, s, who, g, count, reads, strong) &&
          (reads || fine()));
}

/// Addresses of which some are not of the block's own .shared: of another block of the cluster, or
/// wrong.
[[gnu::noinline]] inline void access_cluster(Warp& w, const Operation& o, Access& access, u32 bytes,
                                             Use use) {
  access.shape = Shape::general;
  access.base = nullptr;
  const bool strong = use == Use::atomic || o.flags & memory_strong;
  const u32 by = static_cast<u32>(&o - w.operations) | fenced;
  for (u32 m = w.mask; m; m &= m - 1) {
    const u32 i = first_lane(m);
    const SharedPlace place =
        shared_place(w, o, i, access.at[i],
                     (o.c & memory_space) == memory_shared ? memory_shared : memory_cluster, bytes);
    SharedMemory& s = place.block->shared;
    access.p[i] = s.bytes + place.at;
    if (!w.block->check) continue;
    if (bytes < 1u << s.granule) refine(s, bytes == 1 ? 0 : 1);
    const bool own = place.block == w.block;
    const u32 who = own ? w.index : of_cluster | w.block->rank;
    const u32 written_by = own ? static_cast<u32>(&o - w.operations) | w.fences : by;
    const u32 g = place.at >> s.granule, n = bytes >> s.granule;
    const auto fine = [&] {
      if (strong)
        return atomic_granules(w, s, who, written_by, g, n, use != Use::reads, use != Use::writes);
      return use == Use::reads ? read_granules(s, who, g, n)
                               : write_granules(s, who, written_by, g, n);
    };
    if (!allowed(w, s, who, g, n, use == Use::reads, strong, fine))
      fault_shared(w, o, i, g, use != Use::reads && !reads_nothing(s, g, n, use), place.block);
  }
  const u32 active = first_lane(w.mask);
  for (u32 i = 0; i < 32; ++i)
    if (!(w.mask & lane_bits[i])) access.p[i] = access.p[active];
}

/// Fills in what the lanes access in shared memory. The addresses are those of .shared, or of
/// .shared::cluster.
inline void access_shared(Warp& w, const Operation& o, Access& access, u32 bytes, Use use) {
  const Range range = range_and_shape(access, bytes, w.mask);
  check_aligned(w, o, access, range.together, bytes);
  SharedMemory& s = w.block->shared;
  // Not `high + bytes`, which the last addresses of all turn into a small number.
  if (__builtin_expect(range.low < shared_begin || range.high - shared_begin + bytes > s.size, 0))
    return access_cluster(w, o, access, bytes, use);
  access.base = s.bytes;
  access.at_base = shared_begin;
  for (int i = 0; i < 32; ++i) access.p[i] = s.bytes + (access.at[i] - shared_begin);
  if (!w.block->check) return;
  const u32 by = use == Use::reads ? 0 : static_cast<u32>(&o - w.operations) | w.fences;
  if (__builtin_expect(bytes < 1u << s.granule, 0)) refine(s, bytes == 1 ? 0 : 1);
  const u32 count = bytes >> s.granule;  // a granule is no longer than any access
  const bool strong = use == Use::atomic || o.flags & memory_strong;
  const auto fine = [&](u32 g, u32 n) {
    if (strong)
      return atomic_granules(w, s, w.index, by, g, n, use != Use::reads, use != Use::writes);
    return use == Use::reads ? read_granules(s, w.index, g, n)
                             : write_granules(s, w.index, by, g, n);
  };
  const auto granule = [&](int i) {
    return static_cast<u32>(access.at[i] - shared_begin) >> s.granule;
  };
  if (strong) {
    w.synced = w.stores;
  } else if (use == Use::writes) {
    begin_store(w, s, range.low, range.high + bytes);
    if (access.shape == Shape::contiguous)
      store_row(w, s, count, granule(0));
    else
      store_places(w, s, count, granule);
  } else if (__builtin_expect(has_stored(w, s, range.low, range.high + bytes), 0)) {
    for (u32 m = w.mask; m; m &= m - 1)
      check_own_writes(w, o, m & -m, granule(static_cast<int>(first_lane(m))), count);
  }
  if (access.shape == Shape::general && !strong) {
    alignas(64) s32 places[32];
    for (int i = 0; i < 32; ++i) places[i] = static_cast<s32>(granule(i));
    if (use == Use::reads
            ? read_places(s, w.index, places, count > 1 ? first_of_each(places) : all_lanes, count)
            : write_places(s, w.index, by, s.epoch << 8 | w.index, places, 32, count))
      return;
  }
  const auto look_at = [&](u32 lane, u32 g, u32 n) {
    if (allowed(w, s, w.index, g, n, use == Use::reads, strong, [&] { return fine(g, n); })) return;
    access.rewrites = use == Use::writes && !strong && !copies_in_flight(s, g, n);
    if (!access.rewrites)
      fault_shared(w, o, lane, g, use != Use::reads && !reads_nothing(s, g, n, use));
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
  const auto is_outside = [&](u64 at) {
    return at > w.local_stride || at + bytes > w.local_stride;
  };
  if (__builtin_expect(is_outside(range.high), 0))
    for (u32 i = 0; i < 32; ++i)
      if (w.mask & lane_bits[i] && is_outside(access.at[i]))
        fault_window(w, o, i, "local", access.at[i], bytes, w.local_stride);
  const u32 active = first_lane(w.mask);
  for (u32 i = 0; i < 32; ++i) {
    const u32 lane = w.mask & lane_bits[i] ? i : active;
    access.p[i] = w.local + u64{lane} * w.local_stride + access.at[i];
  }
  access.shape = Shape::general;
  access.base = nullptr;
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
    case memory_cluster:
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
    access = given;
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
