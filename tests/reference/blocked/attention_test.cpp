// SPDX-License-Identifier: Apache-2.0
// Every additive method, under every mask, at sizes that cross the borders of tiles.
#include <span>
#include <utility>

#include "reference/blocked/kernels.hpp"
#include "tests/reference/blocked/comparison.hpp"

BOOST_AUTO_TEST_SUITE(attention_test)

using namespace plumbline::reference;

namespace {

/// Tiles have 128 rows and 256 keys. Document ids change in the middle of tiles, and one comes
/// back.
std::vector<Problem> problems() {
  const AttentionShape causal{1, 2, 1, 263, 263, 3, 0}, decoding{1, 2, 2, 131, 270, 5, 139};
  const AttentionShape batch{2, 2, 1, 140, 150, 2, 10};
  std::vector<int> documents;
  for (int b = 0; b < 2; ++b) {
    for (int j = 0; j < 150; ++j) documents.push_back((j / 37 + b) % 3);
  }
  return {{"causal", causal, {.causal = true}, false},
          {"bidirectional", decoding, {}, true},
          {"window", causal, {.causal = true, .window = 30}, true},
          {"ragged batch", batch, {.window = 40, .lengths = {150, 60}}, false},
          {"documents", batch, {.causal = true, .documents = documents}, true}};
}

/// FIRE with a c and an L below 0: it has their magnitudes, and gradients of the other sign.
struct NegativeFire : FireMethod {
  static constexpr const char* name = "fire, c and L below 0";
  static std::vector<double> parameters(Numbers& numbers, const Positions& positions) {
    std::vector<double> x = FireMethod::parameters(numbers, positions);
    for (double& number : std::span(x).last(2)) number = -number;
    return x;
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(every_method_is_within_its_bounds) {
  for_each_method([](auto method) {
    std::uint64_t seed = 100;
    for (const Problem& problem : problems()) {
      expect_blocked_within_bounds<decltype(method)>(problem, ++seed);
    }
  });
}

BOOST_AUTO_TEST_CASE(so_is_fire_below_zero) {
  // From position 0 on: L has a gradient from the queries before |L L0|, which is below 3.
  expect_blocked_within_bounds<NegativeFire>(problems()[0], 31);
  expect_blocked_within_bounds<NegativeFire>(problems()[2], 32);
}

BOOST_AUTO_TEST_CASE(so_is_every_instruction_set) {
  for (const blocked::Kernels* kernels : blocked::available_kernels()) {
    blocked::use_kernels(*kernels);
    BOOST_TEST_CONTEXT(kernels->instruction_set) {
      expect_blocked_within_bounds<KCableMethod>(problems()[2], 7);
      expect_blocked_within_bounds<FireMethod>(problems()[4], 8);
      expect_blocked_within_bounds<KerpleLogMethod>(problems()[0], 9);
    }
  }
}

/// From 2048 keys on, few heads are cut into parts whose sums are merged.
BOOST_AUTO_TEST_CASE(sums_of_parts_of_the_keys_are_merged) {
  const Problem problem{"long", {1, 1, 1, 130, 2100, 2, 1970}, {.causal = true}, true};
  expect_blocked_within_bounds<GgdMethod>(problem, 11);
  expect_blocked_within_bounds<CableMethod>(problem, 12);
  expect_blocked_within_bounds<FireMethod>(problem, 13);
}

/// A bias that the tiles do not know goes through the scalar fallback.
BOOST_AUTO_TEST_CASE(so_is_a_bias_that_is_not_known) {
  struct Unknown {
    using Grad = Ggd<double>::Grad;
    Ggd<double> bias;
    double operator()(int i, int j) const { return bias(i, j); }
    Grad zero_grad() const { return bias.zero_grad(); }
    void accumulate_grad(Grad& grad, int i, int j, double by) const {
      bias.accumulate_grad(grad, i, j, by);
    }
  };
  const Problem problem = problems()[1];
  Numbers numbers(21);
  const Vector<double> inputs = lifted<double>(inputs_of<GgdMethod>(problem, numbers));
  const ReadProblem<double, GgdMethod> read(problem, inputs);
  const AttentionUpstream<double> upstream = any_upstream(problem.shape, numbers);
  const auto unknown = [&](int b, int h) { return Unknown{read.bias_of()(b, h)}; };
  static_assert(!blocked::depends_on_distance<Unknown>);
  const auto one = Blocked::attention_grad(read.inputs, unknown, upstream);
  const auto other = Blocked::attention_grad(read.inputs, read.bias_of(), upstream);
  const BlockedBounds bounds = BoundsOf<Ggd<double>>(read.inputs, read.bias_of(), upstream).bounds;
  // The scores have the same bits; the sums for the parameters another order.
  for (std::size_t n = 0; n < one.q.size(); ++n) {
    BOOST_TEST((one.q[n] == other.q[n]));
    const auto a = numbers_of<double>(one.bias[n]), b = numbers_of<double>(other.bias[n]);
    for (std::size_t m = 0; m < a.size(); ++m) {
      BOOST_TEST(!!(std::fabs(a[m] - b[m]) <= 2 * bounds.bias[n][m]));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
