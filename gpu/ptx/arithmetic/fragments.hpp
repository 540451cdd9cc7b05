// SPDX-License-Identifier: Apache-2.0
// Which element of a matrix a lane holds, and where: the fragments of mma.sync (PTX ISA
// 9.7.14.5.1 to .11), of wgmma (9.7.15.5.1.1), of ldmatrix, stmatrix and movmatrix (.15 to .17).
#ifndef PLUMBLINE_GPU_PTX_ARITHMETIC_FRAGMENTS_HPP
#define PLUMBLINE_GPU_PTX_ARITHMETIC_FRAGMENTS_HPP

#include "ptx/arithmetic/bits.hpp"

namespace plumbline::ptx::arithmetic {

struct Place {
  int row = 0, column = 0;
  constexpr bool operator==(const Place&) const = default;
};

/// a_i of m16n8kK, elements of `bits` bits (8, 16, 32, 64). i counts as the ISA does: through the
/// registers from the first, in each from the low bits. Row and column in A (16 x K). A 64-bit
/// element is alone in its register. Also A of wgmma: the rows are those of the lane's warp.
PLUMBLINE_PTX_INLINE constexpr Place place_in_a(int bits, int lane, int i) {
  const int group = lane / 4, in_group = lane % 4;
  if (bits == 64) return {group + 8 * (i % 2), in_group + 4 * (i / 2)};
  const int in_register = 32 / bits, r = i / in_register;
  return {group + 8 * (r % 2), in_register * (in_group + 4 * (r / 2)) + i % in_register};
}

/// b_i of mnn8kK: row in K, column in 8.
PLUMBLINE_PTX_INLINE constexpr Place place_in_b(int bits, int lane, int i) {
  const int group = lane / 4, in_group = lane % 4;
  const int in_register = bits == 64 ? 1 : 32 / bits, r = i / in_register;
  return {in_register * (in_group + 4 * r) + i % in_register, group};
}

/// c_i (and d_i) of m16n8kK, for any type. Also D of wgmma m64nN: i goes to N/2, the rows are those
/// of the lane's warp, every four elements are the next 8 columns.
PLUMBLINE_PTX_INLINE constexpr Place place_in_c(int lane, int i) {
  return {lane / 4 + 8 * (i / 2 % 2), 8 * (i / 4) + 2 * (lane % 4) + i % 2};
}

/// ldmatrix and stmatrix .m8n8.b16 (9.7.14.5.15, .16), matrix `register`: the half-word `half` of
/// the lane's register is this element of the matrix. Row r of matrix j lies at the address that
/// lane 8 j + r gives. With .trans row and column are exchanged.
PLUMBLINE_PTX_INLINE constexpr Place place_in_ldmatrix(int lane, int half, bool trans) {
  return trans ? Place{2 * (lane % 4) + half, lane / 4} : Place{lane / 4, 2 * (lane % 4) + half};
}

/// movmatrix .m8n8.trans.b16 (9.7.14.5.17): half-word `half` of the result's lane comes from this
/// lane's half-word of the source.
struct HalfWord {
  int lane = 0, half = 0;
  constexpr bool operator==(const HalfWord&) const = default;
};
PLUMBLINE_PTX_INLINE constexpr HalfWord source_of_movmatrix(int lane, int half) {
  const Place from = place_in_ldmatrix(lane, half, true);
  return {4 * from.row + from.column / 2, from.column % 2};
}

}  // namespace plumbline::ptx::arithmetic

#endif
