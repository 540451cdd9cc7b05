// SPDX-License-Identifier: Apache-2.0
#include "reference/model/llama_style.hpp"

#include <set>

#include "reference/model/llama_style_grad.hpp"
#include "reference/position/learned_position.hpp"
#include "tests/reference/model/model_parameters.hpp"
#include "tests/reference/weighted.hpp"

BOOST_AUTO_TEST_SUITE(llama_style_test)

using namespace plumbline::reference;

namespace {

template <Real R, class Position = GgdPosition>
using Parameters = LlamaStyleParameters<R, Position>;
using Double = Equations<double>;

template <class Position>
LlamaStyleConfiguration<Position> small_enough(Position position) {
  return {.layers = 1,
          .heads = 2,
          .kv_heads = 1,
          .width = 4,
          .hidden = 3,
          .vocabulary = 5,
          .position = position};
}

/// The two tables, 4 C^2 of attention with a key and value head for each query head, 3 C hidden of
/// SwiGLU, 2 RMSNorms a layer and one more; the prior's 3 numbers a head.
struct Count {
  std::int64_t embedding, transformer, prior;
};
Count count_by_hand(const LlamaStyleConfiguration<GgdPosition>& c) {
  const std::int64_t C = c.width, table = c.vocabulary * C;
  return {table, c.layers * (4 * C * C + 3 * C * c.hidden + 2 * C) + C + table,
          std::int64_t{3} * c.heads * c.layers};
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_sizes_of_the_paper_have_their_number_of_parameters) {
  auto c = small_enough(GgdPosition());
  c.kv_heads = 2;
  const Count small = count_by_hand(c);
  BOOST_TEST(parameter_count(Parameters<double>::zero(c)) ==
             small.embedding + small.transformer + small.prior);

  // BAM, table 1: ~25M, ~50M, ~67M in the embedding, ~95M, ~380M, ~1B in the transformer (its head
  // among them), 576, 1008, 1440 in the prior.
  const Count first = count_by_hand(bam_120m(GgdPosition()));
  BOOST_TEST(first.embedding == 25'165'824);
  BOOST_TEST(first.transformer == 95'963'904);
  BOOST_TEST(first.prior == 576);
  const Count second = count_by_hand(bam_432m(GgdPosition()));
  BOOST_TEST(second.embedding == 50'331'648);
  BOOST_TEST(second.transformer == 380'677'632);
  BOOST_TEST(second.prior == 1008);
  const Count third = count_by_hand(bam_1b(GgdPosition()));
  BOOST_TEST(third.embedding == 67'108'864);
  BOOST_TEST(third.transformer == 1'073'805'312);
  BOOST_TEST(third.prior == 1440);
}

BOOST_AUTO_TEST_CASE(parameters_have_the_names_of_hugging_face_once_each) {
  const auto p = Parameters<double, NopePosition>::zero(small_enough(NopePosition()));
  std::set<std::string> names;
  for_each_parameter(p, [&](const std::string& name, const auto&) { names.insert(name); });
  const std::string layer = "model.layers.0.";
  const std::set<std::string> expected{"model.embed_tokens.weight",
                                       layer + "input_layernorm.weight",
                                       layer + "self_attn.q_proj.weight",
                                       layer + "self_attn.k_proj.weight",
                                       layer + "self_attn.v_proj.weight",
                                       layer + "self_attn.o_proj.weight",
                                       layer + "post_attention_layernorm.weight",
                                       layer + "mlp.gate_proj.weight",
                                       layer + "mlp.up_proj.weight",
                                       layer + "mlp.down_proj.weight",
                                       "model.norm.weight",
                                       "lm_head.weight"};
  BOOST_TEST(names == expected);
}

// Token (1, 3), whose mean square is 5; with epsilon = 4, RMSNorm divides by 3. Its gamma 3 gives
// (1, 3) again. Values and attention's output are the input itself: m = (2, 6), mean square 20; the
// MLP's norm has gamma sqrt(24), so it gives (2, 6). gate = 2 * 64 and up = 6: silu(128) 6 = 768;
// down divides by 768 and adds (1, 0). The last norm of (3, 6): mean square 22.5.
BOOST_AUTO_TEST_CASE(a_layer_by_hand) {
  LlamaStyleConfiguration<NopePosition> c{.layers = 1,
                                          .heads = 1,
                                          .kv_heads = 1,
                                          .width = 2,
                                          .hidden = 1,
                                          .vocabulary = 2,
                                          .epsilon = 4};
  auto p = Parameters<double, NopePosition>::zero(c);
  p.embedding.row(1) << 1, 3;
  auto& layer = p.layers[0];
  layer.attention_norm.weight << 3, 3;
  layer.attention.projection.value.weight << 1, 0, 0, 1;
  layer.attention.output.weight << 1, 0, 0, 1;
  layer.mlp_norm.weight << std::sqrt(24.0), std::sqrt(24.0);
  layer.gate.weight << 64, 0;
  layer.up.weight << 0, 1;
  layer.down.weight << 1 / 768.0, 0;
  p.norm.weight << 1, 1;
  p.head << 1, 0, 0, 2;

  const auto state = llama_style_forward<Double>(c, p, {1});
  BOOST_TEST((state.layers[0].middle == Eigen::RowVector2d(2, 6)));
  BOOST_TEST(state.layers[0].up(0, 0) == 6);
  // sqrt(24) (2 / sqrt(24)) and 1/768 are rounded: two roundings in gate and in up, three more in
  // the product and its share.
  BOOST_TEST(std::fabs(state.output(0, 0) - 3) <= 8 * 0x1p-53 * 3);
  BOOST_TEST(state.output(0, 1) == 6);
  const auto logits = llama_style_logits<Double>(p, state.hidden);
  BOOST_TEST(logits(0, 1) == 2 * (6 / std::sqrt(22.5 + 4)));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const auto c = small_enough(NopePosition());
  using P = Parameters<double, NopePosition>;
  const auto p = P::zero(c);
  BOOST_CHECK_THROW(llama_style_forward<Double>(c, p, {}), std::invalid_argument);
  BOOST_CHECK_THROW(llama_style_forward<Double>(c, p, {5}), std::invalid_argument);
  auto other_layers = c;
  other_layers.layers = 2;
  BOOST_CHECK_THROW(llama_style_forward<Double>(other_layers, p, {0}), std::invalid_argument);
  auto grad = P::zero(other_layers);
  const auto state = llama_style_forward<Double>(c, p, {0});
  BOOST_CHECK_THROW(llama_style_grad<Double>(c, p, {0}, state, state.hidden, grad),
                    std::invalid_argument);
  using C = LlamaStyleConfiguration<NopePosition>;
  for (int C::*size :
       {&C::layers, &C::heads, &C::kv_heads, &C::hidden, &C::vocabulary, &C::positions}) {
    auto none = c;
    none.*size = 0;
    BOOST_CHECK_THROW(P::zero(none), std::invalid_argument);
  }
  BOOST_CHECK_THROW(swiglu(zeros<double>(1, 2), zeros<double>(2, 1)), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(layers_of_another_shape_are_refused) {
  const auto c = small_enough(NopePosition());
  const auto refused = [&](const auto& change) {
    auto p = Parameters<double, NopePosition>::zero(c);
    change(p.layers[0]);
    BOOST_CHECK_THROW(llama_style_forward<Double>(c, p, {0}), std::invalid_argument);
  };
  const int C = c.width, M = c.hidden;
  // No linear layer has a bias.
  refused([&](auto& layer) { layer.attention.projection.query.bias = zeros<double>(C); });
  refused([&](auto& layer) { layer.attention.output.bias = zeros<double>(C); });
  refused([&](auto& layer) { layer.gate.bias = layer.up.bias = zeros<double>(M); });
  refused([&](auto& layer) { layer.down.bias = zeros<double>(C); });
  refused([&](auto& layer) {
    layer.gate = layer.up = zero_linear<double>(M + 1, C, false);
    layer.down = zero_linear<double>(C, M + 1, false);
  });
}

BOOST_AUTO_TEST_CASE(readings_and_adjoint_agree) {
  auto c = small_enough(GgdPosition());
  c.ssmax = true;
  c.embedding.kind = EmbeddedPositions::learnable;
  c.positions = 3;
  const std::vector<int> ids{2, 0, 2};
  const Mask mask{.documents = {1, 1, 1}};
  const auto equation = [&](const auto& x) {
    using R = ScalarOf<decltype(x)>;
    Reader<R> reader(x);
    auto p = Parameters<R>::zero(c);
    read_parameters(reader, p);
    Writer<R> results;
    results.matrix(llama_style_logits<Equations<R>>(
        p, llama_style_forward<Equations<R>>(c, p, ids, mask).hidden));
    return results.result();
  };
  const auto adjoint = [&](const auto& x, const auto& upstream) {
    using R = ScalarOf<decltype(x)>;
    Reader<R> reader(x), grad_results(upstream);
    auto p = Parameters<R>::zero(c), grad = p;
    read_parameters(reader, p);
    const auto state = llama_style_forward<Equations<R>>(c, p, ids, mask);
    const Matrix<R> grad_hidden = llama_style_logits_grad<Equations<R>>(
        p, state.hidden, grad_results.matrix(3, c.vocabulary), grad);
    llama_style_grad<Equations<R>>(c, p, ids, state, grad_hidden, grad);
    Writer<R> results;
    write_parameters(results, grad);
    return results.result();
  };
  const auto count = static_cast<int>(parameter_count(Parameters<double>::zero(c)));
  expect_readings_and_adjoint(equation, adjoint, Numbers(1).between(-0.5, 0.5, count), 1);
}

BOOST_AUTO_TEST_SUITE_END()
