// SPDX-License-Identifier: Apache-2.0
// ldmatrix and stmatrix.
#include "ptx/execute/matrix.hpp"

#include "ptx/arithmetic/fragments.hpp"
#include "ptx/execute/instructions/access.hpp"

namespace plumbline::ptx::PLUMBLINE_PTX_ISA {
namespace {

/// The eight rows of each matrix in shared memory, checked. Row r of matrix k is at rows[8 k + r].
void find_rows(Warp& w, const Operation& o, bool writes, std::byte** rows) {
  const SharedMemory& s = w.block->shared;
  const u32 count = 8u * o.count;
  const u32 by = static_cast<u32>(&o - w.operations);
  for (u32 i = 0; i < count; ++i) {
    u64 at = (o.flags & memory_wide ? lanes<u64>(w, o.a)[i] : lanes<u32>(w, o.a)[i]) +
             static_cast<u64>(o.immediate);
    if (!(o.flags & memory_wide)) at = static_cast<u32>(at);
    if ((o.c & memory_space) == memory_generic) at -= shared_window;
    if (at < shared_begin || at + 16 > shared_begin + u64{s.size})
      fault_window(w, o, i, "shared", at, 16, s.size);
    if (at & 15) fault_misaligned(w, o, i, at, 16);
    rows[i] = s.bytes + (at - shared_begin);
    if (!w.block->check) continue;
    const u32 g = static_cast<u32>(at - shared_begin) >> s.granule, n = 16u >> s.granule;
    if (!(writes ? write_granules(s, w.index, by, g, n) : read_granules(s, w.index, g, n)))
      fault_shared(w, o, i, g, writes);
  }
}

Outcome load_matrix(Warp& w, const Operation& o) {
  if (w.mask != ~0u) return Outcome::wait;
  std::byte* rows[32];
  find_rows(w, o, false, rows);
  alignas(64) u32 t[4][32];
  for (u32 k = 0; k < o.count; ++k) {
    if (o.flags & matrix_transposed) {
      u16 m[8][8];
      for (u32 r = 0; r < 8; ++r) __builtin_memcpy(m[r], rows[8 * k + r], 16);
      for (u32 i = 0; i < 32; ++i)
        t[k][i] = static_cast<u32>(m[2 * (i % 4) + 1][i / 4]) << 16 | m[2 * (i % 4)][i / 4];
    } else {
      for (u32 r = 0; r < 8; ++r) __builtin_memcpy(&t[k][4 * r], rows[8 * k + r], 16);
    }
  }
  for (u32 k = 0; k < o.count; ++k)
    __builtin_memcpy(w.registers + w.lists[o.list + k], t[k], sizeof t[k]);
  return Outcome::next;
}

Outcome store_matrix(Warp& w, const Operation& o) {
  if (w.mask != ~0u) return Outcome::wait;
  std::byte* rows[32];
  find_rows(w, o, true, rows);
  for (u32 k = 0; k < o.count; ++k) {
    const u32* from = lanes<u32>(w, w.lists[o.list + k]);
    for (u32 i = 0; i < 32; ++i)
      for (u32 half = 0; half < 2; ++half) {
        const arithmetic::Place place = arithmetic::place_in_ldmatrix(
            static_cast<int>(i), static_cast<int>(half), o.flags & matrix_transposed);
        const u16 value = static_cast<u16>(from[i] >> 16 * half);
        __builtin_memcpy(rows[8 * k + static_cast<u32>(place.row)] + 2 * place.column, &value, 2);
      }
  }
  return Outcome::next;
}

}  // namespace

Run select_matrix(const Form& form) {
  return form.op == Operator::ldmatrix   ? load_matrix
         : form.op == Operator::stmatrix ? store_matrix
                                         : Run{};
}

}  // namespace plumbline::ptx::PLUMBLINE_PTX_ISA
