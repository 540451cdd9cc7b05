// SPDX-License-Identifier: Apache-2.0
#include "verdict/property/offered_shapes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "support/error.hpp"
#include "verdict/oracle/sample.hpp"

namespace plumbline::verdict {
namespace {

using cases::Spec;

/// Enough of them: the others that a kernel takes are fitted to these.
constexpr std::size_t most_offered = 6;

constexpr int drawn_probes = 300;

template <class T>
bool contains(const std::vector<T>& list, const T& value) {
  return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
}

template <class T>
void take(const std::vector<T>& list, DrawIntegers& draw, T& value) {
  if (!list.empty()) value = list[draw.below(list.size())];
}

/// A plain spec that kernels of fixed shapes may be made for.
Spec plain(cases::Pass pass, cases::Bias bias, cases::Format format, bool causal, int batch,
           int heads, int kv_heads, int length, int head_dim) {
  Spec spec;
  spec.pass = pass;
  spec.bias = bias;
  spec.format = format;
  spec.batch = batch;
  spec.heads = heads;
  spec.kv_heads = kv_heads;
  spec.keys = length;
  spec.queries = pass == cases::Pass::decode ? 1 : length;
  spec.query_offset = spec.keys - spec.queries;
  spec.head_dim = head_dim;
  spec.mask.causal = causal;
  return spec;
}

/// Adds what the kernel takes of it: as it is, or where sizes are asked for with these.
bool probe(Spec spec, const Supported& supported, const Shapes& shapes, Offer& offer) {
  DrawIntegers draw{rc::Random(offer.size() + 1)};
  if (!shapes.has(spec)) {
    ask(shapes, draw, spec, Asked::as_it_is);
    spec.query_offset = std::min(spec.query_offset, spec.keys - spec.queries);
    take(shapes.scales, draw, spec.scale);
    take(shapes.softcaps, draw, spec.softcap);
  }
  if (!is_valid(spec) || !supported(spec)) return false;
  if (std::find(offer.begin(), offer.end(), spec) == offer.end()) offer.push_back(spec);
  return offer.size() >= most_offered;
}

/// Probes one after the other until `enough` says so or there are most_offered; a kernel is asked
/// about some at a time.
template <class Enough>
void probe_all(const std::vector<Spec>& specs, const Supported& supported, const Shapes& shapes,
               Offer& offer, const Enough& enough) {
  constexpr std::size_t at_a_time = 64;
  for (std::size_t first = 0; first < specs.size(); first += at_a_time) {
    const auto some = std::span(specs).subspan(first, std::min(at_a_time, specs.size() - first));
    if (supported.ahead) {
      // Specs that sizes are given to are others.
      std::vector<Spec> asked;
      std::copy_if(some.begin(), some.end(), std::back_inserter(asked),
                   [&](const Spec& spec) { return shapes.has(spec) && is_valid(spec); });
      supported.ahead(asked);
    }
    for (const Spec& spec : some) {
      if (probe(spec, supported, shapes, offer) || enough(spec)) return;
    }
  }
}

/// Every multiple of 8 as head_dim, then square lengths of tiles, in some forms of heads, and
/// latent attention's widths.
std::vector<Spec> plain_specs(cases::Pass pass, cases::Bias bias, cases::Format format) {
  constexpr std::array<std::array<int, 3>, 3> forms{{{1, 1, 1}, {1, 2, 2}, {1, 16, 16}}};
  std::vector<Spec> specs;
  for (const bool causal : {true, false}) {
    for (int head_dim = 8; head_dim <= 256; head_dim += 8) {
      specs.push_back(plain(pass, bias, format, causal, 1, 1, 1, 64, head_dim));
    }
    for (const auto& [batch, heads, kv_heads] : forms) {
      for (const int length : {128, 256, 512, 1024, 2048, 4096}) {
        for (const int head_dim : {64, 128}) {
          specs.push_back(
              plain(pass, bias, format, causal, batch, heads, kv_heads, length, head_dim));
        }
      }
    }
    for (const auto& [head_dim, value_dim] : {std::pair{192, 128}, {576, 512}}) {
      for (const bool in_keys : {false, true}) {
        for (const auto& [heads, kv_heads, length] :
             {std::array{1, 1, 64}, {16, 16, 128}, {16, 1, 128}}) {
          Spec spec = plain(pass, bias, format, causal, 1, heads, kv_heads, length, head_dim);
          spec.value_dim = value_dim;
          spec.values_in_keys = in_keys && pass != cases::Pass::backward;
          specs.push_back(spec);
        }
      }
    }
  }
  return specs;
}

/// Lengths near a drawn one that kernels may take in its place: multiples of tiles and powers of
/// two, and squares of them.
std::vector<std::pair<int, int>> lengths_near(const Spec& drawn) {
  std::vector<std::pair<int, int>> lengths{{drawn.queries, drawn.keys}};
  const auto consider = [&](int queries, int keys) {
    if (keys < 1 || queries < 1) return;
    lengths.emplace_back(std::min(queries, keys), keys);
    lengths.emplace_back(keys, keys);
  };
  consider(drawn.queries, drawn.keys);
  for (const int tile : {16, 32, 64, 128, 256}) {
    const int up = (drawn.keys + tile - 1) / tile * tile;
    consider(drawn.queries, up);
    consider((drawn.queries + tile - 1) / tile * tile, up);
    consider(drawn.queries, drawn.keys / tile * tile);
  }
  // A square of so much work that a few queries would not have had.
  for (int length = 2048; length >= 64; length /= 2) {
    if (length < drawn.keys) consider(length, length);
  }
  int power = 1;
  while (power < drawn.keys) power *= 2;
  consider(drawn.queries, power);
  return lengths;
}

}  // namespace

bool is_valid(const Spec& spec) {
  try {
    cases::validate(spec);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

void Shapes::validate(const std::string& prefix) const {
  const auto named = [&](std::string field) {
    if (prefix == "--") std::replace(field.begin(), field.end(), '_', '-');
    return prefix + field;
  };
  const auto at_least_1 = [&](const char* field, const std::vector<int>& sizes) {
    for (const int size : sizes) {
      if (size < 1 || size > cases::largest_size) {
        throw BadInput(named(field), std::to_string(size),
                       fmt::format("whole numbers from 1 to {}", cases::largest_size));
      }
    }
  };
  at_least_1("batch", batch);
  at_least_1("heads", heads);
  at_least_1("kv_heads", kv_heads);
  at_least_1("queries", queries);
  at_least_1("keys", keys);
  at_least_1("head_dims", head_dims);
  at_least_1("value_dims", value_dims);
  at_least_1("rotary_dims", rotary_dims);
  for (const int size : rotary_dims) {
    if (size % 2 != 0) throw BadInput(named("rotary_dims"), std::to_string(size), "even numbers");
  }
  const auto normal = [&](const char* field, const std::vector<double>& numbers) {
    for (const double number : numbers) {
      if (!(number >= 0x1p-126 && number <= 0x1p127)) {
        throw BadInput(named(field), fmt::format("{}", number), "numbers from 2^-126 to 2^127");
      }
    }
  };
  normal("scale", scales);
  normal("softcap", softcaps);
  if (!heads.empty() && !kv_heads.empty()) {
    for (const int kv : kv_heads) {
      if (std::any_of(heads.begin(), heads.end(), [&](int h) { return h % kv == 0; })) continue;
      throw BadInput(named("kv_heads"), std::to_string(kv),
                     fmt::format("a divisor of one of heads {}", fmt::join(heads, ",")));
    }
  }
}

bool Shapes::has(const Spec& spec) const {
  return contains(batch, spec.batch) && contains(heads, spec.heads) &&
         contains(kv_heads, spec.kv_heads) && contains(queries, spec.queries) &&
         contains(keys, spec.keys) && contains(head_dims, spec.head_dim) &&
         contains(value_dims, spec.value_width()) && contains(scales, spec.scale) &&
         (!spec.bias.has_rope() || contains(rotary_dims, spec.rotary_width())) &&
         contains(softcaps, spec.softcap) && (longest == 0 || spec.keys <= longest) &&
         (!values_in_keys || spec.values_in_keys) &&
         contains(whole, {spec.batch, spec.heads, spec.kv_heads, spec.queries, spec.keys,
                          spec.head_dim, spec.value_dim});
}

void make_packed_sequences(Spec& spec) {
  if (spec.pass == cases::Pass::decode) return;
  spec.layout = cases::Layout::packed_sequences;
  spec.mask.ragged = spec.queries_at_end = true;
  spec.query_offset = spec.keys - spec.queries;
  spec.mask.documents = spec.mask.per_batch = spec.mask.per_head = spec.keep_given = false;
  spec.mask.pattern = cases::Pattern::none;
  spec.dropout = 0;
  spec.lse_gradient = spec.lse_gradient && !spec.sinks;
}

namespace {

void ask_rotary_dim(const Shapes& shapes, DrawIntegers& draw, Spec& spec) {
  if (!spec.bias.has_rope()) return;
  std::vector<int> fitting;
  for (const int size : shapes.rotary_dims) {
    if (size <= spec.head_dim) fitting.push_back(size);
  }
  if (fitting.empty() && !shapes.rotary_dims.empty()) {
    spec.head_dim = *std::ranges::min_element(shapes.rotary_dims);
    fitting = {spec.head_dim};
  }
  take(fitting, draw, spec.rotary_dim);
  if (spec.rotary_dim == spec.head_dim) spec.rotary_dim = 0;
}

}  // namespace

void ask(const Shapes& shapes, DrawIntegers& draw, Spec& spec, Asked asked) {
  spec.values_in_keys = spec.values_in_keys || shapes.values_in_keys;
  if (!shapes.whole.empty()) {
    const auto& sizes = shapes.whole[draw.below(shapes.whole.size())];
    std::tie(spec.batch, spec.heads, spec.kv_heads, spec.queries, spec.keys, spec.head_dim,
             spec.value_dim) = std::tuple_cat(sizes);
    return ask_rotary_dim(shapes, draw, spec);
  }
  take(shapes.batch, draw, spec.batch);
  take(shapes.head_dims, draw, spec.head_dim);
  take(shapes.value_dims, draw, spec.value_dim);
  ask_rotary_dim(shapes, draw, spec);
  if (!shapes.heads.empty() || !shapes.kv_heads.empty()) {
    std::vector<std::pair<int, int>> pairs;
    const int group = spec.heads / spec.kv_heads;
    for (const int heads : shapes.heads) {
      if (shapes.kv_heads.empty())
        pairs.emplace_back(heads, heads % group == 0 ? heads / group : heads);
      for (const int kv : shapes.kv_heads) {
        if (heads % kv == 0) pairs.emplace_back(heads, kv);
      }
    }
    if (shapes.heads.empty()) {
      for (const int kv : shapes.kv_heads) pairs.emplace_back(kv * group, kv);
    }
    std::tie(spec.heads, spec.kv_heads) = pairs[draw.below(pairs.size())];
  }
  const bool square = spec.queries == spec.keys;
  take(shapes.keys, draw, spec.keys);
  if (shapes.longest > 0) spec.keys = std::min(spec.keys, shapes.longest);
  // Few of what nobody asked for, where many keys were.
  const auto is_large = [&](double times = 1) {
    return asked == Asked::cheaply && !shapes.keys.empty() &&
           work_of(spec) > times * most_work_drawn;
  };
  const auto thin_out = [&] {
    if (is_large() && shapes.batch.empty()) spec.batch = 1;
    if (is_large() && shapes.heads.empty() && shapes.kv_heads.empty()) {
      spec.heads = spec.kv_heads = 1;
    }
  };
  if (shapes.queries.empty()) {
    spec.queries = square ? spec.keys : std::min(spec.queries, spec.keys);
    if (is_large() && draw.chance(50)) thin_out();  // one head and many queries, or
    if (is_large(4)) spec.queries = std::min(draw.between(1, 4), spec.keys);
    return thin_out();
  }
  std::vector<int> fitting;
  for (const int queries : shapes.queries) {
    if (queries <= spec.keys) fitting.push_back(queries);
  }
  if (!fitting.empty()) {
    spec.queries = fitting[draw.below(fitting.size())];
  } else if (shapes.keys.empty()) {  // any keys will do
    take(shapes.queries, draw, spec.queries);
    spec.keys = std::max(spec.keys, spec.queries);
  } else {  // the keys for which there is one, or nearly
    spec.queries = *std::min_element(shapes.queries.begin(), shapes.queries.end());
    spec.keys = *std::max_element(shapes.keys.begin(), shapes.keys.end());
  }
  thin_out();
}

namespace {

void give_cache(Spec& s, cases::CacheFormat cache, bool scale_per_key) {
  if (s.pass != cases::Pass::decode || cases::has_scales(s.format)) return;
  s.cache = cache;
  s.scale_per_key = scale_per_key;
  s.family = cases::Family::generic;
}

struct Property {
  const char* name;
  void (*give)(Spec&);
};
// Each changes a spec so that it has the property; one that has it already is left as it is.
const std::vector<Property> properties{
    {"causal masks", [](Spec& s) { s.mask.causal = true; }},
    {"no causal mask", [](Spec& s) { s.mask.causal = false; }},
    {"windows",
     [](Spec& s) {
       if (!s.mask.window.hides()) s.mask.window = s.keys / 2;
     }},
    {"windows of different sides",
     [](Spec& s) {
       if (s.mask.window.left == s.mask.window.right) s.mask.window = {s.keys, s.keys / 2};
     }},
    {"lengths", [](Spec& s) { s.mask.ragged = true; }},
    {"queries at each sequence's own end",
     [](Spec& s) {
       s.mask.ragged = s.queries_at_end = true;
       s.query_offset = s.keys - s.queries;
     }},
    {"documents", [](Spec& s) { s.mask.documents = true; }},
    {"mask tensors",
     [](Spec& s) {
       if (s.mask.pattern == cases::Pattern::none) s.mask.pattern = cases::Pattern::blocks;
     }},
    {"values of another width than keys",
     [](Spec& s) {
       if (s.value_width() == s.head_dim) s.value_dim = std::max(1, s.head_dim / 2);
     }},
    {"values that are a part of the keys",
     [](Spec& s) {
       if (s.pass == cases::Pass::backward || s.values_in_keys) return;
       s.values_in_keys = true;
       s.value_dim = std::min(s.value_dim, s.head_dim);
     }},
    {"gradients through lse", [](Spec& s) { s.lse_gradient = s.pass == cases::Pass::backward; }},
    {"dropout",
     [](Spec& s) {
       if (s.pass != cases::Pass::decode && s.dropout == 0) s.dropout = 0.5F;
     }},
    {"RoPE of a part of the components",
     [](Spec& s) {
       if (s.bias.has_rope() && s.rotary_dim == 0) s.rotary_dim = s.head_dim / 4 * 2;
     }},
    {"SSMax", [](Spec& s) { s.ssmax = true; }},
    {"softcaps",
     [](Spec& s) {
       if (s.softcap == 0) s.softcap = gemma_2_softcap;
     }},
    {"attention sinks", [](Spec& s) { s.sinks = true; }},
    {"several sequences", [](Spec& s) { s.batch = std::max(s.batch, 2); }},
    {"several heads",
     [](Spec& s) {
       if (s.heads == 1) s.heads = s.kv_heads = 2;
     }},
    {"fewer key heads than heads",
     [](Spec& s) {
       if (s.heads == s.kv_heads) s.heads *= 2;
     }},
    {"fewer queries than keys",
     [](Spec& s) {
       if (s.queries < s.keys) return;
       s.keys *= 2;
       s.query_offset = s.keys - s.queries;
     }},
    {"queries before the end",
     [](Spec& s) {
       if (s.query_offset + s.queries < s.keys) return;
       s.keys *= 2;
       s.queries_at_end = false;
     }},
    {"more queries than keys",
     [](Spec& s) {
       if (s.queries > s.keys) return;
       s.queries = 2 * s.keys;
       s.query_offset = s.keys - s.queries;
     }},
    {"keys not divisible by 16",
     [](Spec& s) {
       if (s.keys % 16 != 0) return;
       s.keys += 5;
       if (s.queries > 1 && s.query_offset == 0) s.queries = s.keys;
       if (s.queries_at_end) s.query_offset = s.keys - s.queries;
     }},
    {"head_dim not divisible by 16", [](Spec& s) { s.head_dim += s.head_dim % 16 != 0 ? 0 : 8; }},
    {"other scales",
     [](Spec& s) {
       if (s.scale == 0) s.scale = 0.25;
     }},
    {"caches of 8 bits: e4m3, a scale for each key head",
     [](Spec& s) { give_cache(s, cases::CacheFormat::e4m3, false); }},
    {"caches of 8 bits: e5m2, a scale for each key head",
     [](Spec& s) { give_cache(s, cases::CacheFormat::e5m2, false); }},
    {"caches of 8 bits: int8, a scale for each key head",
     [](Spec& s) { give_cache(s, cases::CacheFormat::int8, false); }},
    {"caches of 8 bits: e4m3, a scale for each key",
     [](Spec& s) { give_cache(s, cases::CacheFormat::e4m3, true); }},
    {"caches of 8 bits: e5m2, a scale for each key",
     [](Spec& s) { give_cache(s, cases::CacheFormat::e5m2, true); }},
    {"caches of 8 bits: int8, a scale for each key",
     [](Spec& s) { give_cache(s, cases::CacheFormat::int8, true); }},
    {"pages",
     [](Spec& s) {
       if (s.pass == cases::Pass::decode) s.page_size = std::max(s.page_size, 16);
     }},
    {"strides",
     [](Spec& s) {
       if (s.layout == cases::Layout::contiguous) s.layout = cases::Layout::tokens_first;
     }},
    {"packed sequences", make_packed_sequences},
};

/// For a kernel that takes nothing without one of them.
std::vector<Spec> specs_with_a_property(cases::Pass pass, cases::Bias bias, cases::Format format) {
  std::vector<Spec> specs;
  for (const bool causal : {true, false}) {
    for (const int heads : {1, 2}) {
      for (const int head_dim : {64, 128}) {
        for (const Property& property : properties) {
          specs.push_back(plain(pass, bias, format, causal, 1, heads, heads, 64, head_dim));
          property.give(specs.back());
        }
      }
    }
  }
  return specs;
}

}  // namespace

Offer find_offer(cases::Pass pass, cases::Bias bias, cases::Format format,
                 const Supported& supported, const Shapes& shapes) {
  Offer offer;
  const auto never = [](const Spec&) { return false; };
  probe_all(draw_specs(pass, bias, format, drawn_probes, 1, shapes), supported, shapes, offer,
            never);
  if (offer.empty()) {
    probe_all(plain_specs(pass, bias, format), supported, shapes, offer, never);
  }
  if (offer.empty()) {
    probe_all(specs_with_a_property(pass, bias, format), supported, shapes, offer, never);
  }
  return offer;
}

Offer find_offer_like(const Offer& others, cases::Pass pass, cases::Bias bias, cases::Format format,
                      const Supported& supported, const Shapes& shapes) {
  Offer offer;
  for (Spec spec : others) {
    spec.pass = pass;
    spec.bias = bias;
    spec.format = format;
    if (bias.method == PLUMBLINE_FOX) spec.mask.causal = true;
    if (pass != cases::Pass::decode) spec.page_size = 0;
    if (!bias.has_rope()) spec.rotary_dim = 0;
    if (pass != cases::Pass::decode || cases::has_scales(format)) {
      spec.cache = cases::CacheFormat::in_format;
      spec.scale_per_key = false;
    }
    if (pass == cases::Pass::decode) {
      spec.dropout = 0;
      spec.keep_given = false;
    }
    if (pass == cases::Pass::decode && spec.is_packed()) {
      spec.layout = cases::Layout::contiguous;
    }
    if (pass != cases::Pass::backward) spec.lse_gradient = false;
    probe(spec, supported, shapes, offer);
  }
  return offer;
}

namespace {

/// What fixed shapes are made of: batch, query heads and key heads; lengths of squares, head_dim.
constexpr std::array<std::array<int, 3>, 30> fixed_heads{
    {{1, 16, 16}, {1, 8, 8},   {1, 12, 12}, {1, 1, 1},   {1, 2, 2},   {1, 4, 4},
     {1, 32, 32}, {1, 32, 8},  {1, 16, 4},  {1, 64, 8},  {1, 3, 3},   {1, 6, 6},
     {1, 20, 20}, {2, 16, 16}, {2, 8, 8},   {2, 12, 12}, {2, 1, 1},   {2, 2, 2},
     {2, 3, 3},   {2, 4, 4},   {2, 32, 32}, {2, 32, 8},  {4, 16, 16}, {4, 8, 8},
     {4, 12, 12}, {4, 4, 4},   {4, 1, 1},   {8, 16, 16}, {8, 12, 12}, {8, 8, 8}}};
constexpr std::array<int, 24> fixed_lengths{2048, 1024, 4096, 512,  256,  128, 64,  8192,
                                            32,   16,   96,   100,  192,  200, 320, 384,
                                            500,  640,  768,  1000, 1536, 50,  300, 3072};
constexpr std::array<int, 8> fixed_head_dims{64, 128, 32, 96, 80, 256, 16, 48};

}  // namespace

std::string fixed_shapes_in_words() {
  auto lengths = fixed_lengths;
  auto head_dims = fixed_head_dims;
  std::ranges::sort(lengths);
  std::ranges::sort(head_dims);
  return fmt::format(
      "squares of {} tokens, in 1, 2, 4 and 8 sequences of 1 to 64 heads with head_dim {}",
      fmt::join(lengths, ", "), fmt::join(head_dims, ", "));
}

Offer find_offer_of_models(cases::Pass pass, cases::Bias bias, cases::Format format,
                           const Supported& supported, const Shapes& shapes) {
  std::vector<Spec> specs;
  for (const bool causal : {true, false}) {
    for (const auto& [batch, heads, kv_heads] : fixed_heads) {
      for (const int length : fixed_lengths) {
        for (const int head_dim : fixed_head_dims) {
          specs.push_back(
              plain(pass, bias, format, causal, batch, heads, kv_heads, length, head_dim));
        }
      }
    }
  }
  Offer offer;
  probe_all(specs, supported, shapes, offer,
            [&](const Spec& spec) { return offer.size() == 1 && offer.back() != spec; });
  return offer;
}

std::vector<std::string> declined(const Offer& offer, const Supported& supported) {
  std::vector<std::string> names;
  for (const auto& [name, give] : properties) {
    const auto takes = [&, give = give](const Spec& spec) {
      Spec changed = spec;
      give(changed);
      if (changed == spec) return true;
      return is_valid(changed) && supported(changed);
    };
    // FoX has no meaning without a causal mask: nobody declines that.
    const bool asked = std::any_of(offer.begin(), offer.end(), [&, give = give](Spec spec) {
      give(spec);
      return is_valid(spec);
    });
    if (asked && std::none_of(offer.begin(), offer.end(), takes)) names.push_back(name);
  }
  const auto is_cache = [](const std::string_view name) {
    return name.starts_with("caches of 8 bits: ");
  };
  // A kernel that declines every kind of cache declines them in one line.
  if (std::ranges::count_if(names, is_cache) ==
      std::ranges::count_if(properties, is_cache, &Property::name)) {
    std::erase_if(names, is_cache);
    names.emplace_back("caches of 8 bits");
  }
  return names;
}

Spec fitted(const Spec& drawn, const Offer& offer, const Supported& supported,
            const Shapes& shapes) {
  Spec result = offer[drawn.seed % offer.size()];
  const auto move = [&](auto change) {
    Spec candidate = result;
    change(candidate);
    // A mask or an offset that a shorter length leaves no room for.
    const int at_end = candidate.keys - candidate.queries;
    candidate.query_offset =
        candidate.queries_at_end ? at_end : std::min(candidate.query_offset, std::max(0, at_end));
    if (!is_valid(candidate) || !shapes.has(candidate)) return false;
    if (work_of(candidate) > std::max(most_work_drawn, work_of(result))) return false;
    if (!supported(candidate)) return false;
    result = candidate;
    return true;
  };
  // The numbers first: options are drawn with them, and a kernel may take only some.
  for (std::uint64_t n = 0; n < 64; ++n) {
    if (move([&](Spec& s) { s.seed = drawn.seed + n; })) break;
  }
  move([&](Spec& s) { s.family = drawn.family; });
  move([&](Spec& s) { s.ssmax = drawn.ssmax; });
  move([&](Spec& s) { s.head_dim = drawn.head_dim; });
  // The last query at the last key; or the first one at the first key, where a kernel has it so.
  const auto has_lengths = [&](int queries, int keys, int query_offset) {
    return move([&](Spec& s) {
      s.keys = keys;
      s.queries = queries;
      s.query_offset = query_offset;
    });
  };
  for (const auto& [queries, keys] : lengths_near(drawn)) {
    if (has_lengths(queries, keys, keys - queries) || has_lengths(queries, keys, 0)) break;
  }
  for (const int batch : {drawn.batch, 1, 2, 3}) {
    if (move([&](Spec& s) { s.batch = batch; })) break;
  }
  const std::array<std::array<int, 2>, 4> heads{{{drawn.heads, drawn.kv_heads},
                                                 {drawn.heads, drawn.heads},
                                                 {drawn.kv_heads, drawn.kv_heads},
                                                 {2 * drawn.heads, 2 * drawn.kv_heads}}};
  for (const auto& [of_queries, of_keys] : heads) {
    const auto change = [&, of_queries = of_queries, of_keys = of_keys](Spec& s) {
      s.heads = of_queries;
      s.kv_heads = of_keys;
    };
    if (move(change)) break;
  }
  move([&](Spec& s) { s.mask.causal = drawn.mask.causal; });
  move([&](Spec& s) { s.mask.window = drawn.mask.window; });
  move([&](Spec& s) {
    s.mask.ragged = drawn.mask.ragged;
    s.queries_at_end = drawn.queries_at_end;
  });
  move([&](Spec& s) { s.mask.documents = drawn.mask.documents; });
  move([&](Spec& s) { s.page_size = drawn.page_size; });
  if (!result.queries_at_end) {
    move([&](Spec& s) { s.query_offset = std::min(drawn.query_offset, s.keys - s.queries); });
  }
  move([&](Spec& s) { s.scale = drawn.scale; });
  move([&](Spec& s) { s.softcap = drawn.softcap; });
  move([&](Spec& s) { s.sinks = drawn.sinks; });
  move([&](Spec& s) { s.value_dim = drawn.value_dim; });
  return result;
}

}  // namespace plumbline::verdict
