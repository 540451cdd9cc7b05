// SPDX-License-Identifier: Apache-2.0
// Chosen rows and chosen keys against the whole; storage formats; numbers of threads.
#include "tests/reference/blocked/real_size.hpp"

BOOST_AUTO_TEST_SUITE(sampled_test)

using namespace plumbline::reference;

namespace {

/// Row n of `part` is row chosen[n] of `whole`, but for the rounding of both.
void expect_rows(const std::string& what, const std::vector<Matrix<double>>& part,
                 const std::vector<Matrix<double>>& whole, const std::vector<Matrix<double>>& bound,
                 const std::vector<int>& chosen) {
  BOOST_TEST_REQUIRE(part.size() == whole.size());
  double worst = 0.0;
  for (std::size_t head = 0; head < part.size(); ++head) {
    BOOST_TEST_REQUIRE(part[head].rows() == static_cast<Eigen::Index>(chosen.size()));
    for (std::size_t n = 0; n < chosen.size(); ++n) {
      const auto off = (part[head].row(n) - whole[head].row(chosen[n])).cwiseAbs();
      worst = std::max(worst, (off - 2 * bound[head].row(chosen[n])).maxCoeff());
    }
  }
  BOOST_TEST(!!(worst <= 0.0), what << " beyond its bounds by " << worst);
}

Problem grouped(int queries, int keys, Mask mask) {
  return {"grouped", {2, 4, 2, queries, keys, 5, keys - queries}, std::move(mask), true};
}

const Mask causal_documents() {
  Mask mask{.causal = true, .lengths = {700, 420}};
  for (int n = 0; n < 1400; ++n) mask.documents.push_back(n / 300);
  return mask;
}

bool same(const blocked::Attended& a, const blocked::Attended& b) {
  return a.output == b.output && a.lse == b.lse && a.sees_no_key == b.sees_no_key;
}

}  // namespace

BOOST_AUTO_TEST_CASE(chosen_rows_and_keys_are_those_of_the_whole) {
  const GgdProblem of(grouped(500, 700, causal_documents()), 31);
  const blocked::Attended whole = blocked::attention(of.problem);
  const blocked::Gradients gradients = blocked::attention_grad(of.problem, whole, of.from);
  const BlockedBounds bounds = of.bounds();

  const std::vector<int> rows{499, 0, 17, 130, 131, 300, 17};
  blocked::Upstream from;
  std::vector<Matrix<double>> grad_output;
  const blocked::Attended attended = blocked::attention_rows(of.problem, rows);
  for (std::size_t head = 0; head < of.upstream.output.size(); ++head) {
    Vector<double>& lse = from.lse.emplace_back(static_cast<int>(rows.size()));
    Matrix<double>& output = grad_output.emplace_back(static_cast<int>(rows.size()), 5);
    for (std::size_t n = 0; n < rows.size(); ++n) {
      lse[n] = of.upstream.lse[head][rows[n]];
      output.row(n) = of.upstream.output[head].row(rows[n]);
      BOOST_TEST(!!(std::fabs(attended.lse[head][n] - whole.lse[head][rows[n]]) <=
                    2 * bounds.lse[head][rows[n]]));
      BOOST_TEST(attended.sees_no_key[head][n] == whole.sees_no_key[head][rows[n]]);
    }
  }
  for (const Matrix<double>& x : grad_output) from.output.push_back(blocked::stored(x));
  expect_rows("o", attended.output, whole.output, bounds.output, rows);
  expect_rows("dq", blocked::query_gradients(of.problem, rows, attended, from), gradients.q,
              bounds.q, rows);

  const std::vector<int> keys{0, 5, 6, 255, 256, 299, 300, 511, 699};
  const blocked::KeyGradients chosen = blocked::key_gradients(
      of.problem, keys, of.from.output, blocked::row_summaries(of.problem, whole, of.from));
  expect_rows("dk", chosen.k, gradients.k, bounds.k, keys);
  expect_rows("dv", chosen.v, gradients.v, bounds.v, keys);
  // The mask cuts sequence 1 at 420: its last rows see nothing, its last keys get nothing.
  BOOST_TEST(whole.sees_no_key[4][499] == 1);
  BOOST_TEST(chosen.v[2].row(8).isZero(0.0));
}

BOOST_AUTO_TEST_CASE(rows_of_every_storage_format_are_the_same_numbers) {
  // Integers below 2^8 are the same in bf16, float and double.
  GgdProblem of(grouped(200, 300, {.causal = true}), 32);
  std::vector<std::vector<float>> floats;
  std::vector<std::vector<std::uint16_t>> halves;
  std::vector<Matrix<double>> doubles;
  std::vector<blocked::Stored> as_double, as_float, as_bf16;
  for (int head = 0; head < 8; ++head) {
    Matrix<double>& x = doubles.emplace_back(300, 5);
    std::vector<float>& narrow = floats.emplace_back();
    std::vector<std::uint16_t>& half = halves.emplace_back();
    for (Eigen::Index n = 0; n < x.size(); ++n) {
      x.data()[n] = std::floor(of.numbers.between(-8, 8));
      narrow.push_back(static_cast<float>(x.data()[n]));
      half.push_back(std::bit_cast<std::uint32_t>(narrow.back()) >> 16);
    }
    as_double.push_back(blocked::stored(x));
    as_float.push_back(blocked::stored(narrow, 300, 5));
    as_bf16.push_back(blocked::stored_bf16(half, 300, 5));
  }
  const auto with = [&](const std::vector<blocked::Stored>& numbers) {
    blocked::Problem problem = of.problem;
    problem.k.assign(numbers.begin(), numbers.begin() + 4);
    problem.v.assign(numbers.begin() + 4, numbers.end());
    return blocked::attention(problem);
  };
  BOOST_TEST(same(with(as_float), with(as_double)));
  BOOST_TEST(same(with(as_bf16), with(as_double)));
}

BOOST_AUTO_TEST_CASE(the_number_of_threads_changes_no_bit) {
  GgdProblem of({"long", {1, 2, 1, 300, 2500, 5, 2200}, {.causal = true}, true}, 33);
  // KERPLE leaves far keys a weight, so that every part of the keys counts; GGD would not.
  const auto kerple = blocked::tile_bias_of(KerpleLog<double>(0.05, 1.0), of.problem.shape, {});
  of.problem.bias = {kerple.get(), kerple.get()};
  const auto with = [&](int threads) {
    of.problem.threads = threads;
    return blocked::attention(of.problem);
  };
  const blocked::Attended one = with(1);
  const blocked::Gradients of_one = blocked::attention_grad(of.problem, one, of.from);
  for (int threads : {2, 3}) {
    BOOST_TEST(same(with(threads), one));
    const blocked::Gradients more = blocked::attention_grad(of.problem, one, of.from);
    BOOST_TEST((more.q == of_one.q));
    BOOST_TEST((more.k == of_one.k));
    BOOST_TEST((more.v == of_one.v));
    BOOST_TEST((more.ssmax_scale == of_one.ssmax_scale));
    for (int n = 0; n < 2; ++n) {
      BOOST_TEST((numbers_of<double>(kerple->grad(*more.bias[n])) ==
                  numbers_of<double>(kerple->grad(*of_one.bias[n]))));
    }
  }
  const Matrix<double> x = one.output[0];
  const auto grad = blocked::linear_grad(x, x, x * x.transpose(), 1);
  for (int threads : {2, 3}) {
    BOOST_TEST((blocked::linear(x, x, {}, threads) == blocked::linear(x, x, {}, 1)));
    const auto more = blocked::linear_grad(x, x, x * x.transpose(), threads);
    BOOST_TEST((more.x == grad.x));
    BOOST_TEST((more.w == grad.w));
  }
}

BOOST_AUTO_TEST_SUITE_END()
