// SPDX-License-Identifier: Apache-2.0
#include "reference/attention/attention_layer.hpp"

#include "reference/position/context_position.hpp"
#include "tests/reference/position/layer_readings.hpp"

BOOST_AUTO_TEST_SUITE(attention_layer_test)

using namespace plumbline::reference;

namespace {

using Double = Equations<double>;

Matrix<double> matrix(int rows, int columns, const std::vector<double>& numbers) {
  Matrix<double> x(rows, columns);
  for (Eigen::Index n = 0; n < x.size(); ++n) x.data()[n] = numbers[n];
  return x;
}

}  // namespace

BOOST_AUTO_TEST_CASE(heads_are_blocks_of_columns) {
  const Matrix<double> X = matrix(2, 6, {0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15});
  const auto heads = split_heads(X, 2, 2, 2);
  BOOST_TEST((heads[0] == matrix(2, 2, {2, 3, 12, 13})));
  BOOST_TEST((heads[1] == matrix(2, 2, {4, 5, 14, 15})));
  Matrix<double> merged = zeros<double>(2, 5);
  merge_heads(heads, merged, 1);
  BOOST_TEST((merged == matrix(2, 5, {0, 2, 3, 4, 5, 0, 12, 13, 14, 15})));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  BOOST_CHECK_THROW(check(HeadLayout{4, 3, 1}), std::invalid_argument);
  BOOST_CHECK_THROW(check(HeadLayout{4, 2, 0}), std::invalid_argument);
  BOOST_CHECK_THROW(check(HeadLayout{12, 3, 2}), std::invalid_argument);
  Matrix<double> X = zeros<double>(2, 4);
  BOOST_CHECK_THROW(split_heads(X, 1, 2, 2), std::invalid_argument);
  BOOST_CHECK_THROW(merge_heads({zeros<double>(2, 4)}, X, 1), std::invalid_argument);
  BOOST_CHECK_THROW(merge_heads({zeros<double>(3, 4)}, X, 0), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(parameters_for_other_heads_are_refused) {
  const HeadLayout two{4, 2, 1}, four{4, 4, 1};
  const CablePosition position;
  using Separate = AttentionLayerParameters<double, SeparateProjections<double>, CablePosition>;
  const auto p = Separate::zero(two, position, true, false);
  const Matrix<double> X = zeros<double>(3, 4);
  BOOST_CHECK_THROW(attention_layer<Double>(p, four, position, X, {}), std::invalid_argument);
  BOOST_CHECK_THROW(p.projection.heads<Double>(four, X), std::invalid_argument);
  const auto fused = FusedProjection<double>::zero(two, true);
  BOOST_CHECK_THROW(fused.heads<Double>(four, X), std::invalid_argument);
  auto other_position = p;
  other_position.position = position.zero_parameters<double>(4, 4);
  BOOST_CHECK_THROW(attention_layer<Double>(other_position, two, position, X, {}),
                    std::invalid_argument);
  auto other_ssmax = p;
  other_ssmax.ssmax_scale = zeros<double>(4);
  BOOST_CHECK_THROW(attention_layer<Double>(other_ssmax, two, position, X, {}),
                    std::invalid_argument);
}

// The output layer doubles. Head 0 attends with q = (1, 0), head 1 with q = (0, 0); both read the
// one head of keys (ln 3, 0) times sqrt(2), (0, 0): the last token's head 0 has probabilities 3/4
// and 1/4, head 1 halves. Values are (4, 8) and (0, 0). The first token sees itself alone.
BOOST_AUTO_TEST_CASE(two_heads_that_share_keys_and_values_by_hand) {
  const HeadLayout layout{4, 2, 1};
  const NopePosition position;
  using Parameters = AttentionLayerParameters<double, SeparateProjections<double>, NopePosition>;
  auto p = Parameters::zero(layout, position, true, false);
  p.projection.query.bias[0] = 1;
  p.projection.key.weight(0, 0) = std::log(3.0) * std::sqrt(2.0);
  p.projection.value.weight(0, 0) = 4;
  p.projection.value.weight(1, 0) = 8;
  p.output.weight.diagonal().setConstant(2);
  const auto state =
      attention_layer<Double>(p, layout, position, matrix(2, 4, {1, 0, 0, 0, 0, 0, 0, 0}), {true});
  const Matrix<double> expected = matrix(2, 4, {8, 16, 8, 16, 6, 12, 4, 8});
  // The logit ln 3 is off by the three roundings of its product and its scale, e^x thus by as much,
  // 4 u ln 3, and 2 ulp; the quotient, the sums and products have a few u each: 16 u in all.
  BOOST_TEST(
      ((state.result - expected).cwiseAbs().array() <= 16 * 0x1p-53 * expected.array()).all());
}

BOOST_AUTO_TEST_CASE(fused_and_separate_projections_are_the_same) {
  const HeadLayout layout{4, 2, 1};
  Numbers numbers(1);
  const auto fused_weight = matrix(8, 4, numbers.between(-1, 1, 32));
  const auto bias = lifted<double>(numbers.between(-1, 1, 8));
  const FusedProjection<double> fused{{fused_weight, bias}};
  const SeparateProjections<double> separate{{fused_weight.topRows(4), bias.head(4)},
                                             {fused_weight.middleRows(4, 2), bias.segment(4, 2)},
                                             {fused_weight.bottomRows(2), bias.tail(2)}};
  const auto X = matrix(3, 4, numbers.between(-1, 1, 12));
  const auto one = fused.heads<Double>(layout, X), three = separate.heads<Double>(layout, X);
  BOOST_TEST((one.q == three.q && one.k == three.k && one.v == three.v));

  auto fused_grad = FusedProjection<double>::zero(layout, true);
  auto separate_grad = SeparateProjections<double>::zero(layout, true);
  // Whole numbers, so that sums in another order are the same.
  const auto whole = matrix(3, 4, {1, 2, -1, 0, 3, 1, 2, 0, -2, 1, 1, 1});
  const Heads<double> upstream{
      {whole.leftCols(2), whole.rightCols(2)}, {whole.leftCols(2)}, {whole.middleCols(1, 2)}};
  FusedProjection<double> whole_fused = fused;
  whole_fused.qkv.weight = (8 * fused_weight).array().round();
  const SeparateProjections<double> whole_separate{
      {whole_fused.qkv.weight.topRows(4), bias.head(4)},
      {whole_fused.qkv.weight.middleRows(4, 2), bias.segment(4, 2)},
      {whole_fused.qkv.weight.bottomRows(2), bias.tail(2)}};
  const Matrix<double> by_fused =
      whole_fused.heads_grad<Double>(layout, whole, upstream, fused_grad);
  const Matrix<double> by_separate =
      whole_separate.heads_grad<Double>(layout, whole, upstream, separate_grad);
  BOOST_TEST((by_fused == by_separate));
  BOOST_TEST((fused_grad.qkv.weight.topRows(4) == separate_grad.query.weight));
  BOOST_TEST((fused_grad.qkv.weight.middleRows(4, 2) == separate_grad.key.weight));
  BOOST_TEST((fused_grad.qkv.weight.bottomRows(2) == separate_grad.value.weight));
  BOOST_TEST((fused_grad.qkv.bias.tail(2) == separate_grad.value.bias));
}

BOOST_AUTO_TEST_CASE(alibi_and_ssmax_in_a_layer_with_a_document_mask) {
  // Rows of the second document see one and two keys: ln 1 = 0 is one of SSMax's factors.
  const LayerProblem<AlibiPosition> problem{
      {}, true, {4, 2, 2}, {.causal = true, .documents = {1, 2, 2}}};
  Numbers numbers(1);
  expect_layer_is_right(problem, problem.inputs(numbers, around_zero), 1);
}

BOOST_AUTO_TEST_SUITE_END()
