// SPDX-License-Identifier: Apache-2.0
// ldmatrix and stmatrix.
#include "ptx/execute/matrix.hpp"

#include "ptx/arithmetic/fragments.hpp"
#include "ptx/execute/instructions/access.hpp"

namespace plumbline::ptx::PLUMBLINE_PTX_ISA {
namespace {

/// Each row is all lanes' together: which of them has which part depends on the layout.
void check_lanes(Warp& w, const Operation& o, bool writes, const u64* at, u32 count) {
  const SharedMemory& s = w.block->shared;
  const auto place = [&](u32 i) { return static_cast<u32>(at[i]) >> s.granule; };
  const u32 parts = 16u >> s.granule;
  if (writes) {
    begin_store(w, s, shared_begin, shared_begin + u64{s.size});
    for (u32 i = 0; i < count; ++i)
      for (u32 j = 0; j < parts; ++j) s.lanes[place(i) + j] = u64{w.stores} << 32 | all_lanes;
  } else if (has_stored(w, s, shared_begin, shared_begin + u64{s.size})) {
    for (u32 i = 0; i < count; ++i) check_own_writes(w, o, all_lanes, place(i), parts);
  }
}

/// All rows at once. False where one of them is not as it should be: find_rows tells.
bool find_plain_rows(Warp& w, const Operation& o, bool writes, std::byte** rows) {
  const SharedMemory& s = w.block->shared;
  const u32 count = 8u * o.count;
  const u64 begin =
      shared_begin + ((o.c & memory_space) == memory_generic ? shared_window : u64{0});
  u64 together = 0;
  alignas(64) u64 at[32];
  for (u32 i = 0; i < count; ++i) {
    u64 address = (o.flags & memory_wide ? lanes<u64>(w, o.a)[i] : lanes<u32>(w, o.a)[i]) +
                  static_cast<u64>(o.immediate);
    if (!(o.flags & memory_wide)) address = static_cast<u32>(address);
    at[i] = address - begin;
  }
  u64 highest = 0;
  for (u32 i = 0; i < count; ++i) {
    together |= at[i];
    highest = at[i] > highest ? at[i] : highest;
  }
  if (s.size < 16 || highest > s.size - 16 || together & 15) return false;
  for (u32 i = 0; i < count; ++i) rows[i] = s.bytes + at[i];
  if (!w.block->check) return true;
  alignas(64) s32 places[32];
  for (u32 i = 0; i < count; ++i) places[i] = static_cast<s32>(at[i] >> s.granule);
  const u32 by = static_cast<u32>(&o - w.operations) | w.fences;
  check_lanes(w, o, writes, at, count);
  return writes
             ? write_places(s, w.index, by, s.epoch << 8 | w.index, places, count, 16u >> s.granule)
             : read_places(s, w.index, places, all_lanes >> (32 - count), 16u >> s.granule);
}

/// The eight rows of each matrix in shared memory, checked. Row r of matrix k is at rows[8 k + r].
void find_rows(Warp& w, const Operation& o, bool writes, std::byte** rows) {
  if (find_plain_rows(w, o, writes, rows)) return;
  SharedMemory& s = w.block->shared;
  const u32 count = 8u * o.count;
  const u32 by = static_cast<u32>(&o - w.operations) | w.fences;
  for (u32 i = 0; i < count; ++i) {
    u64 at = (o.flags & memory_wide ? lanes<u64>(w, o.a)[i] : lanes<u32>(w, o.a)[i]) +
             static_cast<u64>(o.immediate);
    if (!(o.flags & memory_wide)) at = static_cast<u32>(at);
    if ((o.c & memory_space) == memory_generic) at -= shared_window;
    if (at < shared_begin || at - shared_begin + 16 > s.size)
      fault_window(w, o, i, "shared", at, 16, s.size);
    if (at & 15) fault_misaligned(w, o, i, at, 16);
    rows[i] = s.bytes + (at - shared_begin);
    if (!w.block->check) continue;
    const u32 g = static_cast<u32>(at - shared_begin) >> s.granule, n = 16u >> s.granule;
    if (!allowed(w, s, w.index, g, n, !writes, false, [&] {
          return writes ? write_granules(s, w.index, by, g, n) : read_granules(s, w.index, g, n);
        }))
      fault_shared(w, o, i, g, writes);
  }
}

typedef u16 Row __attribute__((vector_size(16)));

/// Rows and columns of 8 x 8 half-words exchanged: pairs, pairs of pairs, halves.
inline void transpose(Row (&m)[8]) {
  Row t[8];
  for (int i = 0; i < 4; ++i) {
    t[2 * i] = __builtin_shuffle(m[2 * i], m[2 * i + 1], Row{0, 8, 2, 10, 4, 12, 6, 14});
    t[2 * i + 1] = __builtin_shuffle(m[2 * i], m[2 * i + 1], Row{1, 9, 3, 11, 5, 13, 7, 15});
  }
  Row u[8];
  for (int i = 0; i < 8; i += 4)
    for (int j = 0; j < 2; ++j) {
      u[i + j] = __builtin_shuffle(t[i + j], t[i + j + 2], Row{0, 1, 8, 9, 4, 5, 12, 13});
      u[i + j + 2] = __builtin_shuffle(t[i + j], t[i + j + 2], Row{2, 3, 10, 11, 6, 7, 14, 15});
    }
  for (int i = 0; i < 4; ++i) {
    m[i] = __builtin_shuffle(u[i], u[i + 4], Row{0, 1, 2, 3, 8, 9, 10, 11});
    m[i + 4] = __builtin_shuffle(u[i], u[i + 4], Row{4, 5, 6, 7, 12, 13, 14, 15});
  }
}

Outcome load_matrix(Warp& w, const Operation& o) {
  if (w.mask != ~0u) return Outcome::wait;
  std::byte* rows[32];
  find_rows(w, o, false, rows);
  for (u32 k = 0; k < o.count; ++k) {
    std::byte* const* row = rows + 8 * k;
    Row m[8];
    if (o.flags & matrix_transposed) {
      for (u32 r = 0; r < 8; ++r) __builtin_memcpy(&m[r], row[r], 16);
      transpose(m);
    }
    std::byte* to = w.registers + w.lists[o.list + k];
    for (u32 r = 0; r < 8; r += 4) {
      const std::byte* from[4];
      for (u32 i = 0; i < 4; ++i)
        from[i] = o.flags & matrix_transposed ? reinterpret_cast<const std::byte*>(&m[r + i])
                                              : row[r + i];
#ifdef __AVX512F__
      const Sixteen four = four_of(from[0], from[1], from[2], from[3]);
      __builtin_memcpy(to + 16 * r, &four, sizeof four);
#else
      for (u32 i = 0; i < 4; ++i) __builtin_memcpy(to + 16 * (r + i), from[i], 16);
#endif
    }
  }
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
