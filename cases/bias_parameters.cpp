// SPDX-License-Identifier: Apache-2.0
#include "cases/bias_parameters.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "cases/draw.hpp"

namespace plumbline::cases {
namespace {

Draw draw_of(const Case& c, Stream stream) {
  return Draw(c.spec.seed, static_cast<std::uint64_t>(stream));
}

/// 2^(-8 (k+1) / H) for H = 2^a, from square roots and products, which IEEE 754 rounds correctly:
/// the same bits with every libm. A few units in the last place of double, so that after rounding
/// to float only an argument within 2^-28 (relative) of a rounding boundary could differ.
std::vector<double> power_of_two_slopes(int heads) {
  double ratio = 0x1p-8;
  for (int h = heads; h > 1; h /= 2) ratio = std::sqrt(ratio);
  std::vector<double> slopes;
  double slope = 1.0;
  for (int k = 0; k < heads; ++k) slopes.push_back(slope *= ratio);
  return slopes;
}

std::vector<float> fill(std::int64_t size, auto&& value) {
  std::vector<float> values(static_cast<std::size_t>(size));
  for (std::int64_t index = 0; index < size; ++index) {
    values[static_cast<std::size_t>(index)] = static_cast<float>(value(index));
  }
  return values;
}

/// max(0, z) / 2 for normal z: about half of them exactly 0, mean 0.2, as ReLU makes them.
std::vector<float> increments(const Case& c, std::int64_t size) {
  const Draw draw = draw_of(c, Stream::increments);
  return fill(size, [&](auto i) { return std::max(0.0, draw.normal(i)) * 0.5; });
}

/// (z + sqrt(z^2 + 4)) / 2 for normal z: positive, 1 at z = 0, close to z for large z. It takes
/// softplus's place because a square root is correctly rounded everywhere, exp and log are not.
std::vector<float> gain(const Case& c, std::int64_t size) {
  const Draw draw = draw_of(c, Stream::gain);
  return fill(size, [&](auto i) {
    const double z = draw.normal(i);
    return (z + std::sqrt(z * z + 4.0)) * 0.5;
  });
}

/// theta_beta in [-1, 1.5]: exactly 0 for one head in eight (the uniform prior), exactly 1 for
/// another (the ALiBi form), since implementations like to treat these two apart.
std::vector<float> theta_beta(const Case& c, int heads) {
  const Draw draw = draw_of(c, Stream::theta_beta);
  return fill(heads, [&](auto i) {
    const std::uint32_t kind = draw.below(2 * i, 8);
    return kind == 0 ? 0.0 : kind == 1 ? 1.0 : draw.uniform(2 * i + 1) * 2.5 - 1.0;
  });
}

/// theta_mu: 0 for three heads in four, as BAM's appendix C freezes it, else in [-0.25, 0.25].
std::vector<float> theta_mu(const Case& c, int heads) {
  const Draw draw = draw_of(c, Stream::theta_mu);
  return fill(heads, [&](auto i) {
    return draw.below(2 * i, 4) != 0 ? 0.0 : draw.uniform(2 * i + 1) * 0.5 - 0.25;
  });
}

}  // namespace

std::vector<float> official_alibi_slopes(int heads) {
  const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(heads)));
  const std::vector<double> first = power_of_two_slopes(power);
  std::vector<float> slopes(first.begin(), first.end());
  const std::vector<double> doubled = power_of_two_slopes(2 * power);
  for (int k = 0; power + k < heads; ++k) {
    slopes.push_back(static_cast<float>(doubled[static_cast<std::size_t>(2 * k)]));
  }
  return slopes;
}

void draw_bias_parameters(Case& c) {
  const Spec& spec = c.spec;
  const std::int64_t batch_heads = std::int64_t{spec.batch} * spec.heads;
  switch (spec.bias) {
    case BiasMethod::nope:
      break;
    case BiasMethod::alibi:
      c.slopes = official_alibi_slopes(spec.heads);
      break;
    case BiasMethod::cable:
    case BiasMethod::k_cable:
      c.gain = gain(c, batch_heads * spec.queries);
      [[fallthrough]];
    case BiasMethod::cable_nw:
    case BiasMethod::k_cable_nw:
      c.increments = increments(c, batch_heads * spec.keys);
      break;
    case BiasMethod::ggd: {
      const Draw draw = draw_of(c, Stream::theta_alpha);
      c.theta_alpha = fill(spec.heads, [&](auto i) { return draw.uniform(i) * 2.5 - 1.0; });
      c.theta_beta = theta_beta(c, spec.heads);
      c.theta_mu = theta_mu(c, spec.heads);
      break;
    }
  }
  if (spec.ssmax) {
    // From 1/4, about 1/ln(64), which makes the factor 1 at 64 keys, to 1, the published start.
    const Draw draw = draw_of(c, Stream::ssmax_scale);
    c.ssmax_scale = fill(spec.heads, [&](auto i) { return draw.uniform(i) * 0.75 + 0.25; });
  }
}

void draw_mask(Case& c) {
  const Spec& spec = c.spec;
  const auto keys = static_cast<std::uint32_t>(spec.keys);
  if (spec.mask.ragged) {
    // One sequence in eight is empty, one in four full: the two ends must be met often.
    const Draw draw = draw_of(c, Stream::lengths);
    for (std::uint64_t b = 0; b < static_cast<std::uint64_t>(spec.batch); ++b) {
      const std::uint32_t kind = draw.below(2 * b, 8);
      const std::uint32_t length = kind == 0   ? 0
                                   : kind <= 2 ? keys
                                               : draw.below(2 * b + 1, keys + 1);
      c.lengths.push_back(static_cast<std::int32_t>(length));
    }
  }
  if (spec.mask.documents) {
    // Documents lie one after the other. A new one begins at a key drawn for each sequence, so that
    // there are always two where there are two keys, and at any other key with probability 4/keys.
    const Draw draw = draw_of(c, Stream::documents);
    for (std::uint64_t b = 0; b < static_cast<std::uint64_t>(spec.batch); ++b) {
      const std::uint64_t base = b * (std::uint64_t{keys} + 1);
      const std::uint32_t forced = keys > 1 ? 1 + draw.below(base, keys - 1) : keys;
      std::int32_t document = 0;
      for (std::uint32_t j = 0; j < keys; ++j) {
        if (j > 0 && (j == forced || draw.below(base + 1 + j, keys) < 4)) ++document;
        c.documents.push_back(document);
      }
    }
  }
}

}  // namespace plumbline::cases
