// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "cases/case.hpp"

namespace plumbline::cases {

std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    // A NaN whose payload sits in the lower half would round to infinity: keep it quiet instead.
    return static_cast<std::uint16_t>((bits >> 16) | 0x0040u);
  }
  // Half of the last place less one, plus one when the result would be odd: ties go to even. The
  // carry runs into the exponent where it should, up to infinity.
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// The compiler's own type, which rounds to nearest even.
std::uint16_t to_fp16(float value) {
  return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
}

float from_fp16(std::uint16_t bits) { return static_cast<float>(std::bit_cast<_Float16>(bits)); }

float stored(float value, Format format) {
  switch (format) {
    case Format::bf16:
      return from_bf16(to_bf16(value));
    case Format::fp16:
      return from_fp16(to_fp16(value));
    case Format::fp32:
    case Format::tf32:
      return value;
  }
  return value;
}

}  // namespace plumbline::cases
