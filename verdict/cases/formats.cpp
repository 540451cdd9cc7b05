// SPDX-License-Identifier: Apache-2.0
#include "verdict/cases/formats.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace plumbline::cases {
namespace {

/// An 8-bit format: sign, exponent, then `fraction` bits.
struct Small {
  int fraction;
  int least_exponent;  ///< of normal numbers; subnormal ones are multiples of 2^(this - fraction)
  unsigned beyond;     ///< the pattern after the largest number: NaN in e4m3, infinity in e5m2
  unsigned nan;
};
constexpr Small e4m3{3, -6, 0x7f, 0x7f};
constexpr Small e5m2{2, -14, 0x7c, 0x7e};

std::uint8_t narrowed(float value, const Small& format) {
  const unsigned sign = std::signbit(value) ? 0x80 : 0;
  if (std::isnan(value)) return static_cast<std::uint8_t>(sign | format.nan);
  const double magnitude = std::abs(double{value});
  if (magnitude >= 0x1p17) return static_cast<std::uint8_t>(sign | format.beyond);
  const int exponent = magnitude > 0 ? std::max(std::ilogb(magnitude), format.least_exponent)
                                     : format.least_exponent;
  // In units of the last place, exactly; then to the nearest whole number, ties to even.
  const double places = std::ldexp(magnitude, format.fraction - exponent);
  double whole = std::floor(places);
  const double rest = places - whole;
  if (rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2.0) == 1.0)) ++whole;
  // The leading bit of a normal number, and a carry, run into the exponent where they should.
  const unsigned bits =
      (static_cast<unsigned>(exponent - format.least_exponent) << format.fraction) +
      static_cast<unsigned>(whole);
  return static_cast<std::uint8_t>(sign | std::min(bits, format.beyond));
}

float widened(std::uint8_t bits, const Small& format) {
  const unsigned magnitude = bits & 0x7fu, ones = (1u << format.fraction) - 1;
  const unsigned exponent = magnitude >> format.fraction;
  // A normal number's leading bit is not stored.
  const unsigned places = (magnitude & ones) | (exponent > 0 ? ones + 1 : 0);
  const int unit =
      format.least_exponent - format.fraction + static_cast<int>(exponent > 0 ? exponent - 1 : 0);
  const auto value = static_cast<float>(std::ldexp(places, unit));
  return bits & 0x80 ? -value : value;
}

template <class Bits>
std::vector<std::byte> as_bytes(std::span<const float> values, Bits (*narrow)(float)) {
  std::vector<std::byte> bytes(values.size() * sizeof(Bits));
  for (std::size_t n = 0; n < values.size(); ++n) {
    const Bits of_value = narrow(values[n]);
    std::memcpy(bytes.data() + n * sizeof(Bits), &of_value, sizeof(Bits));
  }
  return bytes;
}

template <class Bits>
std::vector<float> as_floats(std::span<const std::byte> bytes, float (*widen)(Bits)) {
  std::vector<float> values(bytes.size() / sizeof(Bits));
  for (std::size_t n = 0; n < values.size(); ++n) {
    Bits of_value{};
    std::memcpy(&of_value, bytes.data() + n * sizeof(Bits), sizeof(Bits));
    values[n] = widen(of_value);
  }
  return values;
}

float same(float value) { return value; }

}  // namespace

std::size_t bytes_per_number(Format format) {
  switch (format) {
    case Format::fp32:
    case Format::tf32:
      return 4;
    case Format::bf16:
    case Format::fp16:
      return 2;
    case Format::e4m3:
    case Format::e5m2:
      return 1;
  }
  throw std::logic_error("a format without a size");
}

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

std::uint8_t to_e4m3(float value) { return narrowed(value, e4m3); }

float from_e4m3(std::uint8_t bits) {
  return (bits & 0x7f) == e4m3.nan ? std::nanf("") : widened(bits, e4m3);
}

std::uint8_t to_e5m2(float value) { return narrowed(value, e5m2); }

float from_e5m2(std::uint8_t bits) { return from_fp16(static_cast<std::uint16_t>(bits << 8)); }

float stored(float value, Format format) {
  switch (format) {
    case Format::bf16:
      return from_bf16(to_bf16(value));
    case Format::fp16:
      return from_fp16(to_fp16(value));
    case Format::e4m3:
      return from_e4m3(to_e4m3(value));
    case Format::e5m2:
      return from_e5m2(to_e5m2(value));
    case Format::fp32:
    case Format::tf32:
      return value;
  }
  return value;
}

float stored(float value, Format format, CacheFormat cache) {
  switch (cache) {
    case CacheFormat::in_format:
      return stored(value, format);
    case CacheFormat::e4m3:
      return stored(value, Format::e4m3);
    case CacheFormat::e5m2:
      return stored(value, Format::e5m2);
    case CacheFormat::int8:
      return std::abs(value) <= 127 ? std::nearbyint(value) + 0.0F : std::nanf("");  // no -0
  }
  throw std::logic_error("a cache without a format");
}

std::vector<std::byte> stored_bytes(std::span<const float> values, Format format,
                                    CacheFormat cache) {
  switch (cache) {
    case CacheFormat::in_format:
      return stored_bytes(values, format);
    case CacheFormat::e4m3:
      return stored_bytes(values, Format::e4m3);
    case CacheFormat::e5m2:
      return stored_bytes(values, Format::e5m2);
    case CacheFormat::int8:
      return as_bytes(
          values, +[](float x) {
            return static_cast<std::int8_t>(std::isnan(x) ? -128 : static_cast<int>(x));
          });
  }
  throw std::logic_error("a cache without a format");
}

std::vector<std::byte> stored_bytes(std::span<const float> values, Format format) {
  switch (format) {
    case Format::bf16:
      return as_bytes(values, to_bf16);
    case Format::fp16:
      return as_bytes(values, to_fp16);
    case Format::e4m3:
      return as_bytes(values, to_e4m3);
    case Format::e5m2:
      return as_bytes(values, to_e5m2);
    case Format::fp32:
    case Format::tf32:
      break;
  }
  return as_bytes(values, same);
}

std::vector<float> widened(std::span<const std::byte> bytes, Format format) {
  switch (format) {
    case Format::bf16:
      return as_floats(bytes, from_bf16);
    case Format::fp16:
      return as_floats(bytes, from_fp16);
    case Format::e4m3:
      return as_floats(bytes, from_e4m3);
    case Format::e5m2:
      return as_floats(bytes, from_e5m2);
    case Format::fp32:
    case Format::tf32:
      break;
  }
  return as_floats(bytes, same);
}

}  // namespace plumbline::cases
