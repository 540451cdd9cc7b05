// SPDX-License-Identifier: Apache-2.0
// wgmma.mma_async, computed when a warp comes to it.
#include "ptx/execute/wgmma.hpp"
#include "ptx/execute/asynchronous.hpp"

#include "ptx/execute/instructions/access.hpp"

namespace plumbline::ptx::PLUMBLINE_PTX_ISA {
namespace {

template <u32 swizzle>
void pieces_with(const Tile& tile, u32* at) {
  arithmetic::Descriptor d = tile.descriptor;
  d.swizzle = swizzle;  // known here: no division
  const u32 first = tile.first, count = 2 * tile.rows, eights = tile.rows / 8;
  if (tile.k_major)
    for (u32 i = 0; i < count; ++i)
      at[i] = d.address(first + i / 2, i % 2 * 16, 1, true) - shared_begin;
  else
    for (u32 k = 0; k < 16; ++k)
      for (u32 i = 0; i < eights; ++i)
        at[k * eights + i] = d.address(first + 8 * i, k, 2, false) - shared_begin;
}

/// Where the 16-byte pieces of a tile lie, from the first byte of shared memory: k_major [row][2],
/// else [k][row / 8].
void find_pieces(Warp& w, const Operation& o, Tile& tile, u32* at) {
  switch (tile.descriptor.swizzle) {
    case 16:
      pieces_with<16>(tile, at);
      break;
    case 32:
      pieces_with<32>(tile, at);
      break;
    case 64:
      pieces_with<64>(tile, at);
      break;
    default:
      pieces_with<128>(tile, at);
  }
  s32 low = INT32_MAX, high = INT32_MIN;  // below 0: before the first byte
  for (u32 i = 0; i < 2 * tile.rows; ++i) {
    const s32 one = static_cast<s32>(at[i]);
    low = one < low ? one : low;
    high = one > high ? one : high;
  }
  if (low < 0 || high + 16 > static_cast<s32>(w.block->shared.size))
    fault_tile(w, o, tile, low, high + 15);
  tile.low = static_cast<u32>(low), tile.high = static_cast<u32>(high) + 16;
}

/// The asynchronous proxy reads these pieces of 16 bytes, for the warp or (`by_all`) its warpgroup,
/// until the wait.
void check_reads(Warp& w, const Operation& o, const u32* at, u32 count, bool by_all) {
  const SharedMemory& s = w.block->shared;
  const u32 stamp = in_flight | w.index, granules = 16u >> s.granule;
  u32 last = ~0u, last_by = ~0u;  // what was right; in most tiles all are alike
  for (u32 i = 0; i < count; ++i) {
    const u32 g = at[i] >> s.granule;
    u32 other = 0;
    for (u32 j = g; j < g + granules; ++j) {
      other |= (s.written[j] ^ last) | ((s.written_by[j] & ~operation_bits) ^ last_by);
      s.read[j] = stamp;
    }
    if (__builtin_expect(other == 0, 1)) continue;
    asynchronous_reads(w, o, 0, at[i], 16, Reads::group);
    if (by_all) check_warpgroup_reads(w, o, g, granules);
    last = s.written[g];
    last_by = s.written_by[g] & ~operation_bits;
  }
}

/// A's 16 rows of this warp: [row][k].
void gather_rows(const std::byte* bytes, const Tile& tile, const u32* at, std::byte* rows) {
  if (tile.k_major) {
    for (u32 i = 0; i < 32; ++i) __builtin_memcpy(rows + 16 * i, bytes + at[i], 16);
    return;
  }
  u16 m[16][16];
  for (u32 i = 0; i < 32; ++i) {
    u16 eight[8];
    __builtin_memcpy(eight, bytes + at[i], 16);
    for (u32 r = 0; r < 8; ++r) m[i % 2 * 8 + r][i / 2] = eight[r];
  }
  __builtin_memcpy(rows, m, sizeof m);
}

Outcome multiply_by_group(Warp& w, const Operation& o) {
  if (w.mask != all_lanes) return Outcome::wait;
  const auto& product = *static_cast<const WgmmaProduct*>(o.extra);
  const std::byte* const bytes = w.block->shared.bytes;
  const bool check = w.block->check;
  WgmmaTurn turn;
  begin_wgmma(w, o, turn);
  alignas(64) u32 at[512];
  alignas(64) std::byte rows[512], pieces[8192];
  arithmetic::WgmmaOperands operands{};
  if (!product.a_in_registers) {
    find_pieces(w, o, turn.a, at);
    if (check) check_reads(w, o, at, 32, false);
    gather_rows(bytes, turn.a, at, rows);
    operands.a_rows = rows;
  }
  const u32 count = 2 * turn.b.rows;
  if (turn.decode) find_pieces(w, o, turn.b, at);
  if (turn.first) turn.step->b = turn.b;
  if (turn.first && check) check_reads(w, o, at, count, true);
  if (turn.decode) {
    for (u32 i = 0; i < count; ++i) __builtin_memcpy(pieces + 16 * i, bytes + at[i], 16);
    arithmetic::decode_b(product.how, pieces, product.negate_b, turn.columns, turn.b.k_major);
  }
  operands.b = turn.columns;

  void* d[128];
  const void* a[4];
  const u32* list = w.lists + o.list;
  for (u32 i = 0; i < product.accumulators; ++i) d[i] = w.registers + list[i];
  if (product.a_in_registers) {
    for (u32 i = 0; i < 4; ++i) a[i] = w.registers + list[product.accumulators + i];
    operands.a = a;
  }
  operands.d = d;
  operands.negate_a = product.negate_a;
  operands.accumulate = turn.accumulate;
  product.function(product.how, operands);
  end_wgmma(w, o, turn);
  return Outcome::next;
}

}  // namespace

Run select_wgmma(const Form& form) {
  return form.op == Operator::wgmma ? multiply_by_group : Run{};
}

}  // namespace plumbline::ptx::PLUMBLINE_PTX_ISA
