// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/ptx/conformance/domain.hpp"

#include <algorithm>
#include <cmath>

namespace plumbline::ptx::conformance {
namespace {

Domain integers(int bits) {
  Domain domain;
  const Bits most = low(~Bits{0}, bits), least = Bits{1} << (bits - 1);
  domain.edges = {0,
                  1,
                  2,
                  3,
                  7,
                  15,
                  16,
                  31,
                  32,
                  33,
                  63,
                  64,
                  0x7f,
                  0x80,
                  0xff,
                  0x100,
                  0x7fff,
                  0x8000,
                  0xffff,
                  most,
                  most - 1,
                  most - 6,
                  least,
                  least - 1,
                  least + 1,
                  most ^ 0xff,
                  low(0x5555555555555555, bits),
                  low(0xaaaaaaaaaaaaaaaa, bits),
                  low(0x00ff00ff00ff00ff, bits),
                  low(0x8001800180018001, bits)};
  if (bits > 16) domain.edges.insert(domain.edges.end(), {0x10000, 0x800000, 0xffffff, 0x1000000});
  if (bits > 32)
    domain.edges.insert(domain.edges.end(), {0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
                                             0xffffffff00000000, 0x7fffffff80000000});
  domain.other = [bits](Random& random) {
    const Bits x = random();
    // Of any magnitude, of either sign.
    const Bits small = low(x, 1 + static_cast<int>(random() % bits));
    return low(random() % 2 ? x : random() % 2 ? small : ~small, bits);
  };
  return domain;
}

/// A float with a random exponent near 1, or with few bits: sums and products then tie often.
Bits near_one(const Format& format, Random& random, bool few_bits) {
  const Bits spread = std::min(format.bias() - 1, few_bits ? format.mantissa_bits + 2 : 8);
  const Bits exponent = format.bias() - spread + random() % (2 * spread + 1);
  Bits mantissa = low(random(), format.mantissa_bits);
  if (few_bits) {
    mantissa &= Bits{7} << (format.mantissa_bits - 3);
    if (random() % 2) mantissa |= random() % 4;
  }
  return exponent << format.mantissa_bits | low(mantissa, format.mantissa_bits) |
         (random() % 2 ? format.sign() : 0);
}

Domain packed(const Domain& half) {
  Domain domain;
  const auto& edges = half.edges;
  for (std::size_t i = 0; i < edges.size(); ++i)
    domain.edges.push_back(edges[i] | edges[(i * 7 + 3) % edges.size()] << 16);
  domain.other = [half](Random& random) {
    const Bits x = half.draw(random);
    return x | half.draw(random) << 16;
  };
  return domain;
}

}  // namespace

Bits Domain::draw(Random& random) const {
  if (!other || random() % 4 == 0) return edges[random() % edges.size()];
  return other(random);
}

Domain any(const Format& format) {
  Domain domain;
  const Bits one = static_cast<Bits>(format.bias()) << format.mantissa_bits;
  const Bits ulp = 1, half = Bits{1} << (format.mantissa_bits - 1), least = format.least_normal();
  const Bits infinity = format.infinity();
  std::vector<Bits> positive = {
      0,
      1,
      2,
      half,
      least - 1,
      least,
      least + 1,
      2 * least,  // zero, subnormal, least normal
      one,
      one + ulp,
      one - ulp,
      one + half,
      one + half - 1,
      one + half + 1,  // around 1 and 1.5
      one - least,
      one - least - 1,
      one - least + 1,  // 0.5
      one + least,
      one + least + half,
      one + 2 * least,  // 2, 3, 4
      one + (least | 0x55),
      one - 3 * least + 1,
      format.largest(),
      format.largest() - 1,
      infinity,
      one + static_cast<Bits>(format.mantissa_bits) * least,          // the last with an ulp of 1
      one + static_cast<Bits>(format.mantissa_bits + 1) * least + 1,  // an ulp of 2
      one - static_cast<Bits>(format.mantissa_bits + 1) * least,      // half an ulp of 1
      one - static_cast<Bits>(format.mantissa_bits + 1) * least + 1,
  };
  // Powers of two and their neighbours that other types end at.
  for (const int power : {15, 16, 31, 32, 63, 64, -14, -15, -24, -25})
    if (power < format.bias() && -power < format.bias()) {
      const Bits x = static_cast<Bits>(format.bias() + power) << format.mantissa_bits;
      positive.insert(positive.end(), {x, x - 1, x + 1});
    }
  for (const Bits x : positive) domain.edges.insert(domain.edges.end(), {x, x | format.sign()});
  if (format.infinite)
    for (const Bits nan : {infinity + 1, infinity | half, infinity | half | 1, format.nan})
      domain.edges.insert(domain.edges.end(), {nan, nan | format.sign()});
  domain.other = [format](Random& random) {
    switch (random() % 3) {
      case 0:
        return low(random(), format.width());
      case 1:
        return near_one(format, random, false);
      default:
        return near_one(format, random, true);
    }
  };
  return domain;
}

Domain any(Type type) {
  switch (type) {
    case Type::u16x2:
    case Type::s16x2:
      return packed(integers(16));
    case Type::f16:
    case Type::bf16:
    case Type::f32:
    case Type::f64:
      return any(format_of(type));
    case Type::f16x2:
    case Type::bf16x2:
      return packed(any(format_of(type)));
    default:
      return integers(width(type));
  }
}

Domain range(std::int64_t least, std::int64_t most, int width) {
  Domain domain;
  for (std::int64_t x = least; x <= most && x < least + 3; ++x)
    domain.edges.push_back(low(static_cast<Bits>(x), width));
  for (std::int64_t x = std::max(least, most - 2); x <= most; ++x)
    domain.edges.push_back(low(static_cast<Bits>(x), width));
  domain.other = [=](Random& random) {
    const Bits count = static_cast<Bits>(most - least) + 1;
    return low(static_cast<Bits>(least) + (count ? random() % count : random()), width);
  };
  return domain;
}

Domain of(std::vector<Bits> values) { return {std::move(values), {}}; }

Domain floats(const Format& format, double least, double most) {
  Domain domain;
  domain.edges = {converted(format, Rounding::rp, least), converted(format, Rounding::rm, most)};
  domain.other = [=](Random& random) {
    const double u = static_cast<double>(random() >> 11) * 0x1p-53;
    return converted(format, Rounding::rz, least + (most - least) * u);
  };
  return domain;
}

Draw summands(const Format& format, int magnitude, int scale, int special) {
  return [=](Random& random) {
    const int x = static_cast<int>(random() % (2 * magnitude + 1)) - magnitude;
    if (!special || random() % special)
      return converted(format, Rounding::rn, std::ldexp(x, scale));
    const Bits infinity = format.infinity(), nan = format.nan;
    const Bits specials[] = {infinity, infinity, infinity + 1, nan};  // NaN: the first, the usual
    return (format.infinite ? specials[random() % 4] : nan) | (random() % 2 ? format.sign() : 0);
  };
}

std::vector<EdgeSums> edge_sums(const Format& a, const Format& b, const Format& c, int k) {
  // The unit of the subnormal numbers, as a power of two.
  const auto unit = [](const Format& f) { return 1 - f.bias() - f.mantissa_bits; };
  // All are subnormal; 32 products by at most 2, and c, stay within the 11 bits of f16.
  const auto most = [&](const Format& f) {
    return std::min((1 << std::min(f.mantissa_bits, 10)) - 1, c.width() == 16 ? 31 : 1023);
  };
  const int ua = unit(a), ub = unit(b);
  const int special = 2 * k;  // of the 2 k factors of an element of D, one
  std::vector<EdgeSums> all = {
      {"infinities and NaN", summands(a, 2, 0, special), summands(b, 2, 0, special),
       summands(c, 4, 0, special)},
      {"subnormal A", summands(a, most(a), ua), summands(b, 2), summands(c, 64, ua)},
      {"subnormal B", summands(a, 2), summands(b, most(b), ub), summands(c, 64, ub)}};
  // Products are subnormal in the format of C, where A and B have such factors.
  const int half = (unit(c) + 6) / 2;
  if (half >= std::max(ua, ub))
    all.push_back(
        {"tiny products", summands(a, 2, half), summands(b, 2, half), summands(c, 64, 2 * half)});
  return all;
}

}  // namespace plumbline::ptx::conformance
