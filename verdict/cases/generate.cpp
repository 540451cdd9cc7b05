// SPDX-License-Identifier: Apache-2.0
// q, k and v of a generated case, by family.
#include <bit>
#include <cmath>
#include <utility>

#include "support/draw.hpp"
#include "support/error.hpp"
#include "verdict/cases/bias_parameters.hpp"
#include "verdict/cases/case.hpp"
#include "verdict/cases/tensor_shapes.hpp"

namespace plumbline::cases {
namespace {

/// Explicit bits of the significand in memory.
int mantissa_bits(Format format) {
  switch (format) {
    case Format::bf16:
      return 7;
    case Format::fp16:
      return 10;
    case Format::e4m3:
      return 3;
    case Format::e5m2:
      return 2;
    default:
      return 23;
  }
}

/// Of normal numbers: the smallest is 2^this.
int least_exponent(Format format) {
  switch (format) {
    case Format::fp16:
    case Format::e5m2:
      return -14;
    case Format::e4m3:
      return -6;
    default:
      return -126;
  }
}

/// How a family makes a number out of a draw.
struct Source {
  Draw draw;
  Format format;
  bool subnormal;
  int exponent;  ///< normal draws are multiplied by 2^exponent, which is exact
  CacheFormat cache = CacheFormat::in_format;

  float operator()(std::uint64_t index) const {
    if (subnormal) {
      // In fp32 m * 2^-149 with 0 < |m| < 2^23, in fp16 m * 2^-24 with 0 < |m| < 2^10: a subnormal
      // of the format that is not zero, so that a kernel which flushes it to zero differs.
      const std::uint32_t largest = (1u << mantissa_bits(format)) - 1;
      const int unit = least_exponent(format) - mantissa_bits(format);
      const int magnitude = 1 + static_cast<int>(draw.below(2 * index, largest));
      const bool negative = draw.word(2 * index + 1) & 1;
      return static_cast<float>(std::ldexp(negative ? -magnitude : magnitude, unit));
    }
    const auto value = static_cast<float>(std::ldexp(draw.normal(index), exponent));
    return stored(value, format, cache);
  }
};

/// A whole number from -8 to 8: any format holds it.
float whole(const Draw& draw, std::uint64_t index) {
  return static_cast<float>(static_cast<int>(draw.below(index, 17)) - 8);
}

/// Powers of two by which each family multiplies standard normal numbers.
struct Exponents {
  int q = 0, k = 0, v = 0;
};

Exponents exponents_without_dropout(const Spec& spec) {
  const bool small = spec.format == Format::fp16 || has_scales(spec.format) ||
                     spec.cache != CacheFormat::in_format;
  switch (spec.family) {
    case Family::peaked:
      // Scores q.k / sqrt(D) with standard deviation 16: e^16 between likely neighbours. Rotated
      // and rounded again to 8 bits, or summed in 14 bits as tensor cores sum 8-bit products, such
      // scores would leave nothing to ask of a gradient: 4 there.
      return {.q = spec.pass == Pass::backward && (spec.bias.has_rope() || has_scales(spec.format))
                       ? 2
                       : 4};
    case Family::diffuse:
      // Standard deviation 1/64: probabilities equal to within a few per cent.
      return {.q = -6};
    case Family::huge: {
      // Gradients are products of three of these, which must fit the format as well; of scores far
      // apart fp32 does not determine the probabilities, and nothing could be asked of a gradient.
      if (spec.pass == Pass::backward) {
        // CoPE's q meets the table too, and its logits must not be huge either.
        if (spec.bias.method == PLUMBLINE_COPE) {
          return small ? Exponents{.q = -4, .k = 4, .v = 2} : Exponents{.q = -40, .k = 40, .v = 30};
        }
        return small ? Exponents{.q = 4, .k = -4, .v = 2} : Exponents{.q = 40, .k = -40, .v = 30};
      }
      // |normal| < 2^3 and fp16 ends at 2^16.
      if (small) return {.q = 12, .k = 12, .v = 12};
      // |normal| < 2^3, so with e below sum_d |q_d| |k_d| < 2^120, in whatever order it is summed.
      // The remaining 2^8 up to fp32's largest number leave room for what kernels legitimately
      // multiply scores with: ssmax_scale ln n <= ln 2^24 < 2^5 and log2(e) < 2, then a difference
      // of two scores. |v| < 2^103: up to 2^24 rows of it sum to less than 2^127.
      const int dimension = std::bit_width(static_cast<unsigned>(spec.head_dim) - 1);
      // DAPE's network adds up scores, with weights below 2^8 together.
      const int e = (120 - dimension) / 2 - (spec.bias.dape_taps() > 0 ? 7 : 3);
      return {.q = e, .k = e, .v = 100};
    }
    default:
      return {};
  }
}

/// Huge values times 1 / (1 - dropout) are no larger than without it.
Exponents exponents_of(const Spec& spec) {
  Exponents exponents = exponents_without_dropout(spec);
  if (spec.family == Family::huge && spec.dropout > 0) exponents.v += std::ilogb(1 - spec.dropout);
  return exponents;
}

/// The power of two by which 8-bit formats multiply standard normal numbers before they store them;
/// what is left of a family's exponent goes into the scale. |normal| < 6: huge ones stay below 384
/// and 49152, the others below 96, where few are so small that they are subnormal.
int stored_exponent(const Spec& spec) {
  if (spec.family == Family::subnormal) return 0;
  if (spec.family != Family::huge) return 4;
  return spec.format == Format::e4m3 ? 6 : 13;
}

/// The first keys that all sequences of a paged cache have in common, as of one prompt: none in
/// half of the cases, else whole pages.
std::uint64_t shared_keys(const Spec& spec) {
  const std::uint64_t pages = spec.page_size > 0 ? spec.keys / spec.page_size : 0;
  if (pages == 0 || spec.batch == 1 || has_scales(spec.format)) return 0;
  const Draw draw(spec.seed, static_cast<std::uint64_t>(Stream::shared_keys));
  return draw.below(0, 2) == 0 ? 0 : spec.page_size * (1 + draw.below(1, pages));
}

/// Which row of k, v or scales [batch, kv_heads, keys] this one is drawn as: of a shared key that
/// of the first sequence.
std::uint64_t drawn_row(const Spec& spec, std::uint64_t shared, std::uint64_t row) {
  const auto keys = static_cast<std::uint64_t>(spec.keys);
  return row % keys < shared ? row % (spec.kv_heads * keys) : row;
}

/// Of a cache of 8 bits: 2^exponent times 1 to 2 in steps of 2^-11, and a power of two from 1/2 to
/// 2 for keys, from 2^-3 to 2^3 for values. The product with a number of 8 bits is exact in fp32.
/// Tied keys have the scale of the first. Where keys are shared, so are scales of heads.
void draw_cache_scales(Case& c, const Exponents& exponents, int stored, std::uint64_t shared) {
  const Spec& spec = c.spec;
  const auto draw_scale = [&](Stream stream, std::uint64_t index, int exponent, int most) {
    const Draw draw(spec.seed, static_cast<std::uint64_t>(stream));
    const int steps = 2048 + static_cast<int>(draw.below(2 * index, 2048));
    const int power = static_cast<int>(draw.below(2 * index + 1, 2 * most + 1)) - most;
    return static_cast<float>(std::ldexp(steps, exponent + power - stored - 11));
  };
  const auto count = static_cast<std::uint64_t>(elements(per_cached(spec)));
  const std::uint64_t keys = spec.scale_per_key ? static_cast<std::uint64_t>(spec.keys) : 1;
  for (std::uint64_t n = 0; n < count; ++n) {
    const auto place = [&](std::uint64_t of) {
      if (spec.scale_per_key) return drawn_row(spec, shared, of);
      return shared > 0 ? of % spec.kv_heads : of;
    };
    const std::uint64_t of_key = spec.family == Family::tied ? n / keys * keys : n;
    c.k_scale.push_back(draw_scale(Stream::k_scale, place(of_key), exponents.k, 1));
    c.v_scale.push_back(draw_scale(Stream::v_scale, place(n), exponents.v, 3));
  }
}

/// Scales of q, k and v, [batch, kv_heads]: 2^exponent times 1 to 2 in steps of 2^-11 and a power
/// of two from 2^-3 to 2^3. 12 significant bits: the product with a number of 4 or 3 is exact in
/// fp32, so that kernel and oracle read the same numbers whether scales are applied before or after
/// the products, but is not in bf16. A key's scale undoes the query's but for a factor from 1/4 to
/// 4: scores spread as their family says. Values of a backward case are smaller by 2^3: dS fits
/// e4m3.
void draw_scales(Case& c, const Exponents& exponents) {
  const Spec& spec = c.spec;
  const auto stream = [&](Stream which) {
    return Draw(spec.seed, static_cast<std::uint64_t>(which));
  };
  const Draw q = stream(Stream::q_scale), k = stream(Stream::k_scale), v = stream(Stream::v_scale);
  const bool backward = spec.pass == Pass::backward;
  const auto heads = static_cast<std::uint64_t>(elements(per_key_head(spec)));
  for (std::uint64_t head = 0; head < heads; ++head) {
    const auto scale = [&](const Draw& draw, int exponent) {
      const int steps = 2048 + static_cast<int>(draw.below(2 * head, 2048));
      return static_cast<float>(std::ldexp(steps, exponent - stored_exponent(spec) - 11));
    };
    const auto power = [&](const Draw& draw, int most) {
      return static_cast<int>(draw.below(2 * head + 1, 2 * most + 1)) - most;
    };
    const int of_q = power(q, 3);
    c.q_scale.push_back(scale(q, exponents.q + of_q));
    c.k_scale.push_back(scale(k, exponents.k - of_q + power(k, 1) - 1));
    c.v_scale.push_back(scale(v, exponents.v + power(v, 3) - (backward ? 3 : 0)));
  }
}

void take_values_from_keys(Case& c) {
  const auto dim = static_cast<std::size_t>(c.spec.head_dim);
  const auto width = static_cast<std::size_t>(c.spec.value_width());
  for (std::size_t n = 0; n < c.v.size(); ++n) c.v[n] = c.k[n / width * dim + n % width];
}

}  // namespace

Case generate(const Spec& spec) {
  validate(spec);
  if (spec.family == Family::file) {
    throw BadInput("family", "\"file\"", "a family that is generated: the numbers are in the file");
  }
  if (spec.mask.pattern == Pattern::file) {
    throw BadInput("mask", "\"file\"", "a pattern that is generated: the mask is in the file");
  }
  Case c;
  c.spec = spec;
  c.scale = scale_of(spec);
  const std::uint64_t shared = shared_keys(spec);
  Exponents exponents = exponents_of(spec);
  if (has_scales(spec.format)) {
    draw_scales(c, exponents);
    exponents.q = exponents.k = exponents.v = stored_exponent(spec);
  } else if (spec.cache != CacheFormat::in_format) {
    constexpr int stored = 4;  // |normal| < 6: below 96, as above
    if (spec.family == Family::huge && spec.format == Format::fp16) {
      exponents.k -= 2;  // a kernel may take them in fp16
      exponents.v -= 4;
    }
    draw_cache_scales(c, exponents, stored, shared);
    exponents.k = exponents.v = stored;
  }
  const auto source = [&](Stream stream, int exponent) {
    return Source{Draw(spec.seed, static_cast<std::uint64_t>(stream)), spec.format,
                  spec.family == Family::subnormal, exponent};
  };
  const bool level = spec.family == Family::level;
  const auto dim = static_cast<std::uint64_t>(spec.head_dim);
  const std::uint64_t query_rows =
      std::uint64_t(spec.batch) * std::uint64_t(spec.heads) * std::uint64_t(spec.queries);
  const std::uint64_t key_rows =
      std::uint64_t(spec.batch) * std::uint64_t(spec.kv_heads) * std::uint64_t(spec.keys);

  const Source q = source(Stream::q, exponents.q);
  c.q.resize(query_rows * dim);
  for (std::uint64_t index = 0; index < c.q.size(); ++index) c.q[index] = level ? 0.0f : q(index);

  Source k = source(Stream::k, exponents.k);
  Source v = source(Stream::v, exponents.v);
  k.cache = v.cache = spec.cache;
  c.k.resize(key_rows * dim);
  c.v.resize(static_cast<std::size_t>(elements(value_shape(spec))));
  for (std::uint64_t index = 0; index < c.k.size(); ++index) {
    // Tied: every key row is the first of its batch and head.
    std::uint64_t row = index / dim;
    if (spec.family == Family::tied) row -= row % static_cast<std::uint64_t>(spec.keys);
    const std::uint64_t drawn = drawn_row(spec, shared, row) * dim + index % dim;
    c.k[index] = level && spec.values_in_keys ? whole(k.draw, drawn) : k(drawn);
  }
  const auto width = static_cast<std::uint64_t>(spec.value_width());
  for (std::uint64_t index = 0; index < c.v.size(); ++index) {
    const std::uint64_t drawn = drawn_row(spec, shared, index / width) * width + index % width;
    c.v[index] = level ? whole(v.draw, drawn) : v(drawn);
  }
  c.q = scaled(std::move(c.q), c.q_scale);
  c.k = scaled(std::move(c.k), c.k_scale);
  if (spec.values_in_keys) {
    c.v_scale = c.k_scale;
    take_values_from_keys(c);
  } else {
    c.v = scaled(std::move(c.v), c.v_scale);
  }
  if (spec.pass == Pass::backward) {
    const Source grad_o = Source{Draw(spec.seed, static_cast<std::uint64_t>(Stream::grad_o)),
                                 output_format(spec.format), false, 0};
    c.grad_o.resize(static_cast<std::size_t>(elements(output_shape(spec))));
    for (std::uint64_t index = 0; index < c.grad_o.size(); ++index) c.grad_o[index] = grad_o(index);
  }
  if (spec.lse_gradient) {
    const Draw draw(spec.seed, static_cast<std::uint64_t>(Stream::grad_lse));
    c.grad_lse.resize(static_cast<std::size_t>(elements(per_query(spec))));
    for (std::uint64_t n = 0; n < c.grad_lse.size(); ++n) {
      c.grad_lse[n] = static_cast<float>(draw.normal(n));
    }
  }
  draw_bias_parameters(c);
  draw_mask(c);
  draw_dropout(c);
  return c;
}

}  // namespace plumbline::cases
