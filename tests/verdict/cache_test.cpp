// SPDX-License-Identifier: Apache-2.0
// The page tables of decoding cases: where each key lies, which pages sequences share, and what the
// table has beyond a sequence's length.
#include "verdict/oracle/cache.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <set>

#include "verdict/property/property.hpp"

BOOST_AUTO_TEST_SUITE(cache_test)

using namespace plumbline;
using cases::Case;
using cases::Spec;
using verdict::BeyondLength;
using verdict::Cache;

namespace {

/// Three sequences of 11 keys in pages of 4, which end after 11, 6 and 0 keys.
Case case_with(std::uint64_t seed) {
  Spec spec;
  spec.pass = cases::Pass::decode;
  spec.batch = 3;
  spec.heads = spec.kv_heads = 2;
  spec.queries = 1;
  spec.keys = 11;
  spec.query_offset = 10;
  spec.head_dim = 8;
  spec.page_size = 4;
  spec.mask.ragged = true;
  spec.seed = seed;
  Case c = cases::generate(spec);
  c.lengths = {11, 6, 0};
  return c;
}

/// Element 0 of key j of a key head, where the table says that it lies.
float first_number(const Case& c, const Cache& cache, const std::vector<float>& pages, int b, int h,
                   int j) {
  const Spec& s = c.spec;
  const int page = cache.page_table().at(b * 3 + j / s.page_size);
  return pages.at(((page * s.kv_heads + h) * s.page_size + j % s.page_size) * s.head_dim);
}

void expect_every_key(const Case& c, const Cache& cache) {
  const auto pages = cache.pages(c.k, c.spec.head_dim);
  BOOST_TEST(pages.size() == 9u * c.spec.kv_heads * c.spec.page_size * c.spec.head_dim);
  for (int b = 0; b < c.spec.batch; ++b) {
    for (int h = 0; h < c.spec.kv_heads; ++h) {
      for (int j = 0; j < c.lengths[b]; ++j) {
        const float k = c.k.at(((b * c.spec.kv_heads + h) * c.spec.keys + j) * c.spec.head_dim);
        BOOST_TEST(first_number(c, cache, pages, b, h, j) == k);
      }
    }
  }
}

/// The first `count` keys of sequence 1 become those of sequence 0; the next is another.
Case with_shared_keys(int count) {
  Case c = case_with(83);  // which the generator gives nothing in common
  const Spec& s = c.spec;
  for (auto* rows : {&c.k, &c.v}) {
    const std::size_t head = s.keys * s.head_dim, sequence = s.kv_heads * head;
    for (int h = 0; h < s.kv_heads; ++h) {
      std::copy_n(rows->begin() + h * head, count * s.head_dim,
                  rows->begin() + sequence + h * head);
    }
  }
  return c;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_key_lies_where_the_table_says) {
  for (const std::uint64_t seed : {80, 83, 85}) {
    const Case c = case_with(seed);
    for (const auto beyond :
         {BeyondLength::its_page, BeyondLength::full_page, BeyondLength::nothing}) {
      expect_every_key(c, Cache(c, beyond));
    }
  }
}

BOOST_AUTO_TEST_CASE(whole_pages_of_equal_keys_are_shared) {
  const auto shared_by = [](const Case& c) {
    const auto table = Cache(c).page_table();
    int shared = 0;
    while (shared < 3 && table[shared] == table[3 + shared]) ++shared;
    const std::set<int> different(table.begin(), table.end());
    BOOST_TEST(different.size() == 9u - shared);
    return shared;
  };
  BOOST_TEST(shared_by(with_shared_keys(0)) == 0);
  BOOST_TEST(shared_by(with_shared_keys(3)) == 0);
  BOOST_TEST(shared_by(with_shared_keys(4)) == 1);
  BOOST_TEST(shared_by(with_shared_keys(7)) == 1);
  // Sequence 1 ends after six keys, so that its second page is not whole.
  BOOST_TEST(shared_by(with_shared_keys(8)) == 1);
  auto longer = with_shared_keys(8);
  longer.lengths[1] = 8;
  BOOST_TEST(shared_by(longer) == 2);
  // Another value, or another scale of the same number, is another key.
  auto other = with_shared_keys(4);
  other.v[other.spec.kv_heads * other.spec.keys * other.spec.head_dim] += 1;
  BOOST_TEST(shared_by(other) == 0);
  auto scaled = with_shared_keys(4);
  scaled.k_scale = {1, 2, 1, 4, 1, 2};
  BOOST_TEST(shared_by(scaled) == 0);
  // Half of the generator's cases have keys in common.
  int sharing = 0;
  for (int seed = 0; seed < 100; ++seed) {
    auto c = case_with(seed);
    c.lengths = {11, 11, 11};
    const auto table = Cache(c).page_table();
    sharing += table[0] == table[3] && table[0] == table[6];
  }
  BOOST_TEST(sharing > 30);
  BOOST_TEST(sharing < 70);
}

BOOST_AUTO_TEST_CASE(pages_beyond_a_length_are_full_ones_or_none) {
  const Case c = case_with(83);
  const auto its = Cache(c).page_table();
  const auto full = Cache(c, BeyondLength::full_page).page_table();
  const auto none = Cache(c, BeyondLength::nothing).page_table();
  int unnumbered = 0;
  for (int n = 0; n < 9; ++n) {
    const bool beyond = n == 5 || n >= 6;  // after 6 keys two pages, after 0 none
    BOOST_TEST((none[n] == -1 || none[n] == its[n]));
    if (!beyond) BOOST_TEST(none[n] != -1);
    unnumbered += none[n] == -1;
    if (!beyond) BOOST_TEST((full[n] == its[n] && none[n] == its[n]));
    // The third page of a sequence has three keys of four.
    const std::set<int> of_four{its[0], its[1], its[3], its[4]};
    if (beyond) BOOST_TEST(of_four.contains(full[n]));
  }
  // Of the four some have none, and the others one of NaN.
  BOOST_TEST((unnumbered > 0 && unnumbered < 4));
  const auto pages = Cache(c, BeyondLength::nothing).pages(c.k, c.spec.head_dim);
  const std::size_t page = c.spec.kv_heads * c.spec.page_size * c.spec.head_dim;
  for (const int n : {5, 6, 7, 8}) BOOST_TEST(std::isnan(pages.at(its[n] * page)));
}

BOOST_AUTO_TEST_CASE(a_shared_key_that_one_sequence_hides_stays_for_the_other) {
  const Case c = with_shared_keys(4);
  for (const int hides : {0, 1}) {
    auto k = c.k;
    const std::size_t row = (hides * c.spec.kv_heads * c.spec.keys + 2) * c.spec.head_dim;
    std::fill_n(k.begin() + row, c.spec.head_dim, std::nanf(""));
    const Cache cache(c);
    BOOST_TEST(first_number(c, cache, cache.pages(k, c.spec.head_dim), 1 - hides, 0, 2) ==
               c.k[2 * c.spec.head_dim]);
  }
}

BOOST_AUTO_TEST_SUITE_END()
