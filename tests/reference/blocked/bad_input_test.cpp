// SPDX-License-Identifier: Apache-2.0
// What blocked attention refuses, with the field, the value and what was expected.
#include <limits>

#include "tests/reference/blocked/real_size.hpp"

BOOST_AUTO_TEST_SUITE(bad_input_test)

using namespace plumbline::reference;

namespace {

template <class Call>
void refuses(const Call& call, const std::string& message) {
  BOOST_CHECK_EXCEPTION(call(), std::invalid_argument, [&](const auto& error) {
    BOOST_TEST(std::string(error.what()).starts_with(message), error.what());
    return true;
  });
}

const Problem sizes{"small", {1, 2, 1, 2, 3, 1, 1}, {.causal = true}, true};

}  // namespace

BOOST_AUTO_TEST_CASE(problems_that_do_not_fit_are_refused) {
  const GgdProblem good(sizes, 1);
  BOOST_CHECK_NO_THROW(blocked::attention(good.problem));
  Matrix<double> not_a_number = zeros<double>(3, 1), wide = zeros<double>(3, 2);
  not_a_number(2, 0) = std::numeric_limits<double>::quiet_NaN();
  Matrix<double> infinite = zeros<double>(2, 1);
  infinite(1, 0) = -std::numeric_limits<double>::infinity();
  const auto with = [&](auto change, const std::string& message) {
    blocked::Problem bad = good.problem;
    change(bad);
    refuses([&] { blocked::attention(bad); }, message);
    refuses([&] { blocked::attention_grad(bad, {}, {}); }, message);
  };
  with([](auto& x) { x.shape.heads = 3, x.shape.kv_heads = 2; }, "heads is 3; expected");
  with([](auto& x) { x.shape.queries = 4; }, "query_offset is 1; expected at most keys - queries");
  with([](auto& x) { x.shape.query_offset = -1; }, "query_offset is -1; expected at least 0");
  with([](auto& x) { x.shape.query_offsets = {1}; },
       "query_offset is 1; expected at least 0 and the same");
  // As an int the product is 0, which no matrices at all would fit.
  with(
      [](auto& x) {
        x = {};
        x.shape = {65536, 65536, 1, 2, 3, 1, 1};
      },
      "batch * heads is 4294967296; expected at most 2^31 - 1");
  with([](auto& x) { x.shape.keys = (1 << 30) + 1; }, "keys is 1073741825; expected at most 2^30");
  with([](auto& x) { x.threads = -1; }, "threads is -1; expected at least 0");
  with([](auto& x) { x.scale = std::numeric_limits<double>::infinity(); },
       "scale is inf; expected");
  with([](auto& x) { x.mask.window = -2; }, "window (left) is -2; expected at least 0");
  with([](auto& x) { x.mask.documents = {1, 2}; }, "documents.size() is 2; expected");
  with([](auto& x) { x.ssmax_scale.pop_back(); }, "ssmax_scale.size() is 1; expected");
  with([](auto& x) { x.ssmax_scale[1] = std::numeric_limits<double>::quiet_NaN(); },
       "ssmax_scale is nan; expected a finite number");
  with([](auto& x) { x.bias.pop_back(); }, "bias.size() is 1; expected");
  with([](auto& x) { x.q.pop_back(); }, "q is 1; expected one matrix a head");
  with([](auto& x) { x.k[0].data = nullptr; }, "k is 0; expected numbers");
  with([](auto& x) { x.v[0].rows = 2; }, "v is 2; expected the shape's number of rows");
  with([&](auto& x) { x.v[0] = blocked::stored(wide); }, "v is 2; expected head_dim columns");
  with([&](auto& x) { x.k[0] = blocked::stored(not_a_number); }, "k is nan; expected finite");
  with([&](auto& x) { x.q[1] = blocked::stored(infinite); }, "q is nan; expected finite");
}

BOOST_AUTO_TEST_CASE(rows_keys_and_gradients_that_do_not_fit_are_refused) {
  const GgdProblem good(sizes, 2);
  const blocked::Attended attended = blocked::attention(good.problem);
  const auto row = [&](int r) { blocked::attention_rows(good.problem, std::vector<int>{r}); };
  refuses([&] { row(-1); }, "row is -1; expected a query row");
  refuses([&] { row(2); }, "row is 2; expected a query row");

  const auto summaries = blocked::row_summaries(good.problem, attended, good.from);
  const auto keys = [&](std::vector<int> chosen) {
    blocked::key_gradients(good.problem, chosen, good.from.output, summaries);
  };
  BOOST_CHECK_NO_THROW(keys({0, 2}));
  refuses([&] { keys({3}); }, "key is 3; expected a key");
  refuses([&] { keys({2, 2}); }, "key is 2; expected above the one before it");

  const auto with = [&](auto change, const std::string& message) {
    blocked::Attended of = attended;
    blocked::Upstream from = good.from;
    change(of, from);
    refuses([&] { blocked::attention_grad(good.problem, of, from); }, message);
  };
  const Matrix<double> tall = zeros<double>(3, 1), wide = zeros<double>(2, 2);
  with([](auto&, auto& from) { from.output[1].data = nullptr; }, "upstream.output is 0; expected");
  const double infinity = std::numeric_limits<double>::infinity();
  with([&](auto&, auto& from) { from.lse[1][1] = infinity; }, "upstream.lse is nan; expected");
  with([&](auto& of, auto&) { of.lse[0][1] = infinity; }, "attended.lse is nan; expected finite");
  with([&](auto& of, auto&) { of.output[1](1, 0) = infinity; }, "attended.output is nan; expected");
  const auto with_summary = [&](auto change, const std::string& message) {
    blocked::RowSummaries bad = summaries;
    change(bad);
    const std::vector<int> first{0};
    refuses([&] { blocked::key_gradients(good.problem, first, good.from.output, bad); }, message);
  };
  with_summary([&](auto& x) { x.lse[1][0] = infinity; }, "rows.lse is nan; expected finite");
  with_summary([&](auto& x) { x.shift[0][1] = std::numeric_limits<double>::quiet_NaN(); },
               "rows.shift is nan; expected finite");
  with([](auto&, auto& from) { from.output.pop_back(); }, "upstream.output.size() is 1; expected");
  with([&](auto&, auto& from) { from.output[1] = blocked::stored(tall); },
       "upstream.output rows is 3; expected");
  with([&](auto&, auto& from) { from.output[1] = blocked::stored(wide); },
       "upstream.output columns is 2; expected");
  with([](auto&, auto& from) { from.lse.pop_back(); }, "upstream.lse is 1; expected");
  with([](auto&, auto& from) { from.lse[0] = zeros<double>(1); }, "upstream.lse is 1; expected");
  with([](auto& of, auto&) { of.lse.clear(); }, "attended.lse is 0; expected");
  with([](auto& of, auto&) { of.output.clear(); }, "attended.output.size() is 0; expected");
  with([&](auto& of, auto&) { of.output[0] = tall; }, "attended.output rows is 3; expected");
}

BOOST_AUTO_TEST_CASE(biases_and_storage_that_do_not_fit_are_refused) {
  const AttentionShape shape{1, 1, 1, 2, 4, 1, 2};
  const auto bias = [&](int keys, int gains, int first_gain) {
    blocked::tile_bias_of(Cable<double>{zeros<double>(keys), zeros<double>(gains), first_gain},
                          shape, {});
  };
  BOOST_CHECK_NO_THROW(bias(4, 2, 2));
  BOOST_CHECK_NO_THROW(bias(5, 4, 0));
  refuses([&] { bias(3, 2, 2); }, "prefix_sum.size() is 3; expected one a key");
  refuses([&] { bias(4, 2, 3); }, "query_offset of the bias is 3; expected");
  refuses([&] { bias(4, 1, 2); }, "gain.size() is 1; expected one a query");
  const std::vector<float> six(6);
  refuses([&] { blocked::stored(std::span(six), 2, 2); }, "numbers is 6; expected rows * columns");
}

BOOST_AUTO_TEST_CASE(biases_that_were_made_for_another_problem_are_refused) {
  const auto head_of = [](int keys) -> AttentionShape { return {1, 1, 1, keys, keys, 1, 0}; };
  const Mask all, causal{.causal = true}, window{.window = 1};
  const Matrix<double> rows = zeros<double>(400, 1);
  // The bias of a few keys, or under another mask, with 400 keys under `mask`.
  const auto with = [&](const auto& bias, const Mask& mask, const std::string& message) {
    blocked::Problem problem;
    problem.shape = head_of(400);
    problem.q = problem.k = problem.v = {blocked::stored(rows)};
    problem.mask = mask;
    problem.bias = {bias.get()};
    if (message.empty()) {
      BOOST_CHECK_NO_THROW(blocked::attention(problem));
      return;
    }
    refuses([&] { blocked::attention(problem); }, message);
    refuses([&] { blocked::attention_grad(problem, {}, {}); }, message);
  };
  const auto made = [&](const auto& equation, int keys, const Mask& mask) {
    return blocked::tile_bias_of(equation, head_of(keys), mask);
  };
  const Alibi<double> alibi{0.5};
  with(made(alibi, 400, all), causal, "");
  with(made(alibi, 500, causal), causal, "");
  with(made(alibi, 2, all), all, "keys of the bias is 2; expected at least those of the problem");
  with(made(alibi, 399, causal), window, "keys of the bias is 399; expected");
  with(made(alibi, 400, window), all, "distance of the bias is 1; expected");
  with(made(alibi, 400, window), causal, "distance of the bias is 1; expected");
  with(made(alibi, 400, causal), window, "distance of the bias to later keys is 0; expected");

  const Cable<double> cable{zeros<double>(2), zeros<double>(2), 0};
  with(made(cable, 2, all), all, "prefix_sum.size() is 2; expected one a key");
  const Cable<double> few{zeros<double>(400), zeros<double>(2), 0};
  with(made(few, 2, all), all, "gain.size() is 2; expected one a query");
  const Cable<double> enough{zeros<double>(400), zeros<double>(400), 0};
  with(made(enough, 2, all), all, "");
  using Scalar = blocked::ScalarBias<Cable<double>>;
  with(std::make_unique<Scalar>(cable), all, "prefix_sum.size() is 2; expected one a key");
  with(std::make_unique<Scalar>(few), all, "gain.size() is 2; expected one a query");

  const Vector<double> one = zeros<double>(1);
  const Fire<double> fire({one, one, one, 0.0, 0.1, 1.0}, 4.0);
  with(made(fire, 400, all), all, "");
  with(made(fire, 2, all), all, "keys of the bias is 2; expected at least those of the problem");
}

BOOST_AUTO_TEST_CASE(biases_of_no_shape_are_refused) {
  const auto made = [](int keys, const Mask& mask) {
    blocked::tile_bias_of(Alibi<double>{0.5}, {1, 1, 1, 1, keys, 1, 0}, mask);
  };
  refuses([&] { made(0, {}); }, "keys is 0; expected at least 1");
  refuses([&] { made((1 << 30) + 1, {.window = 1}); }, "keys is 1073741825; expected at most 2^30");
  refuses([&] { made(4, {.window = -2}); }, "window (left) is -2; expected at least 0");
}

BOOST_AUTO_TEST_SUITE_END()
