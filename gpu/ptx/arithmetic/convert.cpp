// SPDX-License-Identifier: Apache-2.0
#include "ptx/arithmetic/convert.hpp"

#include <bit>

#include "ptx/arithmetic/at_level.hpp"
#include "ptx/arithmetic/bits.hpp"
#include "ptx/arithmetic/convert_lanes.hpp"

namespace plumbline::ptx::arithmetic {
namespace {

/// (-1)^negative magnitude 2^exponent, or none.
struct Exact {
  bool nan = false, infinite = false, negative = false;
  std::uint64_t magnitude = 0;
  int exponent = 0;
};

/// Bits of the magnitude; of 0 far fewer than none.
int length(const Exact& x) {
  return x.magnitude == 0 ? -10000 : static_cast<int>(std::bit_width(x.magnitude));
}

/// A binary format. Numbers from the least subnormal to `largest` are their bits in order.
struct Binary {
  int width;   ///< bits, without what tf32 has below
  int digits;  ///< of the significand, the leading one counted
  int least;   ///< exponent of normal numbers
  std::uint64_t largest, nan;
  bool infinity = true;
  int below = 0;
};

constexpr Binary binary(Type type) {
  switch (type) {
    case Type::f16:
      return {16, 11, -14, 0x7bff, 0x7fff};
    case Type::bf16:
      return {16, 8, -126, 0x7f7f, 0x7fff};
    case Type::tf32:
      return {19, 11, -126, 0x3fbff, 0x3ffff, true, 13};
    case Type::f32:
      return {32, 24, -126, 0x7f7fffff, kNan};
    case Type::f64:
      return {64, 53, -1022, 0x7fefffffffffffff, kNan64};
    case Type::e4m3x2:
      return {8, 4, -6, 0x7e, 0x7f, false};  // of one number
    case Type::e5m2x2:
      return {8, 3, -14, 0x7b, 0x7f};
    default:
      return {0, 0, 0, 0, 0};
  }
}

/// Of an integer: 0 for floats.
constexpr int integer_bits(Type type) {
  switch (type) {
    case Type::u8:
    case Type::s8:
      return 8;
    case Type::u16:
    case Type::s16:
      return 16;
    case Type::u32:
    case Type::s32:
      return 32;
    case Type::u64:
    case Type::s64:
      return 64;
    default:
      return 0;
  }
}
constexpr bool has_sign(Type type) { return type >= Type::s8 && type <= Type::s64; }
constexpr bool is_wide(Type type) {
  return type == Type::u64 || type == Type::s64 || type == Type::f64;
}
/// The type of each of the two; the type itself if it is no pair. Pairs of 8 bits name both.
constexpr Type element(Type type) {
  return type == Type::f16x2 ? Type::f16 : type == Type::bf16x2 ? Type::bf16 : type;
}
constexpr bool is_8_bit_pair(Type type) { return type == Type::e4m3x2 || type == Type::e5m2x2; }
constexpr bool is_pair(Type type) { return type != element(type) || is_8_bit_pair(type); }

Exact read_integer(std::uint64_t bits, Type type) {
  const int unused = 64 - integer_bits(type);
  bits = bits << unused >> unused;
  const bool negative = has_sign(type) && bits >> (63 - unused) != 0;
  if (negative) bits = (0 - bits) << unused >> unused;
  return {.negative = negative, .magnitude = bits};
}

Exact read_float(std::uint64_t bits, const Binary& f, bool ftz) {
  bits = bits >> f.below;
  const std::uint64_t rest = bits & ((std::uint64_t{1} << (f.width - 1)) - 1);
  Exact x{.negative = (bits >> (f.width - 1) & 1) != 0};
  if (rest > f.largest) {
    x.infinite = f.infinity && rest == f.largest + 1;
    x.nan = !x.infinite;
    return x;
  }
  const int field = static_cast<int>(rest >> (f.digits - 1));
  const std::uint64_t one = std::uint64_t{1} << (f.digits - 1);
  x.magnitude = field == 0 ? (ftz ? 0 : rest) : (rest & (one - 1)) | one;
  x.exponent = f.least - (f.digits - 1) + (field == 0 ? 0 : field - 1);
  return x;
}

/// The number in units of 2^unit, rounded. Its magnitude stays below 2^64.
std::uint64_t in_units(const Exact& x, int unit, Rounding rounding) {
  const int shift = unit - x.exponent;
  if (x.magnitude == 0) return 0;
  if (shift <= 0) return x.magnitude << -shift;
  const std::uint64_t whole = shift < 64 ? x.magnitude >> shift : 0;
  const std::uint64_t rest = shift < 64 ? x.magnitude - (whole << shift) : x.magnitude;
  const std::uint64_t half = shift <= 64 ? std::uint64_t{1} << (shift - 1) : 0;  // 0: beyond 2^64
  const bool above = half != 0 && rest > half, tie = half != 0 && rest == half;
  bool up = false;
  switch (rounding) {
    case Rounding::rz:
    case Rounding::rzi:
      break;
    case Rounding::rm:
    case Rounding::rmi:
      up = rest != 0 && x.negative;
      break;
    case Rounding::rp:
    case Rounding::rpi:
      up = rest != 0 && !x.negative;
      break;
    case Rounding::rna:
      up = above || tie;
      break;
    default:
      up = above || (tie && whole % 2 != 0);
  }
  return whole + (up ? 1 : 0);
}

std::uint64_t write_integer(const Exact& x, const Conversion& c) {
  const int width = integer_bits(c.to), unused = 64 - width;
  const std::uint64_t top = std::uint64_t{1} << (width - 1);
  const std::uint64_t most = has_sign(c.to) ? top - 1 : top - 1 + top;
  const std::uint64_t least = has_sign(c.to) ? top : 0;  // its magnitude
  const bool huge = x.infinite || x.exponent + length(x) > 64;
  const std::uint64_t size = huge ? ~std::uint64_t{0} : in_units(x, 0, c.rounding);
  std::uint64_t bits = x.negative ? 0 - size : size;
  if (integer_bits(c.from) == 0 || c.sat) {
    if (!x.negative && size > most) bits = most;
    if (x.negative && size > least) bits = 0 - least;
  }
  if (x.nan) bits = c.from == Type::f64 || width == 64 ? top : 0;
  bits <<= unused;
  return has_sign(c.to) ? static_cast<std::uint64_t>(static_cast<std::int64_t>(bits) >> unused)
                        : bits >> unused;
}

std::uint64_t write_float(Exact x, const Conversion& c) {
  const Binary f = binary(element(c.to));
  const std::uint64_t one = std::uint64_t{1} << (f.digits - 1);
  if (c.sat && (x.nan || x.negative)) x = {};
  if (x.nan) return ((f.nan + 1) << f.below) - 1;
  if (c.relu && x.negative) x = {};
  if (c.rounding >= Rounding::rni && !x.infinite && x.exponent < 0) {
    x.magnitude = in_units(x, 0, c.rounding);
    x.exponent = 0;
  }
  std::uint64_t number = f.largest + 1;
  if (!x.infinite) {
    const int exponent = x.exponent + length(x) - 1;
    const int leading = exponent > f.least ? exponent : f.least;
    const std::uint64_t units = in_units(x, leading - (f.digits - 1), c.rounding);
    // A number's bits are its units once the leading one is added to the exponent's field.
    number = units + static_cast<std::uint64_t>(leading - f.least) * one;
    const bool inward = c.rounding == Rounding::rz || (c.rounding == Rounding::rm && !x.negative) ||
                        (c.rounding == Rounding::rp && x.negative);
    if (number > f.largest) number = inward ? f.largest : f.largest + 1;
  }
  if (number > f.largest && (c.satfinite || !f.infinity)) number = f.largest;
  const std::uint64_t unity = static_cast<std::uint64_t>(1 - f.least) * one;
  if (c.sat && number > unity) number = unity;
  if (c.ftz && c.to == Type::f32 && number < one) number = 0;
  return (number | std::uint64_t{x.negative} << (f.width - 1)) << f.below;
}

std::uint64_t convert_one(const Conversion& c, std::uint64_t bits) {
  const Exact x = integer_bits(c.from) != 0
                      ? read_integer(bits, c.from)
                      : read_float(bits, binary(element(c.from)), c.ftz && c.from == Type::f32);
  return integer_bits(c.to) != 0 ? write_integer(x, c) : write_float(x, c);
}

std::uint64_t word(const void* a, Type type, int lane) {
  return is_wide(type) ? static_cast<const std::uint64_t*>(a)[lane]
                       : static_cast<const std::uint32_t*>(a)[lane];
}

}  // namespace

void convert_any(const Conversion& c, void* d, const void* a, const void* b) {
  const int width = is_8_bit_pair(c.to) ? 8 : 16, from_width = is_8_bit_pair(c.from) ? 8 : 16;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::uint64_t first = word(a, c.from, lane);
    std::uint64_t result = 0;
    if (is_pair(c.to)) {
      const bool halves = is_pair(c.from);
      const std::uint64_t mask = (1u << from_width) - 1;
      const std::uint64_t high = halves ? first >> from_width & mask : first;
      const std::uint64_t low = halves ? first & mask : word(b, c.from, lane);
      result = convert_one(c, high) << width | convert_one(c, low);
    } else {
      result = convert_one(c, first);
    }
    if (is_wide(c.to))
      static_cast<std::uint64_t*>(d)[lane] = result;
    else
      static_cast<std::uint32_t*>(d)[lane] = static_cast<std::uint32_t>(result);
  }
}

Convert converter(const Conversion& c, Level level) {
  const auto known = [](Type type) {
    return integer_bits(type) != 0 || binary(element(type)).digits != 0;
  };
  if (!known(c.to) || !known(c.from)) return nullptr;
  // From a pair to a pair: between two of 8 bits and two of 16.
  if (is_pair(c.from) && (!is_pair(c.to) || is_8_bit_pair(c.from) == is_8_bit_pair(c.to)))
    return nullptr;
  if (is_pair(c.to) && !is_pair(c.from) && c.from != Type::f32) return nullptr;
  if (c.from == Type::tf32 || (c.to == Type::tf32 && c.from != Type::f32)) return nullptr;
  const auto frequent = [&]() -> Convert {
    PLUMBLINE_PTX_AT_LEVEL(level, frequent_conversion(c))
  }();
  return frequent != nullptr ? frequent : convert_any;
}

}  // namespace plumbline::ptx::arithmetic
