// SPDX-License-Identifier: Apache-2.0
// Tensor maps: what CUDA's CUtensorMap holds for cp.async.bulk.tensor. CUDA keeps its layout to
// itself; this one is the software device's own.
#ifndef PLUMBLINE_GPU_PTX_TENSOR_MAP_HPP
#define PLUMBLINE_GPU_PTX_TENSOR_MAP_HPP

#include <cstdint>
#include <string>

namespace plumbline::ptx {

/// The numbers are those of CUtensorMapDataType.
enum class TensorType : std::uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f64,
  bf16,
  f32_ftz,
  tf32,
  tf32_ftz,
  u4_align_8,
  u4_align_16,
  u6_align_16
};

/// The 128 bytes of a CUtensorMap.
struct alignas(64) TensorMap {
  static constexpr std::uint32_t valid_mark = 0x544d4150;

  std::uint32_t mark = 0;  ///< valid_mark: encode_tiled() or a kernel made it
  std::uint8_t type = 0;   ///< TensorType
  std::uint8_t rank = 0;   ///< of the tensor: 1 to 5
  std::uint8_t interleave = 0, swizzle = 0, l2_promotion = 0, fill = 0;  ///< CUDA's numbers
  std::uint16_t box[5] = {};     ///< elements that are traversed, of each dimension
  std::uint8_t step[5] = {};     ///< elementStrides
  std::uint64_t address = 0;     ///< of the tensor in global memory
  std::uint64_t size[5] = {};    ///< elements of each dimension, the innermost first
  std::uint64_t stride[4] = {};  ///< bytes, of the dimensions from the second on

  /// Bytes of an element.
  unsigned element_bytes() const;
  /// Elements of a dimension that a copy moves: box / step, rounded up.
  std::uint32_t count(unsigned dimension) const;
  /// Bytes that a copy moves, those outside of the tensor too; beyond 32 bits their most.
  std::uint32_t box_bytes() const;
  /// What is wrong with it, which argument and why, as cuTensorMapEncodeTiled's documentation
  /// demands it; empty where nothing is.
  std::string wrong() const;
  /// Which of what CUDA allows this device does not have; empty where it has all.
  std::string lacking() const;
};
static_assert(sizeof(TensorMap) == 128);

/// Encodes a tensor map from the arguments of cuTensorMapEncodeTiled, in its order: `map` has 128
/// bytes; the enumerations are CUDA's numbers; `global_dim`, `box_dim` and `element_strides` have
/// `rank` values, `global_strides` has rank - 1.
///
/// Throws Refused: invalid_value where CUDA's documentation forbids it (cuda.h of CUDA 13.0,
/// cuTensorMapEncodeTiled), and not_supported for what the software device does not have:
/// interleaved layouts, packed 4 and 6 bits, swizzles of other atoms than 16 bytes, and boxes whose
/// inner dimension is shorter than the swizzle's span. The sentence names the argument.
void encode_tiled(void* map, std::uint32_t type, std::uint32_t rank, void* global_address,
                  const std::uint64_t* global_dim, const std::uint64_t* global_strides,
                  const std::uint32_t* box_dim, const std::uint32_t* element_strides,
                  std::uint32_t interleave, std::uint32_t swizzle, std::uint32_t l2_promotion,
                  std::uint32_t oob_fill);

}  // namespace plumbline::ptx

#endif
