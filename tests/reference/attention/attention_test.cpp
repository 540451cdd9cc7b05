// SPDX-License-Identifier: Apache-2.0
#include "reference/attention/attention.hpp"

#include "tests/reference/attention/attention_problem.hpp"

BOOST_AUTO_TEST_SUITE(attention_test)

using namespace plumbline::reference;

namespace {

const Vector<double> q = lifted<double>({2, 1});

Matrix<double> keys() {
  Matrix<double> K(3, 2);
  K << 1, 0, 0, 1, 1, 1;
  return K;
}

Matrix<double> values() {
  Matrix<double> V(3, 2);
  V << 1, 10, 2, 20, 4, 40;
  return V;
}

}  // namespace

BOOST_AUTO_TEST_CASE(scores_are_the_scaled_products_with_the_visible_keys) {
  BOOST_TEST(scaled_scores(q, keys(), {0, 1, 2}, 0.5) == lifted<double>({1, 0.5, 1.5}));
  BOOST_TEST(scaled_scores(q, keys(), {2, 0}, 0.5) == lifted<double>({1.5, 1}));
}

BOOST_AUTO_TEST_CASE(the_bias_comes_after_the_scale) {
  // 0.5 * (2, 1, 3) - (2, 1, 0), not 0.5 * ((2, 1, 3) - (2, 1, 0)).
  const Vector<double> z = biased_scores(q, keys(), {0, 1, 2}, 0.5, Alibi<double>{1.0}, 2);
  BOOST_TEST(z == lifted<double>({-1, -0.5, 1.5}));
}

BOOST_AUTO_TEST_CASE(equal_logits_average_the_values) {
  const auto row = attention_row(q, keys(), values(), {0, 1}, 0.0, Nope<double>{}, 1);
  BOOST_TEST(!row.sees_no_key);
  BOOST_TEST(row.probability == lifted<double>({0.5, 0.5}));
  BOOST_TEST(row.lse == std::log(2.0));
  BOOST_TEST(row.output == lifted<double>({1.5, 15}));
}

BOOST_AUTO_TEST_CASE(a_dropped_key_counts_in_the_softmax_alone) {
  // p = (1/2, 1/2), v = ((1, 10), (2, 20)): half of the second, times 1 / (1 - 3/4).
  const auto row = attention_row(q, keys(), values(), {0, 1}, 0.0, Nope<double>{}, 1, std::nullopt,
                                 std::nullopt, std::nullopt, lifted<double>({0, 4}));
  BOOST_TEST(row.probability == lifted<double>({0.5, 0.5}));
  BOOST_TEST(row.lse == std::log(2.0));
  BOOST_TEST(row.output == lifted<double>({4, 40}));
  BOOST_CHECK_THROW(attention_row(q, keys(), values(), {0, 1}, 0.0, Nope<double>{}, 1, std::nullopt,
                                  std::nullopt, std::nullopt, lifted<double>({0})),
                    std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(one_visible_key_gives_its_value) {
  const auto row = attention_row(q, keys(), values(), {1}, 0.5, Alibi<double>{0.25}, 2);
  BOOST_TEST(row.output == lifted<double>({2, 20}));
  BOOST_TEST(row.lse == 0.5 * 1 - 0.25);
}

BOOST_AUTO_TEST_CASE(a_row_that_sees_no_key_says_so) {
  const auto row = attention_row(q, keys(), values(), {}, 0.5, Nope<double>{}, 0);
  BOOST_TEST(row.sees_no_key);
  BOOST_TEST(row.output == lifted<double>({0, 0}));
  BOOST_TEST(row.probability.size() == 0);
}

BOOST_AUTO_TEST_CASE(ssmax_scales_the_product_and_the_bias) {
  // z = (-1, -0.5, 1.5) as above; lse of ln 3 * z, by the definition with n = 3 and s = 1:
  // ln(3^-1 + 3^-0.5 + 3^1.5).
  const auto row = attention_row(q, keys(), values(), {0, 1, 2}, 0.5, Alibi<double>{1.0}, 2, 1.0);
  const double expected = std::log(1 / 3.0 + 1 / std::sqrt(3.0) + 3 * std::sqrt(3.0));
  // Logits within 2u of at most 1.65, shift and sum within 10u, logarithms within 2u of 1.81.
  BOOST_TEST(!!(std::fabs(row.lse - expected) <= 30 * 0x1p-53));
  // One visible key: ln 1 = 0 takes everything away.
  const auto single = attention_row(q, keys(), values(), {0}, 0.5, Alibi<double>{1.0}, 2, 1.0);
  BOOST_TEST(single.lse == 0.0);
}

BOOST_AUTO_TEST_CASE(grouped_query_heads_share_a_key_head) {
  const AttentionShape shape{1, 6, 2, 1, 1, 1, 0};
  const int expected[] = {0, 0, 0, 1, 1, 1};
  for (int h = 0; h < 6; ++h) BOOST_TEST(shape.kv_head(h) == expected[h]);
}

BOOST_AUTO_TEST_CASE(a_whole_problem_goes_to_the_right_heads_and_positions) {
  // Two sequences, four heads over two key heads, two queries at positions 1 and 2 of 3. Scores are
  // 0 and values are unlike in every (sequence, key head, key): the output is their mean over the
  // visible keys, under a causal mask {0, 1} and {0, 1, 2}.
  AttentionInputs<double> x;
  x.shape = {2, 4, 2, 2, 3, 1, 1};
  x.q.assign(8, zeros<double>(2, 1));
  x.k.assign(4, zeros<double>(3, 1));
  for (int head = 0; head < 4; ++head) {
    Matrix<double> V(3, 1);
    V << 16.0 * head, 16.0 * head + 2, 16.0 * head + 4;
    x.v.push_back(V);
  }
  x.scale = 1.0;
  x.mask.causal = true;
  const auto rows = attention(x, [](int, int) { return Nope<double>{}; });
  BOOST_TEST_REQUIRE(rows.size() == 16u);
  for (int b = 0; b < 2; ++b) {
    for (int h = 0; h < 4; ++h) {
      const double first = 16.0 * (2 * b + h / 2);
      BOOST_TEST(rows[(b * 4 + h) * 2].output[0] == first + 1);
      BOOST_TEST(rows[(b * 4 + h) * 2].probability.size() == 2);
      // The mean of three numbers: (a + b + c)/3 with p = fl(1/3), within 4u of at most 52.
      BOOST_TEST(
          !!(std::fabs(rows[(b * 4 + h) * 2 + 1].output[0] - (first + 2)) <= 4 * 0x1p-53 * 52));
    }
  }
}

BOOST_AUTO_TEST_CASE(queries_at_the_end_of_each_sequence) {
  // Three keys, two queries. Scores are -distance ln 2, so that lse is of powers of two: at the
  // position i under a causal mask ln(sum of 2^-(i - j)).
  AttentionInputs<double> x;
  x.shape = {3, 1, 1, 2, 3, 1, 0, {1, 0, -1}};
  x.q.assign(3, zeros<double>(2, 1));
  x.k.assign(3, zeros<double>(3, 1));
  x.v = x.k;
  x.scale = 1.0;
  x.mask = {.causal = true, .lengths = {3, 2, 1}};
  const auto rows = attention(x, [](int, int) { return Alibi<double>{std::log(2.0)}; });
  const double expected[] = {1.5, 1.75, 1, 1.5, 0, 1};
  for (int n = 0; n < 6; ++n) {
    BOOST_TEST(rows[n].sees_no_key == (expected[n] == 0));
    if (expected[n] > 0) {
      BOOST_TEST(!!(std::fabs(rows[n].lse - std::log(expected[n])) <= 30 * 0x1p-53));  // as below
    }
  }
}

BOOST_AUTO_TEST_CASE(rows_at_positions_of_no_key) {
  // ALiBi needs no key at the query's position: the first row sees none, the last stands beyond.
  AttentionInputs<double> x;
  x.shape = {1, 1, 1, 4, 2, 1, -1};
  x.q.assign(1, zeros<double>(4, 1));
  x.k.assign(1, zeros<double>(2, 1));
  x.v = x.k;
  x.scale = 1.0;
  const auto alibi = [](int, int) { return Alibi<double>{std::log(2.0)}; };
  const auto rows = attention(x, alibi);
  BOOST_TEST(rows[0].sees_no_key);
  const double expected[] = {0, 1.5, 1.5, 0.75};  // distances 0 1, 1 0, 2 1
  for (int n = 1; n < 4; ++n) {
    BOOST_TEST(!!(std::fabs(rows[n].lse - std::log(expected[n])) <= 30 * 0x1p-53));
  }
  // A prefix sum has no number there.
  const auto cable = [](int, int) { return CableNw<double>{Vector<double>::Ones(2)}; };
  BOOST_CHECK_THROW(attention(x, cable), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(each_head_has_its_bias_and_its_ssmax_scale) {
  AttentionInputs<double> x;
  x.shape = {1, 2, 1, 1, 2, 1, 1};
  x.q.assign(2, zeros<double>(1, 1));
  x.k.assign(1, zeros<double>(2, 1));
  x.v = x.k;
  x.scale = 1.0;
  const double slopes[] = {1.0, 2.0};
  x.ssmax_scale = {1.0, 3.0};
  const auto rows = attention(x, [&](int, int h) { return Alibi<double>{slopes[h]}; });
  // Position 1 sees distances 1 and 0: logits -s_h ln 2 m_h and 0.
  for (int h = 0; h < 2; ++h) {
    const double expected = std::log1p(std::pow(2.0, -x.ssmax_scale[h] * slopes[h]));
    BOOST_TEST(!!(std::fabs(rows[h].lse - expected) <= 30 * 0x1p-53));  // as above
  }
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  AttentionInputs<double> good;
  good.shape = {1, 2, 1, 2, 3, 1, 1};
  good.q.assign(2, zeros<double>(2, 1));
  good.k.assign(1, zeros<double>(3, 1));
  good.v = good.k;
  good.scale = 1.0;
  BOOST_CHECK_NO_THROW(check(good));
  const auto refused = [&](auto change, const std::string& name) {
    AttentionInputs<double> bad = good;
    change(bad);
    BOOST_CHECK_EXCEPTION(check(bad), std::invalid_argument, [&](const auto& error) {
      return std::string(error.what()).starts_with(name + " is ");
    });
  };
  refused([](auto& x) { x.shape.batch = 0; }, "batch");
  refused([](auto& x) { x.shape.kv_heads = 0; }, "kv_heads");
  refused([](auto& x) { x.shape.heads = 3, x.shape.kv_heads = 2; }, "heads");
  refused([](auto& x) { x.shape.heads = 0; }, "heads");
  refused([](auto& x) { x.shape.queries = 0; }, "queries");
  refused([](auto& x) { x.shape.query_offset = 1 << 30; }, "query_offset");
  refused([](auto& x) { x.shape.query_offset = -(1 << 30) - 1; }, "query_offset");
  refused([](auto& x) { x.shape.query_offsets = {0, 0}; }, "query_offsets.size()");
  refused([](auto& x) { x.shape.head_dim = 0; }, "head_dim");
  refused([](auto& x) { x.shape.head_dim = 2; }, "q");
  refused([](auto& x) { x.q.pop_back(); }, "q");
  refused([](auto& x) { x.k[0] = zeros<double>(2, 1); }, "k");
  refused([](auto& x) { x.v.clear(); }, "v");
  refused([](auto& x) { x.ssmax_scale = {1.0}; }, "ssmax_scale.size()");
  refused([](auto& x) { x.dropout = {zeros<double>(2, 3)}; }, "dropout");
  refused([](auto& x) { x.dropout.assign(2, zeros<double>(3, 2)); }, "dropout");
}

BOOST_AUTO_TEST_CASE(every_method_under_every_mask_agrees_in_every_reading) {
  for_each_method([](auto method) {
    using Method = decltype(method);
    std::uint64_t seed = 20;
    for (const Problem& problem : small_problems()) {
      Numbers numbers(++seed);
      BOOST_TEST_CONTEXT(Method::name << ", " << problem.name << ", seed " << seed) {
        expect_readings_agree(
            [&](const auto& x) {
              using R = ScalarOf<decltype(x)>;
              const ReadProblem<R, Method> read(problem, x);
              Writer<R> results;
              for (const auto& row : attention(read.inputs, read.bias_of())) {
                results.number(row.lse);
                results.vector(row.probability);
                results.vector(row.output);
              }
              return results.result();
            },
            inputs_of<Method>(problem, numbers));
      }
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
