// SPDX-License-Identifier: Apache-2.0
// Batches: exactly which tokens, in which order, for how many ranks; and BERT's masking.
#include "models/text/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "models/text/byte_tokenizer.hpp"
#include "models/text/masking.hpp"
#include "models/text/permutation.hpp"
#include "refusal.hpp"

BOOST_AUTO_TEST_SUITE(sampler_test)

using namespace plumbline;
using namespace plumbline::text;
using test::expect_refused;

namespace {

using Ints = std::vector<std::int32_t>;

TokenStream counting(std::size_t count) {
  std::vector<Token> tokens(count);
  std::iota(tokens.begin(), tokens.end(), Token{0});
  return TokenStream(std::move(tokens));
}

SamplerOptions options_of(int batch, int length, Order order = Order::sequential) {
  SamplerOptions options;
  options.batch = batch;
  options.length = length;
  options.order = order;
  options.end_of_text = 60000;
  return options;
}

std::string letters(std::size_t count) { return std::string(count, 'a'); }

Ints ints(const std::vector<Token>& tokens) { return {tokens.begin(), tokens.end()}; }

}  // namespace

BOOST_AUTO_TEST_CASE(a_permutation_has_every_element_once) {
  for (const std::int64_t count : {1, 2, 3, 4, 5, 16, 17, 1000, 4097}) {
    const Permutation permutation(count, 3, 0);
    std::set<std::int64_t> seen;
    for (std::int64_t n = 0; n < count; ++n) {
      const std::int64_t place = permutation(n);
      BOOST_TEST((place >= 0 && place < count));
      seen.insert(place);
    }
    BOOST_TEST(static_cast<std::int64_t>(seen.size()) == count);
  }
  BOOST_CHECK_THROW(Permutation(5, 1, 0)(5), std::out_of_range);
  BOOST_CHECK_THROW(Permutation(0, 1, 0), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(all_permutations_of_four_are_about_equally_frequent) {
  // 24 permutations, 4800 seeds: 200 each, standard deviation sqrt(200 (1 - 1/24)) < 14. Beyond 5
  // of them, 70, none of 24 should be (probability below 2e-5).
  std::map<std::vector<std::int64_t>, int> counts;
  for (std::uint64_t seed = 0; seed < 4800; ++seed) {
    const Permutation permutation(4, seed, 0);
    ++counts[{permutation(0), permutation(1), permutation(2), permutation(3)}];
  }
  BOOST_TEST(counts.size() == 24);
  for (const auto& [order, count] : counts) BOOST_TEST(std::abs(count - 200) <= 70);
}

BOOST_AUTO_TEST_CASE(sequential_batches_are_llm_cs) {
  // (14 - 1) / 3 = 4 windows. llm.c: row b of step s begins at (2 s + b) 3.
  const Sampler sampler(counting(14), options_of(2, 3));
  BOOST_TEST(sampler.windows() == 4);
  BOOST_TEST(sampler.steps_of_an_epoch() == 2);
  const Batch first = sampler.batch(0), second = sampler.batch(1);
  BOOST_TEST(first.inputs == (Ints{0, 1, 2, 3, 4, 5}));
  BOOST_TEST(first.labels == (Ints{1, 2, 3, 4, 5, 6}));
  BOOST_TEST(second.inputs == (Ints{6, 7, 8, 9, 10, 11}));
  BOOST_TEST(second.labels == (Ints{7, 8, 9, 10, 11, 12}));
  BOOST_TEST((second.starts == std::vector<std::int64_t>{6, 9}));
  BOOST_TEST(sampler.batch(2).inputs == first.inputs);
}

BOOST_AUTO_TEST_CASE(an_epoch_may_end_within_a_batch) {
  const Sampler sampler(counting(10), options_of(2, 3));  // 3 windows
  BOOST_TEST(sampler.batch(1).inputs == (Ints{6, 7, 8, 0, 1, 2}));
  BOOST_TEST(sampler.batch(2).inputs == (Ints{3, 4, 5, 6, 7, 8}));
}

BOOST_AUTO_TEST_CASE(every_shuffled_epoch_has_each_window_once_in_an_order_of_its_own) {
  const Sampler sampler(counting(201), options_of(5, 4, Order::shuffled));  // 50 windows
  std::vector<std::vector<std::int64_t>> epochs;
  for (int epoch = 0; epoch < 3; ++epoch) {
    auto& starts = epochs.emplace_back();
    for (std::int64_t step = 0; step < 10; ++step) {
      const Batch batch = sampler.batch(10 * epoch + step);
      starts.insert(starts.end(), batch.starts.begin(), batch.starts.end());
      for (int row = 0; row < 5; ++row) {
        for (int t = 0; t < 4; ++t) {
          BOOST_TEST(batch.inputs[4 * row + t] == batch.starts[row] + t);
          BOOST_TEST(batch.labels[4 * row + t] == batch.starts[row] + t + 1);
        }
      }
    }
    auto sorted = starts;
    std::sort(sorted.begin(), sorted.end());
    for (int n = 0; n < 50; ++n) BOOST_TEST(sorted[n] == 4 * n);
    BOOST_TEST(!std::is_sorted(starts.begin(), starts.end()));
  }
  BOOST_TEST(epochs[0] != epochs[1]);
  BOOST_TEST(epochs[1] != epochs[2]);
  auto other = options_of(5, 4, Order::shuffled);
  other.seed = 2;
  BOOST_TEST(Sampler(counting(201), other).batch(0).starts != sampler.batch(0).starts);
}

BOOST_AUTO_TEST_CASE(the_parts_of_ranks_make_up_the_batch_of_one) {
  for (const Order order : {Order::sequential, Order::shuffled}) {
    const Sampler sampler(counting(500), options_of(6, 7, order));
    for (const int ranks : {1, 2, 3, 6}) {
      for (const std::int64_t step : {0, 11, 30}) {
        const Batch whole = sampler.batch(step);
        Batch joined;
        for (int rank = 0; rank < ranks; ++rank) {
          const Batch part = sampler.batch(step, rows_of_part(6, rank, ranks, "ranks"));
          BOOST_TEST(part.rows == 6 / ranks);
          joined.inputs.insert(joined.inputs.end(), part.inputs.begin(), part.inputs.end());
          joined.labels.insert(joined.labels.end(), part.labels.begin(), part.labels.end());
        }
        BOOST_TEST(joined.inputs == whole.inputs);
        BOOST_TEST(joined.labels == whole.labels);
      }
    }
    BOOST_CHECK_THROW(sampler.batch(0, {5, 2}), std::out_of_range);
    BOOST_CHECK_THROW(sampler.batch(-1), std::out_of_range);
  }
  expect_refused([] { rows_of_part(6, 0, 4, "ranks"); }, {"ranks is 4", "divisor", "6"});
}

BOOST_AUTO_TEST_CASE(documents_and_positions_begin_anew_at_every_end_of_text) {
  auto options = options_of(2, 5);
  options.end_of_text = 9;
  const Sampler sampler(TokenStream(std::vector<Token>{9, 1, 2, 9, 3, 4, 9, 9, 5, 6, 7}), options);
  const Batch batch = sampler.batch(0);
  BOOST_TEST(batch.documents == (Ints{0, 0, 0, 1, 1, 0, 1, 2, 2, 2}));
  BOOST_TEST(batch.positions == (Ints{0, 1, 2, 0, 1, 0, 0, 0, 1, 2}));
  BOOST_TEST(batch.labels == (Ints{1, 2, 9, 3, 4, 9, 9, 5, 6, 7}));
}

BOOST_AUTO_TEST_CASE(a_frame_stands_around_every_row_and_there_are_no_next_tokens) {
  auto options = options_of(2, 5);
  options.end_of_text = 9;
  options.frame = Frame{100, 101};
  const Sampler sampler(TokenStream(std::vector<Token>{9, 1, 9, 2, 9, 3}), options);
  BOOST_TEST(sampler.windows() == 2);
  const Batch batch = sampler.batch(0);
  BOOST_TEST(batch.inputs == (Ints{100, 9, 1, 9, 101, 100, 2, 9, 3, 101}));
  BOOST_TEST(batch.labels == Ints(10, no_label));
  BOOST_TEST(batch.documents == (Ints{0, 0, 0, 1, 1, 0, 0, 1, 1, 1}));
  BOOST_TEST(batch.positions == (Ints{0, 1, 2, 0, 1, 0, 1, 0, 1, 2}));
}

BOOST_AUTO_TEST_CASE(a_sampler_refuses_what_has_no_window) {
  expect_refused([] { Sampler(counting(4), options_of(1, 4)); }, {"tokens is 4", "at least 5"});
  expect_refused([] { Sampler(TokenStream(), options_of(1, 1)); }, {"tokens is 0"});
  expect_refused([] { Sampler(counting(4), options_of(0, 1)); }, {"batch is 0"});
  expect_refused([] { Sampler(counting(4), options_of(1, 0)); }, {"length is 0"});
  auto framed = options_of(1, 2);
  framed.frame = Frame{1, 2};
  expect_refused([&] { Sampler(counting(4), framed); }, {"length is 2", "at least 3"});
  BOOST_TEST(Sampler(counting(5), options_of(1, 4)).windows() == 1);
}

BOOST_AUTO_TEST_CASE(other_data_have_another_fingerprint) {
  const auto name = fingerprint(counting(10000));
  BOOST_TEST(name == fingerprint(counting(10000)));
  BOOST_TEST(name != fingerprint(counting(9999)));
  TokenStream reversed;
  reversed.append(counting(10000).part(5000, 5000));
  reversed.append(counting(10000).part(0, 5000));
  BOOST_TEST(name != fingerprint(reversed));
  TokenStream joined;  // where the pieces end is no matter
  joined.append(counting(10000).part(0, 77));
  joined.append(counting(10000).part(77, 9923));
  BOOST_TEST(name == fingerprint(joined));
}

BOOST_AUTO_TEST_CASE(masking_chooses_15_percent_and_hides_80_10_10_of_them) {
  const ByteTokenizer tokenizer;
  const Masking masking(tokenizer, {});
  const std::size_t length = 100000;
  const Ints before = ints(tokenizer.encode(letters(length)));
  Ints inputs = before, labels(length);
  masking.apply(0, 0, inputs, labels);
  double chosen = 0, masked = 0, replaced = 0;
  for (std::size_t t = 0; t < length; ++t) {
    if (labels[t] == no_label) {
      BOOST_TEST(inputs[t] == before[t]);
      continue;
    }
    BOOST_TEST(labels[t] == before[t]);
    ++chosen;
    if (inputs[t] == 258) {
      ++masked;
    } else if (inputs[t] != before[t]) {
      BOOST_TEST(inputs[t] < 256);  // no special token
      ++replaced;
    }
  }
  // Binomial counts: mean N p, standard deviation sqrt(N p (1 - p)); five of them either way. A
  // random byte is the old one with probability 1/256.
  const auto near = [](double count, double trials, double share) {
    return std::abs(count - trials * share) <= 5 * std::sqrt(trials * share * (1 - share));
  };
  BOOST_TEST(near(chosen, static_cast<double>(length), 0.15));
  BOOST_TEST(near(masked, chosen, 0.8));
  BOOST_TEST(near(replaced, chosen, 0.1 * 255 / 256));
}

BOOST_AUTO_TEST_CASE(every_byte_can_stand_in_for_a_hidden_one) {
  const ByteTokenizer tokenizer;
  MaskingOptions options;
  options.rate = options.replaced = 1;
  options.masked = 0;
  Ints inputs = ints(tokenizer.encode(letters(20000))), labels(20000);
  Masking(tokenizer, options).apply(0, 0, inputs, labels);
  BOOST_TEST(std::set(inputs.begin(), inputs.end()).size() == 256);
}

BOOST_AUTO_TEST_CASE(masking_depends_on_seed_step_and_row_only) {
  const ByteTokenizer tokenizer;
  const auto masked = [&](std::uint64_t seed, std::int64_t step, int row) {
    MaskingOptions options;
    options.seed = seed;
    Ints inputs = ints(tokenizer.encode(letters(200))), labels(200);
    Masking(tokenizer, options).apply(step, row, inputs, labels);
    inputs.insert(inputs.end(), labels.begin(), labels.end());
    return inputs;
  };
  const Ints one = masked(1, 5, 3);
  BOOST_TEST(one == masked(1, 5, 3));
  for (const Ints& other : {masked(2, 5, 3), masked(1, 6, 3), masked(1, 5, 4), masked(1, 3, 5)}) {
    BOOST_TEST(one != other);
  }
  // Two ranks and one.
  auto options = options_of(4, 50);
  options.frame = Frame{259, 260};
  const Sampler sampler(TokenStream(tokenizer.encode(letters(500))), options);
  const Masking masking(tokenizer, {});
  Batch whole = sampler.batch(7), half = sampler.batch(7, rows_of_part(4, 1, 2, "ranks"));
  masking.apply(7, 0, whole);
  masking.apply(7, 2, half);
  BOOST_TEST(std::equal(half.inputs.begin(), half.inputs.end(), whole.inputs.begin() + 100));
  BOOST_TEST(std::equal(half.labels.begin(), half.labels.end(), whole.labels.begin() + 100));
  BOOST_TEST(std::count(whole.labels.begin(), whole.labels.end(), 'a') > 0);
}

BOOST_AUTO_TEST_CASE(special_tokens_are_never_hidden) {
  const ByteTokenizer tokenizer;
  MaskingOptions options;
  options.rate = 1;
  Ints inputs{259, 256, 'a', 257, 258, 260}, labels(6);
  Masking(tokenizer, options).apply(0, 0, inputs, labels);
  BOOST_TEST(labels == (Ints{no_label, no_label, 'a', no_label, no_label, no_label}));
  BOOST_TEST((inputs[0] == 259 && inputs[1] == 256 && inputs[3] == 257 && inputs[5] == 260));
}

BOOST_AUTO_TEST_CASE(masking_refuses_shares_that_are_none) {
  const ByteTokenizer tokenizer;
  const auto refused = [&](double rate, double masked, double replaced) {
    MaskingOptions options{rate, masked, replaced, 1};
    expect_refused([&] { Masking(tokenizer, options); }, {"expected"});
  };
  refused(-0.1, 0.8, 0.1);
  refused(1.1, 0.8, 0.1);
  refused(std::nan(""), 0.8, 0.1);
  refused(0.15, 0.8, 0.3);
  refused(0.15, 2, 0);
}

BOOST_AUTO_TEST_SUITE_END()
