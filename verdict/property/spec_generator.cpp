// SPDX-License-Identifier: Apache-2.0
#include "verdict/property/spec_generator.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "verdict/oracle/sample.hpp"
#include "verdict/property/draw_integers.hpp"
#include "verdict/property/offered_shapes.hpp"

namespace plumbline::verdict {
namespace {

using cases::Family;
using cases::Layout;
using cases::Spec;

/// Lengths around the tile sizes in use, where an off-by-one shows.
constexpr std::array<int, 17> edge_lengths{1,  2,  7,   16,  17,  31,  32,  33, 63,
                                           64, 65, 127, 128, 129, 191, 255, 257};
constexpr std::array<int, 6> head_dims{32, 48, 64, 80, 96, 128};

/// Dimensions that few kernels offer: those that do are judged on them too.
constexpr std::array<int, 6> rare_head_dims{8, 16, 40, 112, 160, 256};

/// 48 is no power of two: a shift in place of a division differs.
constexpr std::array<int, 5> page_sizes{1, 16, 32, 48, 64};

/// What models have: ALiBi's slopes of counts that are no powers of two are a case of their own,
/// and so are groups that no shift divides by.
constexpr std::array<int, 7> model_heads{3, 5, 6, 7, 12, 20, 32};
constexpr std::array<int, 6> model_groups{3, 5, 5, 7, 7, 8};
constexpr std::array<int, 4> model_batches{3, 4, 5, 8};

/// Work of a case with many heads or sequences, and of most others: lengths are cut to it.
constexpr double most_work_of_many_heads = 0x1p22;

/// Work of the largest case of huge numbers: the oracle reads most of their rows in 50 digits.
constexpr double most_work_of_huge = 0x1p22;

int draw_length(DrawIntegers& draw) {
  if (draw.chance(50)) return draw.one_of(edge_lengths);
  // The square of a uniform number: short lengths are cheap and as good at the edges.
  const int root = draw.between(1, 14);
  return draw.between(1, root * root + 4);
}

Family draw_family(DrawIntegers& draw) {
  if (draw.chance(55)) return Family::generic;
  constexpr std::array<int, 5> rest{static_cast<int>(Family::peaked),
                                    static_cast<int>(Family::diffuse),
                                    static_cast<int>(Family::tied), static_cast<int>(Family::huge),
                                    static_cast<int>(Family::subnormal)};
  return static_cast<Family>(draw.one_of(rest));
}

void draw_heads(DrawIntegers& draw, Spec& spec) {
  spec.batch = draw.chance(30) ? 2 : 1;
  spec.kv_heads = draw.between(1, 2);
  spec.heads = spec.kv_heads * draw.between(1, 2);
  if (draw.chance(25)) {
    spec.heads = spec.kv_heads = draw.one_of(model_heads);
    spec.batch = 1;
  } else if (draw.chance(25)) {
    spec.kv_heads = draw.chance(70) ? 1 : 2;
    spec.heads = spec.kv_heads * draw.one_of(model_groups);
    spec.batch = 1;
  }
  if (draw.chance(12)) spec.batch = draw.one_of(model_batches);
}

/// Three digits, so that it is short to type.
double rounded(double scale) {
  const double unit = std::pow(10.0, std::floor(std::log10(scale)) - 2);
  return std::round(scale / unit) * unit;
}

/// Scales that models have beside 1/sqrt(D): 1/D, and others near it; where scores spread as usual,
/// so that no family becomes another.
double draw_scale(DrawIntegers& draw, const Spec& spec) {
  const bool usual = spec.family == Family::generic || spec.family == Family::diffuse;
  const int kind = draw.between(0, 19);
  if (!usual || kind > 3) return 0;
  constexpr std::array<double, 3> factors{0.5, 0.75, 1.5};
  const double root = std::sqrt(static_cast<double>(spec.head_dim));
  return rounded(kind == 3 ? 1 / (root * root) : factors[static_cast<std::size_t>(kind)] / root);
}

/// Gemma 2's and Grok's caps, which bend the usual scores little, and some that bend them much.
constexpr std::array<double, 6> softcaps{gemma_2_softcap, 30, 5, 2, 1, 0.5};
constexpr std::array<float, 4> dropouts{0.1F, 0.25F, 0.5F, 0.875F};

/// A side of a window: the query alone, its neighbours, one at or beside a tile's
/// end, or any.
int draw_window(DrawIntegers& draw, int keys) {
  if (draw.chance(25)) return draw.between(0, 1);
  if (keys > 16 && draw.chance(60)) {
    const int tile = 16 << draw.between(0, 4);
    return std::clamp(draw.between(1, std::max(1, keys / tile)) * tile + draw.between(-1, 1), 0,
                      keys);
  }
  return draw.between(0, keys);
}

/// Half of the cases have their last query at the last key, as FlashAttention has it, others have
/// the first one at the first key, or anything in between.
void draw_more_queries(DrawIntegers& draw, Spec& spec) {
  spec.keys = draw.between(1, spec.queries - 1);
  const int at_end = spec.keys - spec.queries;
  spec.query_offset = draw.chance(50) ? at_end : draw.chance(50) ? 0 : draw.between(at_end, 0);
  if (cases::has_rows_at_keys(spec) || spec.queries_at_end) spec.query_offset = at_end;
}

/// The mask tensor alone hides keys in half of the cases: causality would hide most of what it
/// shows. One for each sequence is of several, and one for each head.
void draw_mask_tensor(DrawIntegers& draw, Spec& spec) {
  using cases::Pattern;
  constexpr std::array<Pattern, 6> patterns{Pattern::prefix,    Pattern::chunks,
                                            Pattern::blocks,    Pattern::tree,
                                            Pattern::scattered, Pattern::sink_tokens};
  spec.mask.pattern = patterns[draw.below(patterns.size())];
  spec.mask.per_batch = draw.chance(50);
  spec.mask.per_head = draw.chance(50);
  if (draw.chance(50) && spec.bias.method != PLUMBLINE_FOX) spec.mask.causal = false;
  if (spec.mask.per_batch) spec.batch = std::max(spec.batch, 2);
  if (spec.mask.per_head && spec.heads == 1) spec.heads = spec.kv_heads = 2;
}

/// Of the values, a part of the keys' width, or more; in half of the narrower ones a part of the
/// keys themselves.
void draw_value_dim(DrawIntegers& draw, Spec& spec) {
  spec.value_dim = draw.chance(20)   ? draw.between(1, 2 * spec.head_dim)
                   : draw.chance(50) ? std::max(8, spec.head_dim / 2)
                                     : 8 * draw.between(1, std::max(1, spec.head_dim / 8));
  if (spec.value_dim == spec.head_dim) spec.value_dim = 0;
  spec.values_in_keys =
      draw.chance(50) && spec.pass != cases::Pass::backward && spec.value_width() <= spec.head_dim;
}

/// Multi-head latent attention's widths: expanded, or as it decodes, with one key head and values
/// in the keys.
void draw_latent_widths(DrawIntegers& draw, Spec& spec) {
  const bool absorbed = draw.chance(40);
  spec.head_dim = absorbed ? 576 : 192;
  spec.value_dim = absorbed ? 512 : 128;
  if (absorbed) spec.kv_heads = 1;
  spec.values_in_keys = absorbed && spec.pass != cases::Pass::backward;
}

/// What a case of a kernel that supports it may have besides, drawn after everything else, so that
/// the others stay as they are.
Spec with_features(DrawIntegers draw, Spec spec, const Supported& supported, const Shapes& shapes) {
  const auto give = [&](auto feature) {
    Spec featured = spec;
    feature(featured);
    const double most = spec.family == Family::huge ? most_work_of_huge : most_work_drawn;
    if (work_of(featured) > std::max(most, work_of(spec))) return;
    if (is_valid(featured) && shapes.has(featured) && supported(featured)) spec = featured;
  };
  // A kernel for every multiple of 8 may be wrong for one.
  const auto draw_any_width = [&] {
    if (draw.chance(15)) give([&](Spec& s) { s.head_dim = 8 * draw.between(1, 32); });
  };
  if (cases::needs_scores(spec.bias)) {
    if (draw.chance(15)) give([&](Spec& s) { draw_value_dim(draw, s); });
    draw_any_width();
    return spec;
  }
  if (spec.softcap == 0 && draw.chance(15)) {
    give([&](Spec& s) { s.softcap = softcaps[draw.below(softcaps.size())]; });
  }
  if (draw.chance(15)) give([](Spec& s) { s.sinks = true; });
  if (spec.mask.window.hides() && draw.chance(40)) {
    give([&](Spec& s) {
      int& side = draw.chance(50) ? s.mask.window.left : s.mask.window.right;
      side = draw.chance(20) ? -1 : draw_window(draw, s.keys);
    });
  }
  if (spec.mask.ragged && !spec.is_packed() && draw.chance(50)) {
    give([](Spec& s) {
      s.queries_at_end = true;
      s.query_offset = s.keys - s.queries;
    });
  } else if (spec.pass != cases::Pass::decode && spec.queries == spec.keys && spec.queries > 1 &&
             draw.chance(spec.is_packed() ? 25 : 10)) {
    give([&](Spec& s) { draw_more_queries(draw, s); });
  }
  if (draw.chance(15)) {
    const Spec before = spec;
    Spec masked = spec;
    draw_mask_tensor(draw, masked);
    // A kernel may take causality, masks of heads or masks of sequences in one way alone.
    for (int other = 0; other < 8 && spec.mask.pattern == cases::Pattern::none; ++other) {
      give([&](Spec& s) {
        s = masked;
        if (other & 1) s.mask.causal = before.mask.causal;
        if (other & 2) s.mask.per_head = !masked.mask.per_head;
        if (other & 4) s.mask.per_batch = !masked.mask.per_batch;
        if (!s.mask.per_batch) s.batch = before.batch;
        if (!s.mask.per_head) {
          s.heads = before.heads;
          s.kv_heads = before.kv_heads;
        }
      });
    }
  }
  if (spec.value_dim == 0 && draw.chance(15)) {
    const Spec before = spec;
    if (draw.chance(50)) give([&](Spec& s) { draw_latent_widths(draw, s); });
    if (spec == before) give([&](Spec& s) { draw_value_dim(draw, s); });
  }
  if (spec.pass == cases::Pass::backward && draw.chance(20)) {
    give([](Spec& s) { s.lse_gradient = true; });
  }
  if (spec.pass == cases::Pass::decode) {
    const bool wanted = draw.chance(20);
    const int first = draw.between(0, 5);
    // The first of the six that the kernel takes.
    for (int n = 0; wanted && n < 6 && spec.cache == cases::CacheFormat::in_format; ++n) {
      give([&](Spec& s) {
        s.cache = static_cast<cases::CacheFormat>(1 + (first + n) % 6 / 2);
        s.scale_per_key = (first + n) % 2 != 0;
      });
    }
  } else if (spec.dropout == 0 && draw.chance(15)) {
    const float dropout = dropouts[draw.below(dropouts.size())];
    const bool keep_given = draw.chance(25);
    for (const bool given : {keep_given, !keep_given}) {
      if (spec.dropout > 0) break;
      give([&](Spec& s) {
        s.dropout = dropout;
        s.keep_given = given;
      });
    }
  }
  if (spec.bias.has_rope() && spec.head_dim > 2 && draw.chance(40)) {
    give([&](Spec& s) {
      s.rotary_dim = draw.chance(50) ? std::max(2, s.head_dim / 8 * 2)
                                     : 2 * draw.between(1, (s.head_dim - 1) / 2);
    });
  }
  draw_any_width();
  // One that takes no contiguous arrays has the other strides, too.
  if (!spec.is_packed() && (draw.chance(25) || spec.is_strided())) {
    constexpr std::array<Layout, 3> strided{Layout::tokens_first, Layout::spaced,
                                            Layout::packed_qkv};
    give([&](Spec& s) { s.layout = strided[draw.below(strided.size())]; });
  }
  // Of one sequence cu_seqlens says little, whether or not the kernel takes others.
  if (spec.is_packed() || (spec.layout == Layout::contiguous && draw.chance(20))) {
    const Spec before = spec;
    for (const int batch : {std::max(spec.batch, draw.between(2, 5)), spec.batch}) {
      if (spec != before) break;
      give([&](Spec& s) {
        s.batch = batch;
        make_packed_sequences(s);
      });
    }
  }
  return spec;
}

/// Squares as models have them. Few heads keep them cheap.
void draw_large_square(DrawIntegers& draw, Spec& spec) {
  spec.batch = 1;
  spec.kv_heads = 1;
  spec.heads = draw.between(1, 2);
  spec.keys = spec.queries =
      draw.between(0, 1) == 0 ? draw.between(258, 2048) : 256 * draw.between(2, 8);
  const double longest = std::sqrt(most_work_drawn * spec.keys * spec.keys / work_of(spec));
  if (spec.keys > longest) spec.keys = spec.queries = static_cast<int>(longest) / 256 * 256;
}

/// A query or a few, and very many keys, often the most that are drawn.
void draw_many_keys(DrawIntegers& draw, Spec& spec) {
  spec.batch = 1;
  spec.kv_heads = 1;
  spec.heads = draw.chance(25) ? 2 : 1;
  const int power = draw.chance(60) ? 16 : draw.between(11, 15);
  spec.keys = std::min((1 << power) + draw.between(-1, 1), most_keys_drawn);
  spec.queries = draw.chance(70) ? 1 : draw.between(2, 4);
}

/// Kernels pack the rows of a group into tiles, which end in the midst of a query's rows. At such
/// an end there begins a tile of 64 keys as well.
void draw_packed(DrawIntegers& draw, Spec& spec) {
  constexpr std::array<int, 3> packed_rows{16, 64, 128};
  const int group = spec.heads / spec.kv_heads, rows = draw.one_of(packed_rows);
  spec.queries = draw.between(40, 160);
  const int tiles = std::max(1, (spec.queries - 1) * group / rows);
  const int end = draw.between(1, tiles) * rows / group;
  spec.keys = spec.queries + (64 - end % 64) % 64 + 64 * draw.between(0, 1);
}

/// Sizes do not grow from case to case, as is usual: a cell may have only one.
Spec draw_spec(DrawIntegers draw, cases::Pass pass, cases::Bias bias, cases::Format format,
               const Shapes& shapes) {
  Spec spec;
  spec.pass = pass;
  spec.bias = bias;
  spec.format = format;
  spec.ssmax = draw.chance(25);
  spec.head_dim = draw.chance(10) ? draw.one_of(rare_head_dims) : draw.one_of(head_dims);
  bool sees_all = false;  // a mask would leave little of very many keys
  draw_heads(draw, spec);
  spec.keys = draw_length(draw);
  spec.queries = draw.chance(70) ? spec.keys : draw.between(1, spec.keys);
  // The oracle of these computes whole rows, DAPE's for all heads.
  if (cases::needs_scores(bias)) {
    spec.keys = std::min(spec.keys, 97);
    spec.queries = std::min(spec.queries, draw.chance(80) ? 33 : spec.keys);
  } else if (draw.chance(5)) {
    // Many tiles, and several chunks of a prefix sum; few rows keep it cheap.
    spec.batch = 1;
    spec.keys = draw.between(513, 1100);
    spec.queries = draw.between(1, 4);
  } else if (draw.chance(1)) {
    draw_large_square(draw, spec);
  } else if (draw.chance(1)) {
    draw_many_keys(draw, spec);
    sees_all = draw.chance(80);
  }
  if (spec.heads / spec.kv_heads > 2 && spec.batch == 1 && !cases::needs_scores(bias) &&
      draw.chance(pass == cases::Pass::backward ? 20 : 50)) {
    draw_packed(draw, spec);
  }
  if (spec.heads * spec.batch > 8) {
    const double pairs =
        most_work_of_many_heads / (static_cast<double>(spec.batch) * spec.heads * spec.head_dim);
    const bool square = spec.queries == spec.keys;
    spec.keys = std::min(spec.keys, std::max(17, static_cast<int>(std::sqrt(pairs))));
    spec.queries = square ? spec.keys : std::min(spec.queries, spec.keys);
  }
  ask(shapes, draw, spec, Asked::cheaply);
  const int at_end = spec.keys - spec.queries;
  spec.query_offset =
      sees_all || draw.chance(80) ? at_end : draw.between(std::min(0, at_end), std::max(0, at_end));
  spec.mask.causal = draw.chance(70) || bias.method == PLUMBLINE_FOX;
  if (!sees_all) {
    if (draw.chance(35)) spec.mask.window = draw_window(draw, spec.keys);
    spec.mask.ragged = draw.chance(25);
    spec.mask.documents = draw.chance(25);
  }
  // Decoding is about a few queries at the end of a cache.
  if (pass == cases::Pass::decode) {
    if (shapes.queries.empty()) {
      spec.queries = std::min(spec.keys, draw.chance(70) ? 1 : draw.between(1, 8));
    }
    // Queries stand at the same positions in all sequences: at the end of the cache, of ragged ones
    // also where a shorter sequence still has keys.
    spec.query_offset = spec.mask.ragged && draw.chance(70)
                            ? draw.between(0, std::max(0, spec.keys - spec.queries))
                            : spec.keys - spec.queries;
    if (draw.chance(60)) spec.page_size = draw.one_of(page_sizes);
  }
  if (spec.queries > spec.keys && cases::has_rows_at_keys(spec)) spec.query_offset = at_end;
  spec.family = draw_family(draw);
  spec.seed = draw.seed() >> 32;  // short enough to type
  if (draw.chance(4)) spec.family = Family::level;
  if (spec.family == Family::huge && work_of(spec) > most_work_of_huge) {
    spec.family = Family::generic;
  }
  spec.scale = shapes.scales.empty() ? draw_scale(draw, spec)
                                     : shapes.scales[draw.below(shapes.scales.size())];
  if (!shapes.softcaps.empty()) spec.softcap = shapes.softcaps[draw.below(shapes.softcaps.size())];
  return spec;
}

/// Simpler specs than this one, the largest steps first. No step may undo another, or shrinking
/// would never end: sizes only fall, parts of the mask only go.
std::vector<Spec> simpler(const Spec& spec) {
  std::vector<Spec> result;
  const auto consider = [&](auto change) {
    Spec changed = spec;
    change(changed);
    if (changed.queries_at_end) changed.query_offset = changed.keys - changed.queries;
    if (changed != spec && is_valid(changed)) result.push_back(changed);
  };
  consider([](Spec& s) { s.batch = 1; });
  consider([](Spec& s) { s.heads = s.kv_heads = 1; });
  consider([](Spec& s) { s.heads = s.kv_heads; });
  consider([](Spec& s) {
    if (s.heads > 2) s.heads = s.kv_heads = 2;
  });
  consider([](Spec& s) { s.batch /= 2; });
  consider([](Spec& s) { s.batch -= 1; });
  const int group = spec.heads / spec.kv_heads;
  for (const int less : {spec.kv_heads / 2, 1}) {
    consider([&](Spec& s) {
      s.kv_heads -= less;
      s.heads = s.kv_heads * group;
    });
  }
  // By halves, quarters, ... down to one.
  for (int keys = spec.keys / 2; keys > 0; keys /= 2) {
    consider([&](Spec& s) {
      s.keys -= keys;
      s.queries = std::min(s.queries, s.keys);
      s.query_offset = std::min(s.query_offset, s.keys - s.queries);
    });
    consider([&](Spec& s) {
      if (s.queries > s.keys) s.keys -= keys;
    });
  }
  for (int queries = spec.queries / 2; queries > 0; queries /= 2) {
    consider([&](Spec& s) { s.queries -= queries; });
  }
  // A kernel may take only multiples of a tile, or powers of two, or squares.
  for (const int tile : {256, 128, 64, 32, 16}) {
    const auto below = [tile](int n) { return n > tile ? (n - 1) / tile * tile : n; };
    consider([&](Spec& s) {
      s.keys = below(s.keys);
      s.queries = std::min(s.queries, s.keys);
      s.query_offset = std::min(s.query_offset, s.keys - s.queries);
    });
    consider([&](Spec& s) { s.queries = below(s.queries); });
  }
  consider([](Spec& s) {
    s.queries = std::min(s.queries, s.keys);
    s.query_offset = s.keys - s.queries;
  });
  consider([](Spec& s) { s.scale = 0; });
  consider([](Spec& s) { s.layout = Layout::contiguous; });
  consider([](Spec& s) { s.queries_at_end = false; });
  consider([](Spec& s) { s.mask.ragged = s.queries_at_end = false; });
  consider([](Spec& s) { s.mask.documents = false; });
  consider([](Spec& s) {
    s.mask.pattern = cases::Pattern::none;
    s.mask.per_batch = s.mask.per_head = false;
  });
  consider([](Spec& s) { s.mask.per_batch = false; });
  consider([](Spec& s) { s.mask.per_head = false; });
  consider([](Spec& s) { s.lse_gradient = false; });
  consider([](Spec& s) {
    s.dropout = 0;
    s.keep_given = false;
  });
  consider([](Spec& s) { s.scale_per_key = false; });
  consider([](Spec& s) {
    s.cache = cases::CacheFormat::in_format;
    s.scale_per_key = false;
  });
  consider([](Spec& s) { s.rotary_dim = 0; });
  consider([](Spec& s) { s.values_in_keys = false; });
  consider([](Spec& s) { s.value_dim = 0; });
  consider([](Spec& s) { s.mask.window = {}; });
  consider([](Spec& s) {
    if (s.mask.window.hides()) s.mask.window = std::min(s.mask.window.left, s.mask.window.right);
  });
  const auto sides = [&](auto change) {
    consider([&](Spec& s) {
      change(s.mask.window.left);
      change(s.mask.window.right);
    });
    if (spec.mask.window.left == spec.mask.window.right) return;
    consider([&](Spec& s) { change(s.mask.window.left); });
    consider([&](Spec& s) { change(s.mask.window.right); });
  };
  sides([](int& side) { side = side < 0 ? side : side / 2; });
  sides([](int& side) { side = side < 0 ? side : std::max(0, side - 1); });
  consider([](Spec& s) { s.page_size = 0; });
  consider([](Spec& s) { s.mask.causal = false; });
  consider([](Spec& s) { s.ssmax = false; });
  consider([](Spec& s) { s.softcap = 0; });
  consider([](Spec& s) { s.sinks = false; });
  consider([](Spec& s) { s.family = Family::generic; });
  consider([](Spec& s) {
    s.head_dim = head_dims.front();
    if (s.value_dim > 0) s.value_dim = s.head_dim / 2;
    if (s.rotary_dim > 0) s.rotary_dim = s.head_dim / 2;
  });
  consider([](Spec& s) {
    s.head_dim = head_dims.front();
    if (s.value_dim > 0) s.value_dim = s.head_dim / 2;
  });
  return result;
}

}  // namespace

rc::Gen<Spec> arbitrary_spec(cases::Pass pass, cases::Bias bias, cases::Format format,
                             Supported supported, const Offer& offer, const Shapes& shapes) {
  return [=](const rc::Random& random, int) {
    rc::Random stream = random;
    Spec spec = draw_spec(DrawIntegers(stream.split()), pass, bias, format, shapes);
    const bool as_drawn = is_valid(spec) && supported(spec);
    if (!as_drawn && !offer.empty()) spec = fitted(spec, offer, supported, shapes);
    spec = with_features(DrawIntegers(stream.split()), spec, supported, shapes);
    return rc::shrinkable::shrinkRecur(std::move(spec), [supported, shapes](const Spec& failing) {
      std::vector<Spec> candidates;
      for (const Spec& candidate : simpler(failing)) {
        if (shapes.has(candidate) && supported(candidate)) candidates.push_back(candidate);
      }
      return rc::seq::fromContainer(std::move(candidates));
    });
  };
}

std::vector<Spec> draw_specs(cases::Pass pass, cases::Bias bias, cases::Format format, int count,
                             std::uint64_t seed, const Shapes& shapes) {
  const auto generator = arbitrary_spec(
      pass, bias, format,
      [](const Spec& spec) {
        return spec.softcap == 0 && !spec.sinks && spec.queries <= spec.keys &&
               spec.mask.pattern == cases::Pattern::none && spec.value_dim == 0 &&
               !spec.values_in_keys && !spec.lse_gradient && spec.dropout == 0 &&
               spec.rotary_dim == 0 && spec.cache == cases::CacheFormat::in_format &&
               spec.layout == Layout::contiguous;
      },
      {}, shapes);
  rc::Random random(seed);
  std::vector<Spec> specs;
  for (int n = 0; n < count; ++n) {
    specs.push_back(generator(random.split(), 0).value());
  }
  return specs;
}

}  // namespace plumbline::verdict
