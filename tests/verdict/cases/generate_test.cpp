// SPDX-License-Identifier: Apache-2.0
#include <rapidcheck.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <span>
#include <string>

#include "tests/verdict/cases/any_spec.hpp"
#include "tests/verdict/cases/bad_input.hpp"
#include "verdict/cases/bias_parameters.hpp"
#include "verdict/cases/case.hpp"

namespace plumbline::cases {

BOOST_AUTO_TEST_SUITE(generate_test)

namespace {

template <class T>
std::uint64_t fnv1a(const std::vector<T>& values) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::byte byte : std::as_bytes(std::span(values))) {
    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3u;
  }
  return hash;
}

std::map<std::string, std::uint64_t> hashes(const Case& c) {
  std::map<std::string, std::uint64_t> all;
  const auto add = [&](const char* tensor, const auto& values) {
    if (!values.empty()) all[tensor] = fnv1a(values);
  };
  add("q", c.q);
  add("k", c.k);
  add("v", c.v);
  add("q_scale", c.q_scale);
  add("k_scale", c.k_scale);
  add("v_scale", c.v_scale);
  add("grad_o", c.grad_o);
  add("grad_lse", c.grad_lse);
  for (int p = 0; p < PLUMBLINE_PARAMETER_COUNT; ++p) {
    add(info(static_cast<plumbline_parameter>(p)).name, c.parameters[p]);
  }
  add("lengths", c.lengths);
  add("query_lengths", c.query_lengths);
  add("documents", c.documents);
  add("mask", c.mask);
  add("keep", c.keep);
  return all;
}

Spec with(cases::Bias bias, Family family) {
  Spec s;
  s.bias = bias;
  s.family = family;
  s.heads = 8;
  s.kv_heads = 4;
  s.queries = 48;
  s.keys = 64;
  s.seed = 5;
  return s;
}

/// q.k / sqrt(D) of every query and key of the first head.
std::vector<double> scores(const Case& c) {
  const Spec& s = c.spec;
  std::vector<double> all;
  for (int i = 0; i < s.queries; ++i) {
    for (int j = 0; j < s.keys; ++j) {
      double sum = 0;
      for (int d = 0; d < s.head_dim; ++d) {
        sum += double{c.q[static_cast<std::size_t>(i * s.head_dim + d)]} *
               double{c.k[static_cast<std::size_t>(j * s.head_dim + d)]};
      }
      all.push_back(c.scale * sum);
    }
  }
  return all;
}

/// One sequence of 64 keys, 48 query rows from this position on, and the mask tensor alone.
Spec with_mask(Pattern pattern, int query_offset, std::uint64_t seed) {
  Spec s = with(PLUMBLINE_NOPE, Family::generic);
  s.head_dim = 1;
  s.query_offset = query_offset;
  s.mask.causal = false;
  s.mask.pattern = pattern;
  s.seed = seed;
  return s;
}

/// The keys that the mask tensor lets a row see.
std::set<int> seen(const Case& c, int row, int head = 0, int batch = 0) {
  std::set<int> keys;
  for (int j = 0; j < c.spec.keys; ++j) {
    if (c.may_see(batch, head, row, j)) keys.insert(j);
  }
  return keys;
}

std::set<int> keys_between(int first, int end) {
  std::set<int> keys;
  for (int j = first; j < end; ++j) keys.insert(j);
  return keys;
}

double deviation(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares / static_cast<double>(values.size()));
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_bits_are_those_of_the_second_implementation) {
  std::ifstream file(PLUMBLINE_TEST_DATA "/golden_hashes.txt");
  std::map<std::string, std::map<std::string, std::uint64_t>> expected;
  std::string line, tensor, hash;
  while (file >> line >> tensor >> hash) expected[line][tensor] = std::stoull(hash, nullptr, 16);
  BOOST_TEST(expected.size() == 89u);
  for (const auto& [spec, tensors] : expected) {
    const auto generated = hashes(generate(from_line(spec)));
    BOOST_TEST(generated.size() == tensors.size());
    for (const auto& [name, value] : tensors) {
      BOOST_CHECK_MESSAGE(generated.contains(name) && generated.at(name) == value,
                          name << " differs in " << spec);
    }
  }
}

BOOST_AUTO_TEST_CASE(every_generated_case_is_valid) {
  BOOST_TEST(rc::check([] { validate(generate(*any_spec())); }));
}

BOOST_AUTO_TEST_CASE(seeds_differ_and_repeat) {
  Spec s = with(PLUMBLINE_NOPE, Family::generic);
  const Case first = generate(s);
  BOOST_CHECK(generate(s).q == first.q);
  s.seed = 6;
  BOOST_CHECK(generate(s).q != first.q);
}

BOOST_AUTO_TEST_CASE(a_family_that_is_a_file_cannot_be_generated) {
  Spec s;
  s.family = Family::file;
  expect_bad_input([&] { generate(s); }, {"family", "file"});
}

BOOST_AUTO_TEST_CASE(a_mask_of_a_file_cannot_be_generated) {
  Spec s;
  s.mask.pattern = Pattern::file;
  expect_bad_input([&] { generate(s); }, {"mask is \"file\"", "a pattern that is generated"});
}

BOOST_AUTO_TEST_CASE(may_see_finds_the_number_of_sequence_head_row_and_key) {
  Case c;
  c.spec.batch = 2;
  c.spec.heads = 3;
  c.spec.queries = 2;
  c.spec.keys = 2;
  BOOST_TEST(c.may_see(1, 2, 1, 1));
  c.spec.mask.pattern = Pattern::file;
  const auto all = [&] {
    std::string seen;
    for (int batch = 0; batch < 2; ++batch) {
      for (int head = 0; head < 3; ++head) {
        for (int row = 0; row < 2; ++row) {
          for (int key = 0; key < 2; ++key) seen += c.may_see(batch, head, row, key) ? '1' : '0';
        }
        seen += ' ';
      }
    }
    return seen;
  };
  c.mask = {1, 0, 1, 1};
  BOOST_TEST(all() == "1011 1011 1011 1011 1011 1011 ");
  c.mask = {1, 0, 1, 1, 0, 0, 0, 1};
  c.spec.mask.per_batch = true;
  BOOST_TEST(all() == "1011 1011 1011 0001 0001 0001 ");
  c.mask = {1, 0, 1, 1, 0, 0, 0, 1, 0, 1, 1, 0};
  c.spec.mask.per_batch = false;
  c.spec.mask.per_head = true;
  BOOST_TEST(all() == "1011 0001 0110 1011 0001 0110 ");
  c.mask = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1};
  c.spec.mask.per_batch = true;
  BOOST_TEST(all() == "1000 0100 0010 0001 1100 0011 ");
}

BOOST_AUTO_TEST_CASE(a_prefix_shows_its_keys_and_all_up_to_the_query) {
  std::set<int> lengths;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    // Row 0 stands before all keys and sees the prefix alone; the last, at 30.
    const Case c = generate(with_mask(Pattern::prefix, -17, seed));
    const int prefix = static_cast<int>(seen(c, 0).size());
    BOOST_TEST((prefix >= 1 && prefix <= 64));
    lengths.insert(prefix);
    for (int row = 0; row < c.spec.queries; ++row) {
      BOOST_CHECK(seen(c, row) == keys_between(0, std::max(prefix, row - 17 + 1)));
    }
  }
  BOOST_TEST(lengths.size() > 10u);
  const Case late = generate(with_mask(Pattern::prefix, 40, 1));
  BOOST_CHECK(seen(late, 47) == keys_between(0, 64));
}

BOOST_AUTO_TEST_CASE(chunks_show_the_keys_of_the_query_s_own_chunk) {
  std::set<int> sizes;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Case c = generate(with_mask(Pattern::chunks, 0, seed));
    const int size = static_cast<int>(seen(c, 0).size());
    sizes.insert(size);
    for (int row = 0; row < c.spec.queries; ++row) {
      const int first = row / size * size;
      BOOST_CHECK(seen(c, row) == keys_between(first, first + size));
    }
    // Rows before the keys see none, and those beyond them none but of a chunk that they share.
    const Case early = generate(with_mask(Pattern::chunks, -8, seed));
    for (int row = 0; row < 8; ++row) BOOST_CHECK(seen(early, row).empty());
    BOOST_CHECK(seen(early, 8) == seen(c, 0));
    BOOST_CHECK(seen(generate(with_mask(Pattern::chunks, 64, seed)), 0).empty());
  }
  BOOST_CHECK(sizes == (std::set<int>{4, 8, 16, 32, 64}));
}

BOOST_AUTO_TEST_CASE(blocks_are_seen_or_hidden_whole_and_half_of_them_are_hidden) {
  int visible = 0, all = 0, larger = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Spec s = with_mask(Pattern::blocks, 5, seed);
    s.mask.per_head = true;
    const Case c = generate(s);
    for (int head = 0; head < s.heads; ++head) {
      const auto is_whole = [&](int tile) {
        for (int row = 0; row < s.queries; ++row) {
          for (int key = 0; key < s.keys; ++key) {
            if (c.may_see(0, head, row, key) !=
                c.may_see(0, head, row / tile * tile, key / tile * tile)) {
              return false;
            }
          }
        }
        return true;
      };
      BOOST_CHECK(is_whole(4));
      larger += is_whole(32);
    }
    visible += static_cast<int>(std::count(c.mask.begin(), c.mask.end(), 1));
    all += static_cast<int>(c.mask.size());
  }
  // Tiles of 32 and 64 in two of five of the 320: 128 give or take 9. The mean of the tensors'
  // halves has a deviation of 0.27 / sqrt(320).
  BOOST_TEST((larger > 80 && larger < 180), larger);
  BOOST_TEST((visible > 0.42 * all && visible < 0.58 * all));
}

BOOST_AUTO_TEST_CASE(a_node_of_a_tree_sees_what_comes_before_it_its_ancestors_and_itself) {
  int forks = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    // 48 rows, so 48 nodes: the keys from 16 on.
    const Case c = generate(with_mask(Pattern::tree, 16, seed));
    BOOST_CHECK(seen(c, 0) == keys_between(0, 17));
    for (int row = 1; row < c.spec.queries; ++row) {
      std::set<int> keys = seen(c, row);
      const int own = row + 16;
      BOOST_REQUIRE((!keys.empty() && *keys.rbegin() == own));
      // The nearest ancestor sees all the others, and nothing else.
      keys.erase(own);
      const int parent = *keys.rbegin();
      BOOST_REQUIRE(parent >= 16);
      BOOST_CHECK(keys == seen(c, parent - 16));
      forks += parent != own - 1;
    }
  }
  // A chain has none; of 20 * 47 nodes an expected 20 * (47 - H_47) = 851 follow another node.
  BOOST_TEST(forks > 800);
  const Case early = generate(with_mask(Pattern::tree, -3, 1));
  for (int row = 0; row < 19; ++row) BOOST_CHECK(seen(early, row) == keys_between(0, 16));
  BOOST_CHECK(seen(early, 19) == keys_between(0, 17));
  const Case late = generate(with_mask(Pattern::tree, 17, 1));
  BOOST_CHECK(seen(late, 47) == keys_between(0, 64));
}

BOOST_AUTO_TEST_CASE(scattered_keys_are_half_of_them_hidden_and_some_rows_see_none) {
  Spec s = with_mask(Pattern::scattered, 16, 3);
  s.mask.per_head = true;
  const Case c = generate(s);
  int empty = 0, others = 0;
  std::set<std::set<int>> different;
  for (int head = 0; head < s.heads; ++head) {
    for (int row = 0; row < s.queries; ++row) {
      const std::set<int> keys = seen(c, row, head);
      empty += keys.empty();
      others += static_cast<int>(keys.size());
      different.insert(keys);
    }
  }
  // Of 384 rows 48 give or take 7; the others see 32 of 64 keys, all of them different ones.
  const int rows = s.heads * s.queries;
  BOOST_TEST((empty > 20 && empty < 80), empty);
  BOOST_TEST(std::abs(others - 32.0 * (rows - empty)) < 5 * 4 * std::sqrt(rows));
  BOOST_TEST(static_cast<int>(different.size()) == rows - empty + 1);
}

BOOST_AUTO_TEST_CASE(sink_tokens_stay_beside_a_window) {
  std::set<int> windows, sinks;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Case c = generate(with_mask(Pattern::sink_tokens, 16, seed));
    const std::set<int> last = seen(c, 47);  // at position 63, of 64 keys
    if (last.size() == 64) continue;         // a window of them all
    int first = 0;
    while (last.contains(first)) ++first;
    const int window = static_cast<int>(last.size()) - first;
    sinks.insert(first);
    windows.insert(window);
    for (int row = 0; row < c.spec.queries; ++row) {
      std::set<int> expected = keys_between(std::max(0, row + 16 - window + 1), 64);
      expected.merge(keys_between(0, first));
      BOOST_CHECK(seen(c, row) == expected);
    }
  }
  BOOST_CHECK(sinks == (std::set<int>{1, 2, 3, 4}));
  BOOST_CHECK(windows == (std::set<int>{4, 8, 16, 32}));
}

BOOST_AUTO_TEST_CASE(sequences_and_heads_share_a_mask_tensor_or_have_their_own) {
  for (const Pattern pattern : {Pattern::prefix, Pattern::chunks, Pattern::blocks, Pattern::tree,
                                Pattern::scattered, Pattern::sink_tokens}) {
    BOOST_TEST_CONTEXT(name(pattern)) {
      Spec s = with_mask(pattern, 16, 8);
      s.batch = 6;
      const auto tensors = [&](bool per_batch, bool per_head) {
        s.mask.per_batch = per_batch;
        s.mask.per_head = per_head;
        const Case c = generate(s);
        validate(c);
        BOOST_TEST(c.mask.size() == (per_batch ? 6u : 1u) * (per_head ? 8u : 1u) * 48u * 64u);
        std::vector<std::vector<std::set<int>>> of;
        for (int batch = 0; batch < s.batch; ++batch) {
          for (int head = 0; head < s.heads; ++head) {
            auto& rows = of.emplace_back();
            for (int row = 0; row < s.queries; ++row) rows.push_back(seen(c, row, head, batch));
          }
        }
        return of;
      };
      const auto different = [](const auto& all) {
        return std::set(all.begin(), all.end()).size();
      };
      const auto shared = tensors(false, false), of_sequences = tensors(true, false),
                 of_heads = tensors(false, true), own = tensors(true, true);
      BOOST_TEST(different(shared) == 1u);
      // Of the chunks' five sizes some come up twice.
      BOOST_TEST((different(of_sequences) > 1u && different(of_sequences) <= 6u));
      BOOST_TEST((different(of_heads) > 1u && different(of_heads) <= 8u));
      BOOST_TEST(different(own) >= different(of_heads));
      for (std::size_t n = 0; n < own.size(); ++n) {
        BOOST_REQUIRE(of_sequences[n] == of_sequences[n / 8 * 8]);
        BOOST_REQUIRE(of_heads[n] == of_heads[n % 8]);
      }
      // Numbered alike: the first is the same in all.
      BOOST_CHECK(own[0] == shared[0]);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_mask_tensor_changes_no_other_number) {
  Spec s = with(PLUMBLINE_CABLE, Family::generic);
  s.mask.ragged = true;
  const Case without = generate(s);
  s.mask.pattern = Pattern::blocks;
  Case c = generate(s);
  BOOST_TEST(!c.mask.empty());
  c.mask.clear();
  BOOST_CHECK(hashes(c) == hashes(without));
}

BOOST_AUTO_TEST_CASE(a_bias_tensor_in_the_format_of_o_has_no_other_numbers) {
  Spec spec = with(PLUMBLINE_BIAS_TENSOR, Family::generic);
  spec.format = Format::bf16;
  int in_format = 0;
  for (spec.seed = 0; spec.seed < 20; ++spec.seed) {
    const Case c = generate(spec);
    const bool fits = std::ranges::all_of(c[PLUMBLINE_TENSOR],
                                          [](float x) { return stored(x, Format::bf16) == x; });
    BOOST_TEST(fits == (c.options[PLUMBLINE_IN_FORMAT_OF_O] != 0));
    in_format += fits;
  }
  BOOST_TEST((in_format > 3 && in_format < 17));
}

BOOST_AUTO_TEST_CASE(values_of_another_width_change_neither_q_nor_k) {
  for (const int width : {24, 100}) {
    Spec s = with(PLUMBLINE_NOPE, Family::generic);
    s.pass = Pass::backward;
    const Case as_wide = generate(s);
    s.value_dim = width;
    const Case c = generate(s);
    BOOST_CHECK(c.q == as_wide.q);
    BOOST_CHECK(c.k == as_wide.k);
    BOOST_TEST(c.v.size() == 4u * 64u * static_cast<unsigned>(width));
    BOOST_TEST(c.grad_o.size() == 8u * 48u * static_cast<unsigned>(width));
    BOOST_CHECK(c.v[0] == as_wide.v[0]);
  }
  Spec s = with(PLUMBLINE_NOPE, Family::generic);
  const Case by_default = generate(s);
  s.value_dim = s.head_dim;
  BOOST_CHECK(hashes(generate(s)) == hashes(by_default));
}

BOOST_AUTO_TEST_CASE(values_in_keys_are_the_first_components_of_each_row_of_k) {
  for (const Format format : all_formats()) {
    for (const int width : {1, 40, 64}) {
      Spec s = with(PLUMBLINE_NOPE, Family::generic);
      s.format = format;
      s.value_dim = width;
      const Case apart = generate(s);
      s.values_in_keys = true;
      const Case c = generate(s);
      validate(c);
      BOOST_CHECK(c.q == apart.q);
      BOOST_CHECK(c.k == apart.k);
      BOOST_CHECK(c.v_scale == c.k_scale);
      BOOST_CHECK(c.v != apart.v);
      BOOST_REQUIRE(c.v.size() == 4u * 64u * static_cast<unsigned>(width));
      const auto row_of_v = static_cast<std::size_t>(width);
      for (std::size_t row = 0; row < 4 * 64; ++row) {
        const auto v = c.v.begin() + static_cast<std::ptrdiff_t>(row * row_of_v);
        const auto k = c.k.begin() + static_cast<std::ptrdiff_t>(row * 64);
        BOOST_REQUIRE(std::equal(v, v + width, k));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(gradients_of_lse_are_standard_normal_and_change_no_other_number) {
  Spec s = with(PLUMBLINE_ALIBI, Family::huge);
  s.pass = Pass::backward;
  s.format = Format::bf16;
  const Case without = generate(s);
  BOOST_TEST(without.grad_lse.empty());
  s.lse_gradient = true;
  Case c = generate(s);
  BOOST_REQUIRE(c.grad_lse.size() == 8u * 48u);
  const double n = 8 * 48;
  double sum = 0, squares = 0;
  int wide = 0;
  for (const float x : c.grad_lse) {
    sum += x;
    squares += double{x} * x;
    wide += stored(x, Format::bf16) != x;
  }
  BOOST_TEST(std::abs(sum / n) <= 5 / std::sqrt(n));
  BOOST_TEST(std::abs(squares / n - 1) <= 5 * std::sqrt(2 / n));
  BOOST_TEST(wide > 300);  // floats, whatever the case's format
  c.grad_lse.clear();
  BOOST_CHECK(hashes(c) == hashes(without));
}

BOOST_AUTO_TEST_CASE(generic_numbers_have_the_moments_of_a_standard_normal) {
  const Case c = generate(with(PLUMBLINE_NOPE, Family::generic));
  const double n = static_cast<double>(c.q.size());
  double sum = 0, squares = 0;
  for (const float x : c.q) {
    sum += x;
    squares += double{x} * x;
  }
  // Five standard errors: 1/sqrt(n) of the mean, sqrt(2/n) of the variance.
  BOOST_TEST(std::abs(sum / n) <= 5 / std::sqrt(n));
  BOOST_TEST(std::abs(squares / n - 1) <= 5 * std::sqrt(2 / n));
  BOOST_TEST(c.scale == 0.125);
}

BOOST_AUTO_TEST_CASE(peaked_and_diffuse_scores_spread_as_documented) {
  // 3072 scores of 48 rows and 64 keys depend on 48 + 64 vectors, so their deviation is known to
  // within a few parts in ten: a factor of 2 separates it from the neighbouring powers.
  const double peaked = deviation(scores(generate(with(PLUMBLINE_NOPE, Family::peaked))));
  const double diffuse = deviation(scores(generate(with(PLUMBLINE_NOPE, Family::diffuse))));
  BOOST_TEST((peaked > 8 && peaked < 32));
  BOOST_TEST((diffuse > 1.0 / 128 && diffuse < 1.0 / 32));
}

BOOST_AUTO_TEST_CASE(tied_keys_are_all_equal_within_a_head_and_differ_between_heads) {
  const Case c = generate(with(PLUMBLINE_NOPE, Family::tied));
  const auto dim = static_cast<std::size_t>(c.spec.head_dim);
  const std::size_t head = dim * static_cast<std::size_t>(c.spec.keys);
  for (std::size_t i = 0; i < c.k.size(); ++i) {
    BOOST_REQUIRE(c.k[i] == c.k[i / head * head + i % dim]);
  }
  BOOST_CHECK(c.k[0] != c.k[head]);
  BOOST_CHECK(c.v[0] != c.v[dim]);
}

BOOST_AUTO_TEST_CASE(huge_scores_are_near_the_top_but_no_sum_of_them_overflows_fp32) {
  for (const int dim : {1, 32, 64, 128, 200}) {
    Spec s = with(PLUMBLINE_NOPE, Family::huge);
    s.head_dim = dim;
    const Case c = generate(s);
    const auto largest = [](const std::vector<float>& values) {
      double m = 0;
      for (const float x : values) m = std::max(m, std::abs(double{x}));
      return m;
    };
    BOOST_TEST(largest(c.q) * largest(c.k) * dim < 0x1p120);
    BOOST_TEST(largest(c.q) * largest(c.k) * dim > 0x1p114);
    BOOST_TEST(largest(c.v) < 0x1p103);
  }
}

BOOST_AUTO_TEST_CASE(subnormal_numbers_are_subnormal_and_not_zero) {
  for (const Format format : all_formats()) {
    Spec s = with(PLUMBLINE_NOPE, Family::subnormal);
    s.format = format;
    const Case c = generate(s);
    for (const auto& [values, scales] :
         {std::pair{&c.q, &c.q_scale}, {&c.k, &c.k_scale}, {&c.v, &c.v_scale}}) {
      const float least = format == Format::fp16 || format == Format::e5m2 ? 0x1p-14f
                          : format == Format::e4m3                         ? 0x1p-6f
                                                                           : 0x1p-126f;
      const auto in_range = [&](float x) { return x != 0 && std::abs(x) < least; };
      const auto stored = unscaled(*values, *scales, format);
      BOOST_TEST(std::all_of(stored.begin(), stored.end(), in_range));
    }
    validate(c);
  }
}

BOOST_AUTO_TEST_CASE(scales_differ_by_head_and_their_products_are_exact_in_float_but_not_in_bf16) {
  for (const Format format : {Format::e4m3, Format::e5m2}) {
    for (const Family family : {Family::generic, Family::peaked, Family::huge}) {
      Spec s = with(PLUMBLINE_NOPE, family);
      s.format = format;
      s.batch = 6;
      const Case c = generate(s);
      validate(c);
      for (const auto& [values, scales] :
           {std::pair{&c.q, &c.q_scale}, {&c.k, &c.k_scale}, {&c.v, &c.v_scale}}) {
        BOOST_REQUIRE(scales->size() == 24u);
        BOOST_TEST(std::set<float>(scales->begin(), scales->end()).size() == 24u);
        const auto [least, most] = std::minmax_element(scales->begin(), scales->end());
        BOOST_TEST((*most / *least > 8 && *most / *least < 256));
        const std::vector<float> stored = unscaled(*values, *scales, format);
        const std::size_t together = stored.size() / scales->size();
        int inexact = 0, inexact_in_bf16 = 0;
        for (std::size_t n = 0; n < stored.size(); ++n) {
          const double product = double{stored[n]} * (*scales)[n / together];
          inexact += product != (*values)[n];
          inexact_in_bf16 += product != from_bf16(to_bf16((*values)[n]));
        }
        BOOST_TEST(inexact == 0);
        BOOST_TEST(inexact_in_bf16 > static_cast<int>(stored.size()) / 2);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(families_of_8_bits_spread_as_those_of_more) {
  // A head's scales multiply scores by a factor from 1/4 to 4, in the geometric mean near 1.
  const auto of = [](Format format, Family family) {
    Spec s = with(PLUMBLINE_NOPE, family);
    s.format = format;
    s.head_dim = 64;
    return generate(s);
  };
  for (const Format format : {Format::e4m3, Format::e5m2}) {
    BOOST_TEST(deviation(scores(of(format, Family::peaked))) > 3);
    BOOST_TEST(deviation(scores(of(format, Family::diffuse))) < 4.0 / 32);
    const Case huge = of(format, Family::huge);
    const auto stored = unscaled(huge.q, huge.q_scale, format);
    const auto largest = [](float x, float y) { return std::abs(x) < std::abs(y); };
    const float top = std::abs(*std::max_element(stored.begin(), stored.end(), largest));
    BOOST_TEST(top > (format == Format::e4m3 ? 224 : 28672));
  }
}

BOOST_AUTO_TEST_CASE(alibi_slopes_are_the_official_ones) {
  const auto expect = [](int heads, std::initializer_list<double> exponents) {
    const std::vector<float> slopes = official_alibi_slopes(heads);
    BOOST_REQUIRE(slopes.size() == exponents.size());
    std::size_t h = 0;
    for (const double e : exponents) BOOST_TEST(slopes[h++] == static_cast<float>(std::exp2(-e)));
  };
  expect(1, {8});
  expect(2, {4, 8});
  expect(3, {4, 8, 2});
  expect(8, {1, 2, 3, 4, 5, 6, 7, 8});
  expect(12, {1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5});
}

BOOST_AUTO_TEST_CASE(half_the_cases_have_learned_slopes_that_no_rounding_to_16_bits_keeps) {
  int official = 0, learned = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Spec s = with(PLUMBLINE_ALIBI, Family::generic);
    s.seed = seed;
    const Case c = generate(s);
    if (c[PLUMBLINE_SLOPES] == official_alibi_slopes(s.heads)) {
      ++official;
      continue;
    }
    ++learned;
    for (const float slope : c[PLUMBLINE_SLOPES]) {
      BOOST_TEST((slope >= 0x1p-8f && slope < 1.0f));
      BOOST_TEST(stored(slope, Format::bf16) != slope);
      BOOST_TEST(stored(slope, Format::fp16) != slope);
    }
  }
  BOOST_TEST(official > 30);
  BOOST_TEST(learned > 30);
}

BOOST_AUTO_TEST_CASE(half_the_cases_have_increments_without_zeros_as_softplus_makes_them) {
  int without = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Spec s = with(PLUMBLINE_CABLE_NW, Family::generic);
    s.seed = seed;
    const Case c = generate(s);
    without +=
        *std::min_element(c[PLUMBLINE_INCREMENTS].begin(), c[PLUMBLINE_INCREMENTS].end()) > 0;
  }
  BOOST_TEST(without > 30);
  BOOST_TEST(without < 70);
}

BOOST_AUTO_TEST_CASE(
    lengths_and_documents_end_on_and_beside_tiles_in_one_sequence_and_not_in_others) {
  Spec s = with(PLUMBLINE_NOPE, Family::generic);
  s.batch = 400;
  s.heads = s.kv_heads = s.queries = s.head_dim = 1;
  s.keys = 1000;
  s.mask.ragged = s.mask.documents = true;
  const Case c = generate(s);
  const auto count = [&](int tile, int beside) {
    int lengths = 0, documents = 0;
    for (int b = 0; b < s.batch; ++b) {
      const int length = c.lengths[b];
      lengths += length > tile && length < s.keys && (length - beside) % tile == 0;
      for (int j = tile + beside; j < s.keys; j += tile) {
        documents += c.documents[b * s.keys + j] != c.documents[b * s.keys + j - 1];
      }
    }
    return std::pair(lengths, documents);
  };
  for (const int tile : {16, 32, 64, 128, 256}) {
    for (const int beside : {-1, 0, 1}) {
      const auto [lengths, documents] = count(tile, beside);
      // Uniform ones would be 250 / tile and about 400 / tile more often than not.
      BOOST_TEST_CONTEXT("tile " << tile << " " << beside) {
        BOOST_TEST(lengths > (beside == 0 ? 8 : 3));
        BOOST_TEST(documents > (beside == 0 ? 15 : 6));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(cable_parameters_have_exact_zeros_and_positive_gains) {
  Spec with_zeros = with(PLUMBLINE_CABLE, Family::generic);
  with_zeros.seed = 1;
  const Case c = generate(with_zeros);
  const auto zeros =
      std::count(c[PLUMBLINE_INCREMENTS].begin(), c[PLUMBLINE_INCREMENTS].end(), 0.0f);
  const auto size = static_cast<std::ptrdiff_t>(c[PLUMBLINE_INCREMENTS].size());
  BOOST_TEST((zeros > size / 3 && zeros < 2 * size / 3));
  BOOST_TEST(*std::max_element(c[PLUMBLINE_INCREMENTS].begin(), c[PLUMBLINE_INCREMENTS].end()) >
             0.5f);
  BOOST_TEST(*std::min_element(c[PLUMBLINE_GAIN].begin(), c[PLUMBLINE_GAIN].end()) > 0.0f);
}

BOOST_AUTO_TEST_CASE(
    half_of_the_forward_and_an_eighth_of_the_backward_cases_have_increments_of_zero) {
  int forward = 0, backward = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Spec s = with(PLUMBLINE_CABLE, Family::generic);
    s.seed = seed;
    const auto has_zeros = [&](Pass pass) {
      s.pass = pass;
      const auto increments = generate(s)[PLUMBLINE_INCREMENTS];
      return std::count(increments.begin(), increments.end(), 0.0f) > 0;
    };
    forward += has_zeros(Pass::forward);
    backward += has_zeros(Pass::backward);
  }
  // 200 and 50, within four standard deviations.
  BOOST_TEST((forward >= 160 && forward <= 240), forward);
  BOOST_TEST((backward >= 24 && backward <= 76), backward);
}

BOOST_AUTO_TEST_CASE(ggd_parameters_meet_their_special_values) {
  Spec s = with(PLUMBLINE_GGD, Family::generic);
  s.heads = 64;
  const Case c = generate(s);
  const auto count = [](const auto& values, float x) {
    return std::count(values.begin(), values.end(), x);
  };
  BOOST_TEST(count(c[PLUMBLINE_THETA_BETA], 0.0f) > 0);
  BOOST_TEST(count(c[PLUMBLINE_THETA_BETA], 1.0f) > 0);
  BOOST_TEST(count(c[PLUMBLINE_THETA_MU], 0.0f) > 32);
  BOOST_TEST(count(c[PLUMBLINE_THETA_MU], 0.0f) < 64);
  for (const auto* values : {&c[PLUMBLINE_THETA_ALPHA], &c[PLUMBLINE_THETA_BETA]}) {
    BOOST_TEST(*std::min_element(values->begin(), values->end()) >= -1.0f);
    BOOST_TEST(*std::max_element(values->begin(), values->end()) <= 1.5f);
  }
}

BOOST_AUTO_TEST_CASE(lengths_meet_both_ends) {
  Spec s = with(PLUMBLINE_NOPE, Family::generic);
  s.batch = 400;
  s.queries = s.heads = s.kv_heads = s.head_dim = 1;
  s.mask.ragged = true;
  const std::vector<std::int32_t> lengths = generate(s).lengths;
  // Of 400, 50 are bound to be 0 and 100 to be full, give or take 10; without that, each length
  // from 0 to 64 would come up about 6 times.
  BOOST_TEST(std::count(lengths.begin(), lengths.end(), 0) > 25);
  BOOST_TEST(std::count(lengths.begin(), lengths.end(), s.keys) > 50);
  BOOST_TEST(std::set<std::int32_t>(lengths.begin(), lengths.end()).size() > 30u);
}

BOOST_AUTO_TEST_CASE(packed_sequences_have_none_one_all_or_any_number_of_queries) {
  Spec s = with(PLUMBLINE_NOPE, Family::generic);
  s.batch = 400;
  s.heads = s.kv_heads = s.head_dim = 1;
  s.mask.ragged = s.queries_at_end = true;
  s.layout = cases::Layout::packed_sequences;
  const auto counts = [&](int queries, bool causal) {
    s.queries = queries;
    s.query_offset = s.keys - queries;
    s.mask.causal = causal;
    const Case c = generate(s);
    BOOST_TEST(c.query_lengths.size() == 400u);
    std::map<std::string, int> count;
    for (int b = 0; b < s.batch; ++b) {
      const int n = c.query_lengths[b], m = c.lengths[b];
      BOOST_TEST((0 <= n && n <= queries));
      ++count[n > m                      ? "more"
              : n == 0                   ? "none"
              : n == 1                   ? "one"
              : n < std::min(queries, m) ? "some"
                                         : "all"];
    }
    return count;
  };
  // Of the sequences with keys, 350, an eighth has none and one each, and a quarter any number.
  auto few = counts(20, true);
  BOOST_TEST(few["more"] == 0);
  for (const char* kind : {"none", "one", "some"}) BOOST_TEST(few[kind] > 20, kind);
  BOOST_TEST(few["all"] > 120);
  // Above the keys only where the mask is causal.
  BOOST_TEST(counts(100, true)["more"] > 150);
  BOOST_TEST(counts(100, false)["more"] == 0);
  // Never all empty.
  s.batch = 1;
  for (s.seed = 0; s.seed < 50; ++s.seed) {
    const Case c = generate(s);
    BOOST_TEST((c.lengths[0] > 0 && c.query_lengths[0] > 0));
  }
}

BOOST_AUTO_TEST_CASE(documents_are_contiguous_and_several) {
  Spec s = with(PLUMBLINE_NOPE, Family::generic);
  // 400 sequences of 8 keys: without the key at which a document is bound to begin, about three of
  // them would have only one (seven draws of probability 1/2 that all fail).
  s.batch = 400;
  s.keys = 8;
  s.queries = 1;
  s.head_dim = 1;
  s.mask.documents = true;
  const std::vector<std::int32_t> ids = generate(s).documents;
  const auto keys = static_cast<std::size_t>(s.keys);
  for (std::size_t b = 0; b < 400; ++b) {
    BOOST_REQUIRE(ids[b * keys] == 0);
    for (std::size_t j = 1; j < keys; ++j) {
      const int step = ids[b * keys + j] - ids[b * keys + j - 1];
      BOOST_REQUIRE((step == 0 || step == 1));
    }
    BOOST_TEST(ids[b * keys + keys - 1] >= 1);
  }
}

BOOST_AUTO_TEST_CASE(the_generator_of_dropout_is_philox) {
  // Random123, tests/kat_vectors: the first word of counter 0 under key 0 is 0x6627e8d5,
  // 1713891541, which is 0.798 of 2^31.
  BOOST_TEST(generator_keeps(0, 0, 0.79F));
  BOOST_TEST(!generator_keeps(0, 0, 0.8F));
  long kept = 0;
  constexpr long count = 100000;
  for (long n = 0; n < count; ++n) kept += generator_keeps(7, static_cast<std::uint64_t>(n), 0.1F);
  // Three standard deviations of a binomial: 3 sqrt(0.09 / n).
  BOOST_TEST(std::abs(static_cast<double>(kept) / count - 0.9) < 3 * std::sqrt(0.09 / count));
}

BOOST_AUTO_TEST_CASE(dropout_draws_for_each_head_and_leaves_the_rest_as_it_is) {
  Spec spec = with(PLUMBLINE_ALIBI, Family::generic);
  const Case without = generate(spec);
  spec.dropout = 0.25F;
  const Case c = generate(spec);
  BOOST_TEST((c.q == without.q && c.k == without.k && c.v == without.v));
  BOOST_TEST(c.keep.size() == std::size_t{8} * 48 * 64);
  const std::size_t of_head = std::size_t{48} * 64;
  BOOST_TEST(!std::equal(c.keep.begin(), c.keep.begin() + of_head, c.keep.begin() + of_head));
  int none = 0, beyond_32_bits = 0, across = 0;
  for (spec.seed = 0; spec.seed < 40; ++spec.seed) {
    const std::uint64_t first = drawn_dropout_seed(spec).second, last = first + c.keep.size() - 1;
    none += first == 0;
    beyond_32_bits += first >> 32 != 0;
    across += first >> 32 != last >> 32;
  }
  BOOST_TEST((none > 3 && beyond_32_bits > 3 && across > 3));
  spec.keep_given = true;
  const Case given = generate(spec);
  BOOST_TEST((given.keep.size() == c.keep.size() && given.keep != c.keep));
  BOOST_TEST((given.dropout_seed == 0 && given.dropout_offset == 0));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline::cases
