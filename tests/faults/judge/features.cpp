// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/judge/features.hpp"

#include <algorithm>
#include <array>

#include "support/draw.hpp"
#include "verdict/cases/formats.hpp"
#include "verdict/property/offered_shapes.hpp"

namespace plumbline::bench {
namespace {

/// In half of the cases no causal mask hides what the tensor shows.
void give_mask_tensor(const Draw& draw, cases::Spec& spec) {
  using cases::Pattern;
  constexpr std::array patterns{Pattern::prefix, Pattern::chunks,    Pattern::blocks,
                                Pattern::tree,   Pattern::scattered, Pattern::sink_tokens};
  spec.mask.pattern = patterns[draw.below(0, patterns.size())];
  spec.mask.per_batch = draw.below(1, 3) != 0;
  spec.mask.per_head = draw.below(2, 3) != 0;
  if (draw.below(3, 2) == 0 && spec.bias.method != PLUMBLINE_FOX) spec.mask.causal = false;
}

/// The last query at the last key, the first at the first, or in between.
void give_more_queries(const Draw& draw, cases::Spec& spec) {
  if (spec.pass == cases::Pass::decode || spec.queries < 2) return;
  spec.keys = 1 + static_cast<int>(draw.below(
                      0, static_cast<std::uint32_t>(std::min(spec.keys, spec.queries - 1))));
  const int at_end = spec.keys - spec.queries;
  const auto later = static_cast<int>(draw.below(1, static_cast<std::uint32_t>(1 - at_end)));
  spec.query_offset = std::array{at_end, at_end, 0, at_end + later}[draw.below(2, 4)];
  if (spec.queries_at_end || cases::has_rows_at_keys(spec)) spec.query_offset = at_end;
}

/// Multi-head latent attention's, in half of the cases that stay as small as most are: expanded, or
/// as it decodes, with one key head that holds the values. @return whether the case has them
bool give_latent_widths(const Draw& draw, cases::Spec& spec) {
  cases::Spec latent = spec;
  const bool absorbed = draw.below(5, 2) == 0;
  latent.head_dim = absorbed ? 576 : 192;
  latent.value_dim = absorbed ? 512 : 128;
  if (absorbed) latent.kv_heads = 1;
  latent.values_in_keys = absorbed && spec.pass != cases::Pass::backward;
  const long pairs = static_cast<long>(spec.batch) * spec.heads * spec.queries * spec.keys;
  if (pairs * latent.head_dim > 1L << 16 || draw.below(4, 2) == 0) return false;
  spec = latent;
  return true;
}

/// Half of the keys' width, a part of it in eights, or any up to twice that.
void give_value_dim(const Draw& draw, cases::Spec& spec) {
  if (give_latent_widths(draw, spec)) return;
  const auto dim = static_cast<std::uint32_t>(spec.head_dim);
  const std::uint32_t widths[] = {dim / 2,
                                  8 * (1 + draw.below(1, std::max<std::uint32_t>(1, dim / 8))),
                                  1 + draw.below(2, 2 * dim)};
  spec.value_dim = static_cast<int>(widths[draw.below(0, 3)]);
  if (spec.value_dim == 0 || spec.value_dim == spec.head_dim) spec.value_dim = spec.head_dim + 8;
  spec.values_in_keys = spec.pass != cases::Pass::backward && spec.value_dim <= spec.head_dim &&
                        draw.below(3, 2) == 0;
}

}  // namespace

cases::Spec with_feature(cases::Spec spec, Feature feature, std::uint64_t seed) {
  if (cases::needs_scores(spec.bias)) return spec;
  const Draw draw(seed, 6);
  switch (feature) {
    case Feature::none:
      break;
    case Feature::softcap:
      spec.softcap = std::array{50.0, 30.0, 5.0, 2.0, 1.0, 0.5}[draw.below(0, 6)];
      break;
    case Feature::sinks:
      spec.sinks = true;
      if (spec.pass == cases::Pass::backward && draw.below(0, 2) == 0) spec.lse_gradient = true;
      break;
    case Feature::lone_sinks:
      spec.sinks = spec.mask.ragged = true;
      spec.lse_gradient = spec.pass == cases::Pass::backward;
      break;
    case Feature::more_queries:
      give_more_queries(draw, spec);
      break;
    case Feature::mask_tensor:
      give_mask_tensor(draw, spec);
      break;
    case Feature::sink_tokens:
      give_mask_tensor(draw, spec);
      spec.mask.pattern = cases::Pattern::sink_tokens;
      break;
    case Feature::value_dim:
      give_value_dim(draw, spec);
      break;
    case Feature::lse_gradient:
      spec.lse_gradient = spec.pass == cases::Pass::backward;
      break;
    case Feature::dropout:
      if (spec.pass != cases::Pass::decode) {
        spec.dropout = std::array{0.1F, 0.2F, 0.5F, 0.75F}[draw.below(0, 4)];
      }
      break;
    case Feature::partial_rope:
      if (spec.bias.has_rope() && spec.head_dim > 2) {
        const auto pairs = static_cast<std::uint32_t>(spec.head_dim - 1) / 2;
        spec.rotary_dim = 2 * static_cast<int>(1 + draw.below(0, pairs));
      }
      break;
    case Feature::lengths:
      spec.mask.ragged = true;
      break;
    case Feature::cache:
      if (spec.pass == cases::Pass::decode && !cases::has_scales(spec.format)) {
        spec.cache = static_cast<cases::CacheFormat>(1 + draw.below(0, 3));
        spec.scale_per_key = draw.below(1, 2) == 0;
        const bool has_it =
            spec.family != cases::Family::subnormal && spec.family != cases::Family::level;
        if (!has_it) spec.family = cases::Family::generic;
      }
      break;
    case Feature::strides:
      spec.layout = std::array{cases::Layout::tokens_first, cases::Layout::spaced,
                               cases::Layout::packed_qkv}[draw.below(0, 3)];
      if (!verdict::is_valid(spec)) spec.layout = cases::Layout::tokens_first;
      break;
    case Feature::packed: {
      cases::Spec packed = spec;
      packed.batch = std::max(packed.batch, 3);
      verdict::make_packed_sequences(packed);
      if (packed.is_packed() && verdict::is_valid(packed)) {
        spec = packed;
      }
      break;
    }
  }
  return spec;
}

cases::Spec with_some_features(cases::Spec spec, std::uint64_t seed) {
  const Draw draw(seed, 7);
  std::uint64_t next = 0;
  for (const auto feature :
       {Feature::softcap, Feature::sinks, Feature::more_queries, Feature::mask_tensor,
        Feature::value_dim, Feature::lse_gradient, Feature::dropout, Feature::partial_rope,
        Feature::cache, Feature::strides, Feature::packed}) {
    if (draw.below(next++, 5) == 0) spec = with_feature(spec, feature, draw.word(8));
  }
  return spec;
}

}  // namespace plumbline::bench
