// SPDX-License-Identifier: Apache-2.0
// The formats of a kernel's arrays: their sizes, and the conversions from and to float.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "verdict/cases/spec.hpp"

namespace plumbline::cases {

/// Of one number in memory: fp32 and tf32 4, bf16 and fp16 2, e4m3 and e5m2 1.
std::size_t bytes_per_number(Format);

/// e4m3 and e5m2, whose q, k and v come with a scale for each batch and key head.
inline bool has_scales(Format format) { return bytes_per_number(format) == 1; }

/// The format of o, grad_o and the gradients where q, k and v have this one: bf16 for e4m3 and
/// e5m2, else the same.
inline Format output_format(Format format) { return has_scales(format) ? Format::bf16 : format; }
/// @param in_float float_o of the kernel's contract, or of gradients float_gradients
inline Format output_format(Format format, std::int32_t in_float) {
  return in_float != 0 ? Format::fp32 : output_format(format);
}

/// bf16 and fp16 bits, round to nearest even, and back. NaN stays NaN.
std::uint16_t to_bf16(float);
float from_bf16(std::uint16_t);
std::uint16_t to_fp16(float);
float from_fp16(std::uint16_t);

/// The 8-bit formats of the Open Compute Project's specification (OFP8, revision 1.0, 2023, section
/// 5): e4m3 with largest number 448, NaN in one pattern of each sign and no infinity; e5m2, the
/// upper byte of an fp16 number, with largest number 57344. Round to nearest even, without
/// saturation, as PyTorch's float8_e4m3fn and float8_e5m2 and ml_dtypes convert: beyond the largest
/// number e4m3 gives NaN and e5m2 infinity. Saturation would turn a number that does not fit into
/// another one unseen.
std::uint8_t to_e4m3(float);
float from_e4m3(std::uint8_t);
std::uint8_t to_e5m2(float);
float from_e5m2(std::uint8_t);

/// The number as the format stores it, widened again: the number itself in fp32 and tf32, whose
/// memory holds floats.
float stored(float, Format);

/// The same of k and v in a cache: in int8 the nearest whole number, at a tie the even one, and NaN
/// beyond 127.
float stored(float, Format, CacheFormat);

/// The numbers as a kernel's array holds them, and back.
std::vector<std::byte> stored_bytes(std::span<const float>, Format);
/// Of a cache. NaN is -128 in int8, which no number is.
std::vector<std::byte> stored_bytes(std::span<const float>, Format, CacheFormat);
std::vector<float> widened(std::span<const std::byte>, Format);

}  // namespace plumbline::cases
