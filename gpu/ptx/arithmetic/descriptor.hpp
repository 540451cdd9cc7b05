// SPDX-License-Identifier: Apache-2.0
// wgmma's matrices in shared memory: the descriptor (PTX ISA 9.7.15.5.1.2.2) and the layouts
// (9.7.15.5.1.2.1).
#ifndef PLUMBLINE_GPU_PTX_ARITHMETIC_DESCRIPTOR_HPP
#define PLUMBLINE_GPU_PTX_ARITHMETIC_DESCRIPTOR_HPP

#include <cstdint>

namespace plumbline::ptx::arithmetic {

struct Descriptor {
  std::uint32_t start = 0;        ///< bytes
  std::uint32_t leading = 0;      ///< leading dimension byte offset
  std::uint32_t stride = 0;       ///< stride dimension byte offset
  std::uint32_t base_offset = 0;  ///< 0 to 7: where the swizzle's pattern begins
  std::uint32_t swizzle = 16;     ///< bytes: 16 (none), 32, 64, 128

  /// Bits that no field has are not read.
  static constexpr Descriptor decode(std::uint64_t bits) {
    constexpr std::uint32_t kSwizzle[] = {16, 128, 64, 32};
    const auto field = [bits](int at) {
      return static_cast<std::uint32_t>(bits >> at & 0x3fff) << 4;
    };
    return {field(0), field(16), field(32), static_cast<std::uint32_t>(bits >> 49 & 7),
            kSwizzle[bits >> 62]};
  }

  /// The byte in shared memory of an element. `mn` is the row of A or the column of B, `bytes`
  /// those of an element. `k_major`: not transposed. Sixteen bytes that begin at a multiple of 16 /
  /// bytes, of k (k_major) or of mn, are contiguous.
  constexpr std::uint32_t address(std::uint32_t mn, std::uint32_t k, std::uint32_t bytes,
                                  bool k_major) const {
    std::uint32_t at = 0;
    if (k_major) {
      const std::uint32_t along = k * bytes;
      // Without a swizzle every 16 bytes of k are `leading` apart; with one they are contiguous.
      at = mn / 8 * stride + mn % 8 * swizzle +
           (swizzle == 16 ? along / 16 * leading + along % 16 : along);
    } else {
      const std::uint32_t along = mn * bytes;
      const std::uint32_t repeat = swizzle == 16 ? stride : leading;
      const std::uint32_t eights = swizzle == 16 ? leading : stride;
      at = along / swizzle * repeat + along % swizzle + k / 8 * eights + k % 8 * swizzle;
    }
    return swizzled(start + at);
  }

 private:
  /// Bits 4 and up of an address are exchanged by its bits 7 and up, counted from where the pattern
  /// begins: Swizzle<B, 4, 3>, B = 0, 1, 2, 3.
  constexpr std::uint32_t swizzled(std::uint32_t at) const {
    const std::uint32_t rows = (at >> 7) - base_offset;
    return at ^ (rows & (swizzle / 16 - 1)) << 4;
  }
};

}  // namespace plumbline::ptx::arithmetic

#endif
