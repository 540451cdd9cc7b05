// SPDX-License-Identifier: Apache-2.0
// cp.async: copies of a thread from global to shared memory. Nobody may touch their bytes until the
// thread has waited for them, and other warps not before a barrier after that.
#include "ptx/execute/instructions/access.hpp"

namespace plumbline::ptx::PLUMBLINE_PTX_ISA {
namespace {

/// a: the address in shared memory; b: in global memory, of 64 bits, plus target; immediate: the
/// bytes' number << 32 | the offset of a; list[0]: how many of them are read, the rest is 0, or
/// ~0u; list[1]: a predicate of lanes that read nothing, or ~0u.
Outcome copy_async(Warp& w, const Operation& o) {
  const u32 bytes = static_cast<u32>(o.immediate >> 32);
  const u32 by = static_cast<u32>(&o - w.operations);
  const u32* list = w.lists + o.list;
  const SharedMemory& s = w.block->shared;
  // Where the bytes go.
  u32 to[32];
  for (u32 m = w.mask; m; m &= m - 1) {
    const u32 i = first_lane(m);
    u64 at = o.flags & memory_wide ? lanes<u64>(w, o.a)[i] : lanes<u32>(w, o.a)[i];
    at += static_cast<u64>(static_cast<s64>(static_cast<s32>(o.immediate)));
    if (!(o.flags & memory_wide)) at = static_cast<u32>(at);
    if (at & (bytes - 1)) fault_misaligned(w, o, i, at, bytes);
    if (at < shared_begin || at + bytes > shared_begin + u64{s.size})
      fault_window(w, o, i, "shared", at, bytes, s.size);
    to[i] = static_cast<u32>(at - shared_begin);
    if (w.block->check) {
      const u32 g = to[i] >> s.granule, n = bytes >> s.granule;
      if (!write_granules(s, w.index, by, g, n)) fault_shared(w, o, i, g, true);
      for (u32 j = g; j < g + n; ++j) s.written[j] = in_flight | w.index;
    }
  }
  // Where they come from.
  const u64* from = lanes<u64>(w, o.b);
  const s64 offset = static_cast<s32>(o.target);
  const u32* size = list[0] == ~0u ? nullptr : lanes<u32>(w, list[0]);
  const u32 ignored = list[1] == ~0u ? 0 : predicate(w, list[1]);
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
  const u32 stamp = s.epoch << 8 | w.index;
  std::size_t kept = 0;
  for (std::size_t k = 0; k < w.copies.size(); ++k) {
    const Copy& copy = w.copies[k];
    const bool mine = w.mask >> copy.lane & 1;
    const bool due = o.immediate < 0 || s64{copy.group} < s64{w.committed[copy.lane]} - o.immediate;
    if (!mine || !due) {
      w.copies[kept++] = copy;
      continue;
    }
    __builtin_memcpy(s.bytes + copy.to, copy.from, copy.filled);
    if (copy.filled < copy.bytes)
      __builtin_memset(s.bytes + copy.to + copy.filled, 0, copy.bytes - copy.filled);
    if (!w.block->check) continue;
    const u32 g = copy.to >> s.granule, n = copy.bytes >> s.granule;
    for (u32 j = g; j < g + n; ++j) s.written[j] = stamp;
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
