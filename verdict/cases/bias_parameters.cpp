// SPDX-License-Identifier: Apache-2.0
#include "verdict/cases/bias_parameters.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "support/draw.hpp"

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

/// Half the cases max(0, z) / 2 for normal z: about half of them exactly 0, mean 0.2, as ReLU makes
/// them; the others |z| / 4, none of them 0, as softplus makes them. Where S_i = S_j the slope of
/// |S_i - S_j| is anything from -1 to 1, which leaves little to ask of all increments before: an
/// eighth of the backward cases.
std::vector<float> increments(const Case& c, std::int64_t size) {
  const Draw draw = draw_of(c, Stream::increments);
  const std::uint64_t share = c.spec.pass == Pass::backward ? 7 : 1;
  const bool with_zeros = (draw.word(~std::uint64_t{0}) & share) == share;
  return fill(size, [&](auto i) {
    return with_zeros ? std::max(0.0, draw.normal(i)) * 0.5 : std::abs(draw.normal(i)) * 0.25;
  });
}

/// Half the cases the official ones, where all sequences have the same: up to eight heads these are
/// powers of two, which hide how a slope is rounded. The others are learned ones: 2^-8 to 1, all
/// bits of a float in use.
std::vector<float> slopes(const Case& c, std::int64_t size) {
  const Draw draw = draw_of(c, Stream::slopes);
  if (size == c.spec.heads && (draw.word(~std::uint64_t{0}) & 1)) {
    return official_alibi_slopes(c.spec.heads);
  }
  return fill(size, [&](auto i) {
    return std::ldexp(1.0 + draw.uniform(2 * i), -static_cast<int>(1 + draw.below(2 * i + 1, 8)));
  });
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

/// (z - sqrt(z^2 + 4)) / 4 for normal z: negative, -1/2 at z = 0, close to 0 for large z, as the
/// logarithm of a gate is.
std::vector<float> log_forget(const Case& c, std::int64_t size) {
  const Draw draw = draw_of(c, Stream::log_forget);
  return fill(size, [&](auto i) {
    const double z = draw.normal(i);
    return (z - std::sqrt(z * z + 4.0)) * 0.25;
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

namespace {

/// Options vary where kernels may have them built in.
Options drawn(const Spec& spec) {
  Options options = default_options(spec.bias);
  const Draw draw(spec.seed, static_cast<std::uint64_t>(Stream::options));
  const methods::Method method = methods::of(spec.bias);
  for (const methods::Option& option : method.options) {
    if (option.choices == methods::Option{}.choices) continue;
    const auto stream = static_cast<std::uint64_t>(option.drawn_with);
    options[option.id] = option.choices[draw.below(stream, 4)];
  }
  return options;
}

/// The first parameters have streams of their own names.
Stream stream_of(plumbline_parameter parameter) {
  constexpr std::array of_the_first{Stream::ssmax_scale,
                                    Stream::slopes,
                                    Stream::increments,
                                    Stream::gain,
                                    Stream::theta_alpha,
                                    Stream::theta_beta,
                                    Stream::theta_mu,
                                    Stream::p,
                                    Stream::a,
                                    Stream::table,
                                    Stream::hidden_weight,
                                    Stream::hidden_bias,
                                    Stream::output_weight,
                                    Stream::output_bias,
                                    Stream::c,
                                    Stream::L,
                                    Stream::log_forget,
                                    Stream::position_embedding};
  const auto number = static_cast<std::size_t>(parameter);
  if (number < of_the_first.size()) return of_the_first[number];
  return static_cast<Stream>(static_cast<std::uint64_t>(Stream::later_parameters) + number);
}

/// The numbers of one parameter, before they are rounded to a format.
std::vector<float> draw_numbers(const Case& c, plumbline_parameter id) {
  using From = methods::Draw;
  const std::int64_t size = elements(shape_of(c.spec, c.options, id));
  const methods::Method method = methods::of(c.spec.bias);
  const auto& [from, a, b] = methods::parameter_of(method, id).draw;
  const Draw draw = draw_of(c, stream_of(id));
  switch (from) {
    case From::normal:
      return fill(size, [&](auto i) { return draw.normal(i) * a; });
    case From::uniform:
      return fill(size, [&](auto i) { return draw.uniform(i) * (b - a) + a; });
    case From::whole:
      return fill(size, [&](auto i) { return std::floor(draw.uniform(i) * (b - a) + a); });
    case From::slopes:
      return slopes(c, size);
    case From::increments:
      return increments(c, size);
    case From::gain:
      return gain(c, size);
    case From::log_forget:
      return log_forget(c, size);
    case From::theta_beta:
      return theta_beta(c, c.spec.heads);
    case From::theta_mu:
      return theta_mu(c, c.spec.heads);
  }
  throw std::logic_error("a distribution that is not drawn");
}

std::vector<float> draw_parameter(const Case& c, plumbline_parameter id) {
  std::vector<float> numbers = draw_numbers(c, id);
  if (const auto format = format_of(c, id)) {
    for (float& x : numbers) x = stored(x, *format);
  }
  return numbers;
}

}  // namespace

Options drawn_options(const Spec& spec) {
  return spec.family == Family::file ? default_options(spec.bias) : drawn(spec);
}

void draw_bias_parameters(Case& c) {
  c.options = drawn_options(c.spec);
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
    const auto parameter = static_cast<plumbline_parameter>(n);
    if (reads(c.spec, parameter)) c[parameter] = draw_parameter(c, parameter);
  }
}

namespace {

/// A place between 1 and `keys` - 1 on a multiple of 16, 32, 64, 128 or 256, or one beside it,
/// where a kernel's tile may begin; nothing where there is none, or in one sequence of two.
std::optional<std::uint32_t> tile_boundary(const Draw& draw, std::uint64_t which,
                                           std::uint32_t keys) {
  const std::uint32_t tile = 16u << draw.below(4 * which, 5), tiles = (keys - 1) / tile;
  if (tiles == 0 || draw.below(4 * which + 1, 2) == 0) return std::nullopt;
  const std::uint32_t place = (1 + draw.below(4 * which + 2, tiles)) * tile;
  const std::uint32_t beside = draw.below(4 * which + 3, 4);  // half of them on it
  return std::clamp(beside == 0 ? place - 1 : beside == 1 ? place + 1 : place, 1u, keys - 1);
}

/// Half of packed sequences have as many queries as they may, others none, one, or any number.
void draw_query_lengths(Case& c) {
  const Spec& spec = c.spec;
  const Draw draw = draw_of(c, Stream::query_lengths);
  const auto most = [&](std::int32_t keys) {
    return may_have_more_queries(spec) ? spec.queries : std::min(spec.queries, keys);
  };
  bool any = false;
  for (std::uint64_t b = 0; b < c.lengths.size(); ++b) {
    const auto all = static_cast<std::uint32_t>(most(c.lengths[b]));
    const std::uint32_t kind = draw.below(2 * b, 8);
    const std::uint32_t rows = kind < 4    ? all
                               : kind == 4 ? 0
                               : kind == 5 ? std::min(all, 1u)
                                           : draw.below(2 * b + 1, all + 1);
    c.query_lengths.push_back(static_cast<std::int32_t>(rows));
    any = any || (rows > 0 && c.lengths[b] > 0);
  }
  // All empty, they would be arrays of nothing.
  if (any) return;
  c.lengths.back() = spec.keys;
  c.query_lengths.back() = most(spec.keys);
}

}  // namespace

void draw_mask(Case& c) {
  const Spec& spec = c.spec;
  const auto keys = static_cast<std::uint32_t>(spec.keys);
  const Draw boundaries = draw_of(c, Stream::boundaries);
  const auto batch = static_cast<std::uint64_t>(spec.batch);
  if (spec.mask.ragged) {
    // One sequence in eight is empty, one in four full: the two ends must be met often.
    const Draw draw = draw_of(c, Stream::lengths);
    for (std::uint64_t b = 0; b < batch; ++b) {
      const std::uint32_t kind = draw.below(2 * b, 8);
      const std::uint32_t length =
          kind == 0 ? 0
          : kind <= 2
              ? keys
              : tile_boundary(boundaries, b, keys).value_or(draw.below(2 * b + 1, keys + 1));
      c.lengths.push_back(static_cast<std::int32_t>(length));
    }
    if (spec.is_packed()) draw_query_lengths(c);
  }
  if (spec.mask.documents) {
    // Documents lie one after the other. A new one begins at a key drawn for each sequence, so that
    // there are always two where there are two keys, and at any other key with probability 4/keys.
    const Draw draw = draw_of(c, Stream::documents);
    for (std::uint64_t b = 0; b < batch; ++b) {
      const std::uint64_t base = b * (std::uint64_t{keys} + 1);
      const std::uint32_t anywhere = keys > 1 ? 1 + draw.below(base, keys - 1) : keys;
      const std::uint32_t forced = tile_boundary(boundaries, batch + b, keys).value_or(anywhere);
      std::int32_t document = 0;
      for (std::uint32_t j = 0; j < keys; ++j) {
        if (j > 0 && (j == forced || draw.below(base + 1 + j, keys) < 4)) ++document;
        c.documents.push_back(document);
      }
    }
  }
  draw_mask_tensor(c);
}

}  // namespace plumbline::cases
