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
  for (int p = 0; p < PLUMBLINE_PARAMETER_COUNT; ++p) {
    add(info(static_cast<plumbline_parameter>(p)).name, c.parameters[p]);
  }
  add("lengths", c.lengths);
  add("documents", c.documents);
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
  BOOST_TEST(expected.size() == 49u);
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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline::cases
