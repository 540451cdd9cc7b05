// SPDX-License-Identifier: Apache-2.0
// cp.async: copies of a thread from global to shared memory. Nobody may touch their bytes until the
// thread has waited for them, and other warps not before a barrier after that.
#include "ptx/execute/instructions/access.hpp"

namespace plumbline::ptx::PLUMBLINE_PTX_ISA {
namespace {

/// Where the bytes of all lanes go, at once. False where one of them is not as it should be:
/// copy_async tells.
bool find_targets(Warp& w, const Operation& o, u32 bytes, u32* to) {
  if (w.mask != all_lanes || o.flags & memory_wide) return false;
  const SharedMemory& s = w.block->shared;
  const u32* a = lanes<u32>(w, o.a);
  const u32 offset = static_cast<u32>(o.immediate) - shared_begin;
  u32 together = 0, highest = 0;
  alignas(64) s32 places[32];
  for (int i = 0; i < 32; ++i) {
    to[i] = a[i] + offset;
    together |= to[i];
    highest = to[i] > highest ? to[i] : highest;
    places[i] = static_cast<s32>(to[i] >> s.granule);
  }
  if (s.size < bytes || highest > s.size - bytes || together & (bytes - 1)) return false;
  if (!w.block->check) return true;
  const u32 by = static_cast<u32>(&o - w.operations) | w.fences;
  return write_places(s, w.index, by, in_flight | w.index, places, 32, bytes >> s.granule);
}

/// Likewise where they come from, all of them in the allocation that the operation met last.
bool are_plain_sources(Warp& w, const Operation& o, u32 bytes, const u64* from) {
  const Allocation& a = *w.block->sites[o.site];
  const u64 offset = static_cast<u64>(s64{static_cast<s32>(o.target)});
  alignas(64) u64 at[32];
  for (int i = 0; i < 32; ++i) at[i] = from[i] + offset;
  const Range range = range_of(at);
  if (range.together & (bytes - 1) || range.low < a.begin || range.high >= a.end ||
      a.end - range.high < bytes)
    return false;
  if (!a.initialised || !w.block->check) return true;
  return bytes == 16  ? are_initialised<u32>(a, at)
         : bytes == 8 ? are_initialised<u16>(a, at)
                      : are_initialised<u8>(a, at);
}

/// a: the address in shared memory; b: in global memory, of 64 bits, plus target; immediate: the
/// bytes' number << 32 | the offset of a; list[0]: how many of them are read, the rest is 0, or
/// ~0u; list[1]: a predicate of lanes that read nothing, or ~0u.
Outcome copy_async(Warp& w, const Operation& o) {
  const u32 bytes = static_cast<u32>(o.immediate >> 32);
  const u32 by = static_cast<u32>(&o - w.operations) | w.fences;
  const u32* list = w.lists + o.list;
  SharedMemory& s = w.block->shared;
  if (w.copies.size() >= most_in_flight) [[unlikely]]
    fault_in_flight(w, o, first_lane(w.mask));
  // Where the bytes go.
  u32 to[32];
  const bool found = find_targets(w, o, bytes, to);
  for (u32 m = found ? 0 : w.mask; m; m &= m - 1) {
    const u32 i = first_lane(m);
    u64 at = o.flags & memory_wide ? lanes<u64>(w, o.a)[i] : lanes<u32>(w, o.a)[i];
    at += static_cast<u64>(static_cast<s64>(static_cast<s32>(o.immediate)));
    if (!(o.flags & memory_wide)) at = static_cast<u32>(at);
    if (at & (bytes - 1)) fault_misaligned(w, o, i, at, bytes);
    if (at < shared_begin || at - shared_begin + bytes > s.size)
      fault_window(w, o, i, "shared", at, bytes, s.size);
    to[i] = static_cast<u32>(at - shared_begin);
    if (w.block->check) {
      const u32 g = to[i] >> s.granule, n = bytes >> s.granule;
      if (!allowed(w, s, w.index, g, n, false, false,
                   [&] { return write_granules(s, w.index, by, g, n); }))
        fault_shared(w, o, i, g, true);
      for (u32 j = g; j < g + n; ++j) s.written[j] = in_flight | w.index;
    }
  }
  // Where they come from.
  const u64* from = lanes<u64>(w, o.b);
  const s64 offset = static_cast<s32>(o.target);
  const u32* size = list[0] == ~0u ? nullptr : lanes<u32>(w, list[0]);
  const u32 ignored = list[1] == ~0u ? 0 : predicate(w, list[1]);
  if (found && !size && !ignored && are_plain_sources(w, o, bytes, from)) {
    for (u32 i = 0; i < 32; ++i)
      w.copies.push_back({to[i], bytes, bytes,
                          reinterpret_cast<const std::byte*>(from[i] + static_cast<u64>(offset)),
                          by, i, w.committed[i]});
    return Outcome::next;
  }
  const Allocation* a = w.block->sites[o.site];
  for (u32 m = w.mask; m; m &= m - 1) {
    const u32 i = first_lane(m);
    const u64 at = from[i] + static_cast<u64>(offset);
    const u32 filled = ignored >> i & 1 ? 0 : size ? (size[i] < bytes ? size[i] : bytes) : bytes;
    if (filled) {
      if (at & (bytes - 1)) fault_misaligned(w, o, i, at, bytes);
      if (at < a->begin || at >= a->end || a->end - at < filled) {
        a = w.block->memory->find(at);
        if (!a || a->end - at < filled) fault_global(w, o, i, at, filled, false);
        w.block->sites[o.site] = a;
      }
      if (a->initialised && w.block->check)
        for (u32 k = 0; k < filled; k += 4) {
          const u32 some = filled - k < 4 ? filled - k : 4;
          if (!is_initialised(*a, at + k, some)) fault_uninitialised(w, o, i, at + k, some);
        }
    }
    w.copies.push_back(
        {to[i], bytes, filled, reinterpret_cast<const std::byte*>(at), by, i, w.committed[i]});
  }
  return Outcome::next;
}

Outcome copy_commit(Warp& w, const Operation&) {
  for (u32 i = 0; i < 32; ++i) w.committed[i] += w.mask >> i & 1;
  return Outcome::next;
}

/// immediate: how many groups may still be under way; -1: no copy at all may be.
Outcome copy_wait(Warp& w, const Operation& o) {
  const SharedMemory& s = w.block->shared;
  const u32 stamp = s.epoch << 8 | w.index, mask = w.mask, granule = s.granule;
  const bool check = w.block->check, all = o.immediate < 0;
  // The compiler cannot know that the bytes which are copied are none of these.
  std::byte* const bytes = s.bytes;
  u32* const written = s.written;
  Copy* const copies = w.copies.data();
  const std::size_t count = w.copies.size();
  s64 due[32];  // groups of each lane that must be there
  for (int i = 0; i < 32; ++i)
    due[i] = !(mask & lane_bits[i]) ? 0 : all ? s64{1} << 32 : s64{w.committed[i]} - o.immediate;
  // Each lane sees what it has waited for, the others after the next bar.warp.sync.
  if (check && count > 0) begin_store(w, s, shared_begin, shared_begin + u64{s.size});
  u64* const lanes = s.lanes;
  std::size_t kept = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const Copy& copy = copies[k];
    if (s64{copy.group} >= due[copy.lane]) {
      copies[kept++] = copy;
      continue;
    }
    if (copy.filled == 16)  // most often: no call of memcpy
      __builtin_memcpy(bytes + copy.to, copy.from, 16);
    else
      __builtin_memcpy(bytes + copy.to, copy.from, copy.filled);
    if (copy.filled < copy.bytes)
      __builtin_memset(bytes + copy.to + copy.filled, 0, copy.bytes - copy.filled);
    if (!check) continue;
    const u32 g = copy.to >> granule, n = copy.bytes >> granule;
    if (n == 4)
      Granules<4>::store(written + g, Granules<4>::Vector{} + stamp);
    else
      for (u32 j = g; j < g + n; ++j) written[j] = stamp;
    for (u32 j = g; j < g + n; ++j) lanes[j] = u64{w.stores} << 32 | lane_bits[copy.lane];
  }
  w.copies.resize(kept);
  return Outcome::next;
}

}  // namespace

Run select_copy(const Form& form) {
  return form.op == Operator::copy_async    ? copy_async
         : form.op == Operator::copy_commit ? copy_commit
         : form.op == Operator::copy_wait   ? copy_wait
                                            : Run{};
}

}  // namespace plumbline::ptx::PLUMBLINE_PTX_ISA
