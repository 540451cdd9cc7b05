// SPDX-License-Identifier: Apache-2.0
#include "ptx/execute/distributed.hpp"

#include <string>

#include "ptx/execute/cluster.hpp"
#include "ptx/execute/faults.hpp"
#include "ptx/execute/memory_flags.hpp"

namespace plumbline::ptx {

SharedPlace shared_place(Warp& w, const Operation& o, std::uint32_t lane, std::uint64_t address,
                         std::uint32_t space, std::uint32_t bytes) {
  Block& own = *w.block;
  if (space == memory_generic) {
    if (address - shared_window >= window_bytes)
      fault(w, o, lane, Fault::Kind::bad_instruction,
            "a generic address that is not one of shared memory");
    address -= shared_window;
  }
  const std::uint64_t tag = address >> rank_shift;
  std::uint64_t at = address;
  Block* block = &own;
  if (tag != 0 && tag <= own.cluster->blocks.size()) {
    at &= (std::uint64_t{1} << rank_shift) - 1;
    block = &own.cluster->blocks[tag - 1]->block;
  }
  if (at < shared_begin || at - shared_begin + bytes > block->shared.size)
    fault_window(w, o, lane, "shared", at, bytes, block->shared.size);
  if (block != &own) {
    const std::string whose = "an access of the shared memory of block " +
                              std::to_string(block->rank) + " of its cluster";
    if (space == memory_shared)
      fault(w, o, lane, Fault::Kind::out_of_bounds, whose + " by an instruction of .shared::cta");
    if (block->left)
      fault(w, o, lane, Fault::Kind::out_of_bounds, whose + ", which has left the kernel");
    if (own.check && own.cluster->phase == 0)
      fault(w, o, lane, Fault::Kind::race,
            whose + " before any barrier.cluster: it need not have begun");
  }
  return {block, static_cast<std::uint32_t>(at - shared_begin)};
}

Outcome map_shared(Warp& w, const Operation& o) {
  const bool wide = o.flags & memory_wide;
  const std::uint64_t window = o.c == memory_generic ? shared_window : 0;
  for (std::uint32_t i = 0; i < 32; ++i) {
    if (!(w.mask >> i & 1)) continue;
    const std::uint64_t a =
        wide ? reinterpret_cast<const std::uint64_t*>(w.registers + o.a)[i]
             : std::uint64_t{reinterpret_cast<const std::uint32_t*>(w.registers + o.a)[i]};
    const std::uint32_t rank = reinterpret_cast<const std::uint32_t*>(w.registers + o.b)[i];
    const std::size_t blocks = w.block->cluster->blocks.size();
    if (rank >= blocks)
      fault(w, o, i, Fault::Kind::bad_instruction,
            "mapa of block " + std::to_string(rank) + " of a cluster of " + std::to_string(blocks));
    if (a - window >= window_bytes)
      fault(w, o, i, Fault::Kind::bad_instruction,
            "a generic address that is not one of shared memory");
    const std::uint64_t low = (a - window) & ((std::uint64_t{1} << rank_shift) - 1);
    const std::uint64_t d = window + (low | std::uint64_t{rank + 1} << rank_shift);
    if (wide)
      reinterpret_cast<std::uint64_t*>(w.registers + o.d)[i] = d;
    else
      reinterpret_cast<std::uint32_t*>(w.registers + o.d)[i] = static_cast<std::uint32_t>(d);
  }
  return Outcome::next;
}

Outcome rank_of(Warp& w, const Operation& o) {
  for (std::uint32_t i = 0; i < 32; ++i) {
    if (!(w.mask >> i & 1)) continue;
    const std::uint64_t a =
        o.flags & memory_wide
            ? reinterpret_cast<const std::uint64_t*>(w.registers + o.a)[i]
            : std::uint64_t{reinterpret_cast<const std::uint32_t*>(w.registers + o.a)[i]};
    const SharedPlace place = shared_place(w, o, i, a, o.c, 1);
    reinterpret_cast<std::uint32_t*>(w.registers + o.d)[i] = place.block->rank;
  }
  return Outcome::next;
}

}  // namespace plumbline::ptx
