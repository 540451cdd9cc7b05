// SPDX-License-Identifier: Apache-2.0
// What is drawn for a kernel that takes few shapes, and how large cases are judged.
#include <rapidcheck.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <set>

#include "support/error.hpp"
#include "tests/at_length.hpp"
#include "verdict/cases/case_file.hpp"
#include "verdict/oracle/sample.hpp"
#include "verdict/property/offered_shapes.hpp"
#include "verdict/property/property.hpp"
#include "verdict/property/spec_generator.hpp"

BOOST_AUTO_TEST_SUITE(shapes_test)

using namespace plumbline;
using cases::Format;
using cases::Pass;
using cases::Spec;
using verdict::Offer;
using verdict::Outcome;
using verdict::Supported;

namespace {

bool plain(const Spec& s) {
  return s.mask.causal && !s.mask.window.hides() && !s.mask.ragged && !s.mask.documents && !s.ssmax;
}
bool square(const Spec& s) { return s.queries == s.keys; }

std::vector<Spec> drawn(const Supported& supported, int count, std::uint64_t seed,
                        Pass pass = Pass::forward, const verdict::Shapes& shapes = {}) {
  Offer offer = verdict::find_offer(pass, PLUMBLINE_ALIBI, Format::bf16, supported, shapes);
  if (offer.empty()) {
    offer = verdict::find_offer_of_models(pass, PLUMBLINE_ALIBI, Format::bf16, supported, shapes);
  }
  BOOST_REQUIRE(!offer.empty());
  const auto specs =
      verdict::arbitrary_spec(pass, PLUMBLINE_ALIBI, Format::bf16, supported, offer, shapes);
  rc::Random random(seed);
  std::vector<Spec> all;
  for (int n = 0; n < count; ++n) all.push_back(specs(random.split(), 0).value());
  return all;
}

std::set<int> values_of(const std::vector<Spec>& specs, const std::function<int(const Spec&)>& of) {
  std::set<int> values;
  for (const Spec& spec : specs) values.insert(of(spec));
  return values;
}

int heads_of(const Spec& s) { return s.heads; }
int group_of(const Spec& s) { return s.heads / s.kv_heads; }
int batch_of(const Spec& s) { return s.batch; }

bool holds(const std::set<int>& values, std::initializer_list<int> some) {
  return std::all_of(some.begin(), some.end(), [&](int value) { return values.contains(value); });
}

verdict::Kernel kernel(const std::string& name) {
  for (const auto& kernel : verdict::load_kernel_library(FIXED_SHAPE_KERNELS).kernels) {
    if (kernel.name() == name) return kernel;
  }
  throw std::logic_error("no kernel " + name);
}

verdict::CellResult check(const std::string& name, Pass pass, int cases,
                          const verdict::Draws& draws = {}) {
  return verdict::check_cell(
      kernel(name), pass, PLUMBLINE_ALIBI, Format::fp32, cases, 1, 2, [](int) {}, {}, draws);
}

}  // namespace

BOOST_AUTO_TEST_CASE(cases_are_fitted_to_kernels_of_fixed_shapes) {
  const std::vector<std::pair<const char*, Supported>> kernels{
      {"square tiles", [](const Spec& s) { return plain(s) && square(s) && s.keys % 128 == 0; }},
      {"head_dim 64, keys in tiles",
       [](const Spec& s) { return s.head_dim == 64 && s.keys % 16 == 0; }},
      {"one length", [](const Spec& s) { return s.keys == 2048; }},
      {"many heads", [](const Spec& s) { return s.heads >= 16; }},
      {"head_dim 24", [](const Spec& s) { return s.head_dim == 24; }},
      {"one shape",
       [](const Spec& s) {
         return plain(s) && square(s) && s.batch == 4 && s.heads == 16 && s.kv_heads == 16 &&
                s.keys == 2048 && s.head_dim == 64;
       }},
      {"one square of an odd length",
       [](const Spec& s) {
         return plain(s) && square(s) && s.batch == 2 && s.heads == 8 && s.kv_heads == 8 &&
                s.keys == 100 && s.head_dim == 64;
       }},
      {"grouped heads", [](const Spec& s) { return plain(s) && s.heads == 32 && s.kv_heads == 8; }},
      {"power of two squares",
       [](const Spec& s) { return square(s) && s.keys >= 64 && (s.keys & (s.keys - 1)) == 0; }},
  };
  for (const auto& [name, supported] : kernels) {
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      BOOST_TEST_CONTEXT(name) {
        const auto specs = drawn(supported, 60, 1, pass);
        BOOST_TEST(std::all_of(specs.begin(), specs.end(), supported));
        // Each with numbers of its own.
        std::set<std::uint64_t> seeds;
        for (const Spec& spec : specs) seeds.insert(spec.seed);
        BOOST_TEST(seeds.size() == specs.size());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(what_models_have_is_drawn_whatever_else_a_kernel_supports) {
  const std::vector<std::pair<const char*, Supported>> kernels{
      {"anything", [](const Spec&) { return true; }},
      {"no masks", plain},
      {"no grouped heads", [](const Spec& s) { return s.heads == s.kv_heads; }},
      {"squares", square},
      {"square tiles", [](const Spec& s) { return plain(s) && square(s) && s.keys % 64 == 0; }},
  };
  for (const auto& [name, supported] : kernels) {
    long of_all_seeds = 0;  // cases of very many keys in which the rows see all
    for (const std::uint64_t seed : {1, 2, 3}) {
      BOOST_TEST_CONTEXT(name << ", seed " << seed) {
        const auto specs = drawn(supported, 1050, seed);
        BOOST_TEST(holds(values_of(specs, heads_of), {1, 2, 3, 5, 6, 7, 12, 20, 32}));
        BOOST_TEST(holds(values_of(specs, batch_of), {1, 2, 3, 4, 5, 8}));
        const bool grouped = std::string(name) != "no grouped heads";
        BOOST_TEST(holds(values_of(specs, group_of), {5, 7}) == grouped);
        int longest_square = 0;
        for (const Spec& s : specs) {
          if (square(s)) longest_square = std::max(longest_square, s.keys);
        }
        BOOST_TEST(longest_square > 1000);
        of_all_seeds += std::count_if(specs.begin(), specs.end(), [](const Spec& s) {
          const bool at_end = s.query_offset == s.keys - s.queries;
          return s.keys > 65000 && at_end && !s.mask.window.hides() && !s.mask.ragged &&
                 !s.mask.documents;
        });
        BOOST_TEST(std::count_if(specs.begin(), specs.end(),
                                 [](const Spec& s) { return s.scale != 0; }) > 50);
        BOOST_TEST(std::all_of(specs.begin(), specs.end(), [](const Spec& s) {
          return verdict::work_of(s) <= verdict::most_work_drawn;
        }));
      }
    }
    BOOST_TEST_MESSAGE(name << ": " << of_all_seeds);
    // Six in a thousand are drawn with so many keys, four in five of them so.
    BOOST_TEST((of_all_seeds >= 9) == !std::string(name).starts_with("square"), name);
  }
}

BOOST_AUTO_TEST_CASE(every_multiple_of_8_is_a_head_dim_of_kernels_that_take_any) {
  const auto dims = [](const Supported& supported) {
    std::set<int> seen;
    for (const Spec& s : drawn(supported, 1050, 1)) seen.insert(s.head_dim);
    return seen;
  };
  const std::set<int> any = dims([](const Spec&) { return true; });
  for (int dim = 8; dim <= 256; dim += 8) BOOST_TEST(any.contains(dim), dim);
  const std::set<int> of_32 = dims([](const Spec& s) { return s.head_dim % 32 == 0; });
  for (int dim = 32; dim <= 256; dim += 32) BOOST_TEST(of_32.contains(dim), dim);
}

BOOST_AUTO_TEST_CASE(kernels_with_the_first_query_at_the_first_key_have_fewer_queries_than_keys) {
  const auto top_left = [](const Spec& s) { return s.query_offset == 0; };
  const auto bottom_right = [](const Spec& s) { return s.query_offset == s.keys - s.queries; };
  for (const Supported& supported : {Supported(top_left), Supported(bottom_right)}) {
    int fewer = 0, more = 0;
    for (const Spec& s : drawn(supported, 1050, 1)) {
      BOOST_TEST(supported(s));
      fewer += s.queries < s.keys;
      more += s.queries > s.keys;
    }
    BOOST_TEST(fewer > 150);
    BOOST_TEST(more > 10);
  }
}

BOOST_AUTO_TEST_CASE(windows_end_on_and_beside_tiles_and_queries_stand_before_the_end) {
  const auto specs = drawn([](const Spec&) { return true; }, 1050, 1);
  int on = 0, beside = 0, before = 0;
  for (const Spec& s : specs) {
    before += s.query_offset + s.queries < s.keys;
    for (const int side : {s.mask.window.left, s.mask.window.right}) {
      on += side > 0 && side % 16 == 0;
      beside += side > 16 && (side % 16 == 1 || side % 16 == 15);
    }
  }
  BOOST_TEST(on > 40);
  BOOST_TEST(beside > 40);
  BOOST_TEST(before > 30);
}

BOOST_AUTO_TEST_CASE(queries_stand_at_each_end_and_there_are_more_than_keys) {
  const auto specs = drawn([](const Spec&) { return true; }, 1050, 1);
  int at_end = 0, before_sequence = 0, more = 0, beyond = 0, sides = 0;
  for (const Spec& s : specs) {
    at_end += s.queries_at_end;
    if (s.queries_at_end) {
      const auto lengths = cases::generate(s).lengths;
      before_sequence += std::any_of(lengths.begin(), lengths.end(),
                                     [&](int length) { return length < s.queries; });
    }
    more += s.queries > s.keys;
    beyond += s.query_offset + s.queries > s.keys;
    sides += s.mask.window.left != s.mask.window.right;
  }
  BOOST_TEST(at_end > 80);
  BOOST_TEST(before_sequence > 40);
  BOOST_TEST(more > 20);
  BOOST_TEST(beyond > 5);
  BOOST_TEST(sides > 80);
}

BOOST_AUTO_TEST_CASE(asked_for_sizes_are_drawn_and_no_others) {
  verdict::Shapes shapes{.batch = {3},
                         .heads = {12, 16},
                         .kv_heads = {4},
                         .queries = {5, 300},
                         .keys = {200, 400},
                         .head_dims = {56},
                         .scales = {0.3},
                         .softcaps = {20, 50}};
  shapes.validate();
  std::set<std::vector<int>> seen;
  for (const Spec& s : drawn([](const Spec&) { return true; }, 100, 1, Pass::forward, shapes)) {
    BOOST_TEST(shapes.has(s));
    seen.insert({s.heads, s.queries, s.keys});
  }
  BOOST_TEST(seen.size() == 6u);  // 300 queries need 400 keys
  shapes = {.longest = 50};
  for (const Spec& s : drawn([](const Spec&) { return true; }, 200, 1, Pass::forward, shapes)) {
    BOOST_TEST(s.keys <= 50);
  }
}

BOOST_AUTO_TEST_CASE(sizes_that_no_case_has_are_named) {
  const auto message = [](const verdict::Shapes& shapes, const std::string& prefix = "") {
    try {
      shapes.validate(prefix);
    } catch (const BadInput& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  BOOST_TEST(message({.keys = {0}}).starts_with("keys is 0"));
  BOOST_TEST(message({.heads = {12}, .kv_heads = {5}}).starts_with("kv_heads is 5"));
  BOOST_TEST(message({.heads = {12}, .kv_heads = {5}}, "--").starts_with("--kv-heads is 5"));
  BOOST_TEST(message({.queries = {9}, .keys = {8}}) == "");
  BOOST_TEST(message({.scales = {0}}).starts_with("scale is 0"));
  BOOST_TEST(message({.scales = {std::nan("")}}).starts_with("scale is nan"));
  BOOST_TEST(message({.softcaps = {-50}}).starts_with("softcap is -50"));
}

BOOST_AUTO_TEST_CASE(more_queries_than_keys_can_be_asked_for) {
  const verdict::Shapes shapes{.queries = {9}, .keys = {8}};
  for (const Pass pass : {Pass::forward, Pass::backward, Pass::decode}) {
    const auto specs = verdict::draw_specs(pass, PLUMBLINE_CABLE, Format::fp32, 200, 1, shapes);
    for (const Spec& s : specs) {
      BOOST_TEST((s.queries == 9 && s.keys == 8));
      if (pass != Pass::decode) BOOST_TEST(s.query_offset == -1);
      BOOST_TEST(verdict::is_valid(s) == (pass != Pass::decode));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_kernel_that_takes_nothing_without_a_property_gets_cases_with_it) {
  const Supported drops = [](const Spec& s) { return s.dropout > 0 && !s.keep_given; };
  for (const Spec& s : drawn(drops, 50, 1)) BOOST_TEST((s.dropout > 0 && !s.keep_given));
  const Supported packed = [](const Spec& s) { return s.is_packed(); };
  for (const Spec& s : drawn(packed, 50, 1)) BOOST_TEST(packed(s));
  const Supported strided = [&](const Spec& s) { return s.is_strided(); };
  for (const Spec& s : drawn(strided, 50, 1)) BOOST_TEST(strided(s));
  const auto is_int8 = [](const Spec& s) {
    return s.cache == cases::CacheFormat::int8 && s.scale_per_key;
  };
  for (const Spec& s : drawn(is_int8, 50, 1, Pass::decode)) BOOST_TEST(is_int8(s));
  // One that also takes caches without scales has as many of 8 bits as one that takes all kinds.
  const Supported either = [&](const Spec& s) {
    return is_int8(s) || s.cache == cases::CacheFormat::in_format;
  };
  const auto specs = drawn(either, 400, 1, Pass::decode);
  BOOST_TEST(std::ranges::count_if(specs, is_int8) > 40);
  const auto offer = verdict::find_offer(Pass::decode, PLUMBLINE_NOPE, Format::bf16, either, {});
  const auto names = verdict::declined(offer, either);
  BOOST_TEST(std::ranges::count(names, "caches of 8 bits: e4m3, a scale for each key") == 1);
  BOOST_TEST(std::ranges::count(names, "caches of 8 bits: int8, a scale for each key") == 0);
  // One that takes no cache of 8 bits at all declines them in one line.
  const Supported none = [](const Spec& s) { return s.cache == cases::CacheFormat::in_format; };
  const auto declined = verdict::declined(
      verdict::find_offer(Pass::decode, PLUMBLINE_NOPE, Format::bf16, none, {}), none);
  const auto of_caches = [](const std::string& name) { return name.starts_with("caches"); };
  BOOST_TEST(std::ranges::count_if(declined, of_caches) == 1);
  BOOST_TEST(std::ranges::count(declined, "caches of 8 bits") == 1);
}

BOOST_AUTO_TEST_CASE(what_a_kernel_declines_is_found_and_named) {
  const Supported supported = [](const Spec& s) { return plain(s) && s.heads == s.kv_heads; };
  const auto offer =
      verdict::find_offer(Pass::forward, PLUMBLINE_ALIBI, Format::bf16, supported, {});
  BOOST_TEST(
      verdict::declined(offer, supported) ==
          (std::vector<std::string>{"no causal mask", "windows", "windows of different sides",
                                    "lengths", "queries at each sequence's own end", "documents",
                                    "SSMax", "fewer key heads than heads", "packed sequences"}),
      boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(kernels_of_fixed_shapes_are_judged_forward_and_backward) {
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    if (pass == Pass::backward && !test::at_length()) continue;
    const int count = test::cases(4, 10);
    const auto tiles = check("square_tiles", pass, count);
    BOOST_TEST((tiles.outcome == Outcome::pass));
    BOOST_TEST(tiles.cases == count);
    const verdict::Draws draws{
        {}, verdict::offer_of_models(kernel("one_shape"), pass, PLUMBLINE_ALIBI, Format::fp32, {})};
    const auto one = check("one_shape", pass, test::cases(1, 2), draws);
    BOOST_TEST((one.outcome == Outcome::pass));
    BOOST_TEST(one.cases == test::cases(1, 2));
    BOOST_TEST(one.cover.unjudged_rows > 0);
  }
}

BOOST_AUTO_TEST_CASE(a_fault_that_shows_at_twelve_heads_alone_is_caught_in_tiles,
                     *test::only_at_length) {
  BOOST_TEST((check("square_tiles_wrong", Pass::forward, 200).outcome == Outcome::fail));
}

BOOST_AUTO_TEST_CASE(a_kernel_with_a_backward_pass_alone_is_given_the_oracles_outputs) {
  const auto right = check("backward_alone", Pass::backward, 20);
  BOOST_TEST((right.outcome == Outcome::pass));
  BOOST_TEST(right.cases == 20);
  BOOST_TEST(!right.outputs.contains("o"));
  BOOST_TEST(right.outputs.contains("grad_k"));
  BOOST_TEST((check("backward_alone_wrong", Pass::backward, 40).outcome == Outcome::fail));
  BOOST_TEST(!check("backward_alone", Pass::forward, 5).supported);
}

BOOST_AUTO_TEST_CASE(a_cell_of_large_shapes_ends_when_its_work_is_done_but_not_at_once) {
  const auto result = check("square_tiles", Pass::forward, 50, {.most_work = 1});
  BOOST_TEST(result.cases == verdict::fewest_cases);
  BOOST_TEST((result.outcome == Outcome::pass));
}

BOOST_AUTO_TEST_CASE(of_a_large_case_rows_of_every_head_are_judged_and_all_must_be_numbers) {
  Spec spec;
  spec.heads = spec.kv_heads = 3;
  spec.keys = spec.queries = 1024;
  spec.seed = 4;
  const verdict::Sample sample(spec);
  BOOST_TEST(!sample.whole());
  std::set<std::size_t> heads;
  for (const std::size_t row : sample.rows()) heads.insert(row / 1024);
  BOOST_TEST(heads.size() == 3u);
  BOOST_TEST(sample.rows().size() > 300u);
  BOOST_TEST(sample.rows().size() < 3 * 1024u);
  BOOST_TEST(std::is_sorted(sample.rows().begin(), sample.rows().end()));
  Spec small = spec;
  small.keys = small.queries = 100;
  BOOST_TEST(verdict::Sample(small).whole());
  BOOST_TEST(verdict::Sample(small).rows().size() == 300u);
  Spec read = spec;
  read.family = cases::Family::file;
  BOOST_TEST(verdict::Sample(read).whole());

  const auto c = cases::generate(spec);
  cases::Outputs outputs;
  outputs.o.assign(c.q.size(), 0.0f);
  outputs.lse.assign(3 * 1024, 0.0f);
  std::size_t unjudged = 0;
  while (std::binary_search(sample.rows().begin(), sample.rows().end(), unjudged)) ++unjudged;
  outputs.o[(unjudged + 1) * 64 - 1] = std::nanf("");
  const auto judgement = verdict::judge(c, cases::undeclared_contract(), outputs, 2);
  const auto& o = judgement.output("o");
  BOOST_TEST(judgement.rows == static_cast<long>(sample.rows().size()));
  BOOST_TEST(judgement.unjudged_rows == 3 * 1024 - judgement.rows);
  BOOST_TEST(o.elements == 64 * judgement.rows + 1);
  BOOST_TEST(std::isinf(o.ratios[(unjudged + 1) * 64 - 1]));
  BOOST_TEST(std::isnan(o.ratios[unjudged * 64]));
  BOOST_TEST(o.ratios[sample.rows()[7] * 64] > 1);
}

BOOST_AUTO_TEST_SUITE_END()
