// SPDX-License-Identifier: Apache-2.0
// GPT-2 on the tier of real size, held against the equations where both can be read.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "reference/blocked/tier.hpp"
#include "reference/model/decode.hpp"
#include "reference/model/gpt2_grad.hpp"
#include "reference/position/context_position.hpp"
#include "reference/scalars/running_error.hpp"
#include "tests/reference/model/model_parameters.hpp"
#include "tests/reference/numbers.hpp"

BOOST_AUTO_TEST_SUITE(gpt2_blocked_test)

using namespace plumbline::reference;

namespace {

/// Gammas around 1, and tokens far from constant, so that LayerNorm divides by no small number, and
/// bounds stay small. CABLE's increments, of inputs of norm sqrt(8), are positive: where they are
/// 0, S_i = S_j, the kink of |.|, and a running error bounds nothing.
template <class Parameters>
Parameters filled(Parameters p) {
  Numbers numbers(1);
  for_each_parameter(p, [&](const std::string& name, auto& tensor) {
    double centre = 0, most = 0.1;
    if (name.find(".ln_") != name.npos && name.ends_with("weight")) centre = 1;
    if (name.ends_with("wte.weight")) most = 2;
    if (name.ends_with("increment.bias")) centre = 0.7;
    if (name.ends_with("increment.weight")) most = 0.03;
    for (Eigen::Index n = 0; n < tensor.size(); ++n) {
      using R = std::remove_cvref_t<decltype(tensor.data()[0])>;
      tensor.data()[n] = R(centre + numbers.between(-most, most));
    }
  });
  return p;
}

std::vector<int> tokens(int count, int vocabulary) {
  Numbers numbers(2);
  std::vector<int> ids(count);
  for (int& id : ids) id = static_cast<int>(numbers.between(0, vocabulary));
  return ids;
}

/// |blocked - equation| <= |blocked - exact| + |exact - equation|. The second is at most E, the
/// equation's running error. Step by step, the blocked tier is off by no more than four times what
/// the running error adds for the same step: its bound of a sum holds for every order of the terms
/// and for fused products; e^x is off by 3 u instead of 2 u; a streaming softmax rescales by one
/// more e^x; the backward pass has its probabilities from the LSE, by one more subtraction. Errors
/// propagate by the same derivatives in both, so the first is at most 4 E, but for terms of second
/// order, which 1.02 covers.
constexpr double bounds = 1.02 * (1 + 4);

class Comparison {
 public:
  void add(const std::string& name, double blocked, const RunningError& equation) {
    const double error = std::fabs(blocked - equation.value()), bound = bounds * equation.error();
    BOOST_TEST((error <= bound),
               name << ": " << blocked << " and " << equation.value() << ", bound " << bound);
    // No wrong term is that small.
    BOOST_TEST((bound <= 0x1p-24 * (1 + std::fabs(blocked))), name << ": bound " << bound);
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(it_agrees_with_the_equations) {
  // More tokens than a tile has keys or rows, and no whole number of tiles.
  const int count = 150;
  auto c = gpt2(1, 2, 8, CablePosition());
  c.vocabulary = 11;
  c.ssmax = true;
  const auto ids = tokens(count, c.vocabulary);
  using Rounded = Gpt2Parameters<RunningError, CablePosition>;
  using Plain = Gpt2Parameters<double, CablePosition>;
  const Rounded rounded = filled(Rounded::zero(c));
  const Plain plain = filled(Plain::zero(c));
  Rounded rounded_grad = Rounded::zero(c);
  Plain plain_grad = Plain::zero(c);
  const RunningError loss = gpt2_loss_grad<Equations<RunningError>>(
      c, rounded, ids, next_tokens(ids), {}, RunningError(1.0), rounded_grad);
  Comparison comparison;
  comparison.add(
      "loss", gpt2_loss_grad<Blocked>(c, plain, ids, next_tokens(ids), {}, 1.0, plain_grad), loss);
  std::vector<RunningError> expected;
  for_each_parameter(rounded_grad, [&](const std::string&, const auto& tensor) {
    expected.insert(expected.end(), tensor.data(), tensor.data() + tensor.size());
  });
  std::size_t at = 0;
  for_each_parameter(plain_grad, [&](const std::string& name, const auto& tensor) {
    for (Eigen::Index n = 0; n < tensor.size(); ++n) {
      comparison.add(name, tensor.data()[n], expected[at++]);
    }
  });
  BOOST_TEST(at == expected.size());
}

BOOST_AUTO_TEST_CASE(decoding_agrees_with_the_whole_within_rounding) {
  auto c = gpt2(1, 2, 8, CablePosition());
  c.vocabulary = 11;
  const auto ids = tokens(100, c.vocabulary);
  using Rounded = Gpt2Parameters<RunningError, CablePosition>;
  using Plain = Gpt2Parameters<double, CablePosition>;
  const Rounded rounded = filled(Rounded::zero(c));
  const Plain plain = filled(Plain::zero(c));
  const auto whole = gpt2_logits<Equations<RunningError>>(
      rounded, gpt2_forward<Equations<RunningError>>(c, rounded, ids).hidden);
  DecodingCache<double, CablePosition> cache;
  Matrix<double> decoded;
  append_rows(decoded, gpt2_decode<Blocked>(c, plain, {ids.begin(), ids.begin() + 90}, cache));
  for (int t = 90; t < 100; ++t) {
    append_rows(decoded, gpt2_decode<Blocked>(c, plain, {ids[t]}, cache));
  }
  Comparison comparison;
  for (Eigen::Index n = 0; n < whole.size(); ++n) {
    comparison.add("logit " + std::to_string(n), decoded.data()[n], whole.data()[n]);
  }
}

BOOST_AUTO_TEST_SUITE_END()
