// SPDX-License-Identifier: Apache-2.0
#include "verdict/spec_generator.hpp"

#include <algorithm>
#include <array>

namespace plumbline::verdict {
namespace {

using cases::Family;
using cases::Spec;

/// Integers from RapidCheck's splittable generator.
class Draw {
 public:
  explicit Draw(rc::Random random) : random_(random) {}
  int between(int low, int high) {
    return low + static_cast<int>(random_.next() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  template <std::size_t N>
  int one_of(const std::array<int, N>& values) {
    return values[between(0, N - 1)];
  }
  std::uint64_t seed() { return random_.next(); }

 private:
  rc::Random random_;
};

/// Lengths around the tile sizes in use, where an off-by-one shows.
constexpr std::array<int, 17> edge_lengths{1,  2,  7,   16,  17,  31,  32,  33, 63,
                                           64, 65, 127, 128, 129, 191, 255, 257};
constexpr std::array<int, 6> head_dims{32, 48, 64, 80, 96, 128};

/// Dimensions that few kernels offer: those that do are judged on them too.
constexpr std::array<int, 6> rare_head_dims{8, 16, 40, 112, 160, 256};

/// 48 is no power of two: a shift in place of a division differs.
constexpr std::array<int, 5> page_sizes{1, 16, 32, 48, 64};

int draw_length(Draw& draw) {
  if (draw.chance(50)) return draw.one_of(edge_lengths);
  // The square of a uniform number: short lengths are cheap and as good at the edges.
  const int root = draw.between(1, 14);
  return draw.between(1, root * root + 4);
}

Family draw_family(Draw& draw) {
  if (draw.chance(55)) return Family::generic;
  constexpr std::array<int, 5> rest{static_cast<int>(Family::peaked),
                                    static_cast<int>(Family::diffuse),
                                    static_cast<int>(Family::tied), static_cast<int>(Family::huge),
                                    static_cast<int>(Family::subnormal)};
  return static_cast<Family>(draw.one_of(rest));
}

/// Sizes do not grow from case to case, as is usual: a cell may have only one.
Spec draw_spec(Draw draw, cases::Pass pass, cases::BiasMethod bias, cases::Format format) {
  Spec spec;
  spec.pass = pass;
  spec.bias = bias;
  spec.format = format;
  spec.ssmax = draw.chance(25);
  spec.head_dim = draw.chance(10) ? draw.one_of(rare_head_dims) : draw.one_of(head_dims);
  spec.batch = draw.chance(30) ? 2 : 1;
  spec.kv_heads = draw.between(1, 2);
  spec.heads = spec.kv_heads * draw.between(1, 2);
  if (draw.chance(10)) {  // larger groups, and one that is no power of two
    spec.kv_heads = 1;
    spec.heads = draw.chance(50) ? 3 : 8;
    spec.batch = 1;
  }
  spec.keys = draw_length(draw);
  spec.queries = draw.chance(70) ? spec.keys : draw.between(1, spec.keys);
  // Up to eight heads ALiBi's slopes are powers of two, which hide how a slope is rounded.
  if (bias == cases::BiasMethod::alibi && draw.chance(30)) {
    spec.kv_heads = 3;
    spec.heads = 12;
  }
  // The oracle of these computes whole rows, DAPE's for all heads.
  if (cases::needs_scores(bias)) {
    spec.keys = std::min(spec.keys, 97);
    spec.queries = std::min(spec.queries, draw.chance(80) ? 33 : spec.keys);
  } else if (draw.chance(5)) {
    // Many tiles, and several chunks of a prefix sum; few rows keep it cheap.
    spec.batch = 1;
    spec.keys = draw.between(513, 1100);
    spec.queries = draw.between(1, 4);
  }
  spec.query_offset =
      draw.chance(80) ? spec.keys - spec.queries : draw.between(0, spec.keys - spec.queries);
  spec.mask.causal = draw.chance(70) || bias == cases::BiasMethod::fox;
  if (draw.chance(35)) {  // the query alone, its neighbours, or any
    spec.mask.window = draw.chance(25) ? draw.between(0, 1) : draw.between(0, spec.keys);
  }
  spec.mask.ragged = draw.chance(25);
  spec.mask.documents = draw.chance(25);
  // Decoding is about a few queries at the end of a cache.
  if (pass == cases::Pass::decode) {
    spec.queries = std::min(spec.keys, draw.chance(70) ? 1 : draw.between(1, 8));
    // Queries stand at the same positions in all sequences: at the end of the cache, of ragged ones
    // also where a shorter sequence still has keys.
    spec.query_offset = spec.mask.ragged && draw.chance(70)
                            ? draw.between(0, spec.keys - spec.queries)
                            : spec.keys - spec.queries;
    if (draw.chance(60)) spec.page_size = draw.one_of(page_sizes);
  }
  spec.family = draw_family(draw);
  spec.seed = draw.seed() >> 32;  // short enough to type
  // Drawn last, so that all other cases are what they were before there was this family.
  if (draw.chance(4)) spec.family = Family::level;
  return spec;
}

bool is_valid(const Spec& spec) {
  try {
    cases::validate(spec);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

/// Simpler specs than this one, the largest steps first. No step may undo another, or shrinking
/// would never end: sizes only fall, parts of the mask only go.
std::vector<Spec> simpler(const Spec& spec) {
  std::vector<Spec> result;
  const auto consider = [&](auto change) {
    Spec changed = spec;
    change(changed);
    if (changed != spec && is_valid(changed)) result.push_back(changed);
  };
  consider([](Spec& s) { s.batch = 1; });
  consider([](Spec& s) { s.heads = s.kv_heads = 1; });
  consider([](Spec& s) { s.heads = s.kv_heads; });
  for (const auto shorten : {+[](int n) { return n / 2; }, +[](int n) { return n - 1; }}) {
    consider([&](Spec& s) {
      s.keys = shorten(s.keys);
      s.queries = std::min(s.queries, s.keys);
      s.query_offset = std::min(s.query_offset, s.keys - s.queries);
    });
    consider([&](Spec& s) { s.queries = shorten(s.queries); });
  }
  consider([](Spec& s) { s.query_offset = s.keys - s.queries; });
  consider([](Spec& s) { s.mask.ragged = false; });
  consider([](Spec& s) { s.mask.documents = false; });
  consider([](Spec& s) { s.mask.window.reset(); });
  consider([](Spec& s) { s.page_size = 0; });
  consider([](Spec& s) { s.mask.causal = false; });
  consider([](Spec& s) { s.ssmax = false; });
  consider([](Spec& s) { s.family = Family::generic; });
  consider([](Spec& s) { s.head_dim = head_dims.front(); });
  return result;
}

}  // namespace

rc::Gen<Spec> arbitrary_spec(cases::Pass pass, cases::BiasMethod bias, cases::Format format,
                             std::function<bool(const Spec&)> supported) {
  return [=](const rc::Random& random, int) {
    rc::Random stream = random;
    Spec spec = draw_spec(Draw(stream.split()), pass, bias, format);
    for (int tries = 0; !supported(spec) && tries < 1000; ++tries) {
      spec = draw_spec(Draw(stream.split()), pass, bias, format);
    }
    return rc::shrinkable::shrinkRecur(std::move(spec), [supported](const Spec& failing) {
      std::vector<Spec> candidates;
      for (const Spec& candidate : simpler(failing)) {
        if (supported(candidate)) candidates.push_back(candidate);
      }
      return rc::seq::fromContainer(std::move(candidates));
    });
  };
}

std::vector<Spec> draw_specs(cases::Pass pass, cases::BiasMethod bias, cases::Format format,
                             int count, std::uint64_t seed) {
  const auto generator = arbitrary_spec(pass, bias, format, [](const Spec&) { return true; });
  rc::Random random(seed);
  std::vector<Spec> specs;
  for (int n = 0; n < count; ++n) {
    specs.push_back(generator(random.split(), 0).value());
  }
  return specs;
}

}  // namespace plumbline::verdict
