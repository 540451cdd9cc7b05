// SPDX-License-Identifier: Apache-2.0
#include "reference/model/gpt2.hpp"

#include <set>

#include "reference/model/gpt2_grad.hpp"
#include "tests/reference/model/model_parameters.hpp"
#include "tests/reference/weighted.hpp"

BOOST_AUTO_TEST_SUITE(gpt2_test)

using namespace plumbline::reference;

namespace {

template <Real R>
using Parameters = Gpt2Parameters<R>;
using Double = Equations<double>;

Gpt2Configuration<> small_enough(int layers, int heads, int width, int vocabulary, int positions) {
  Gpt2Configuration<> c = gpt2(layers, heads, width);
  c.vocabulary = vocabulary;
  c.positions = positions;
  return c;
}

// Embeddings, C to 3C, C to C, C to 4C and back with their biases, 2 LayerNorms a layer, one more.
std::int64_t count_by_hand(std::int64_t L, std::int64_t C, std::int64_t V, std::int64_t P) {
  return V * C + P * C + L * ((3 + 1 + 4 + 4) * C * C + (3 + 1 + 4 + 1) * C + 4 * C) + 2 * C;
}

std::int64_t count_by_hand(const Gpt2Configuration<>& c) {
  return count_by_hand(c.layers, c.width, c.vocabulary, c.positions);
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_sizes_of_the_paper_have_their_number_of_parameters) {
  const auto count = [](const auto& c) { return parameter_count(Parameters<double>::zero(c)); };
  const auto c = small_enough(2, 2, 6, 7, 5);
  BOOST_TEST(count(c) == count_by_hand(c));
  BOOST_TEST(count(gpt2_tiny()) == count_by_hand(gpt2_tiny()));

  // CABLE, section 4.1, prints 44M, 124M and 334M. The medium size has 355M, as everywhere else
  // (with its 16 heads, 24 layers and width 1024); the tiny one 45M, or 44.7M without positions.
  BOOST_TEST(count_by_hand(gpt2_tiny()) == 45'195'264);
  BOOST_TEST(count_by_hand(gpt2_small()) == 124'475'904);
  BOOST_TEST(count_by_hand(gpt2_medium()) == 354'871'296);
  // What OpenAI published: 50257 tokens, without the padding.
  BOOST_TEST(count_by_hand(12, 768, 50257, 1024) == 124'439'808);
}

BOOST_AUTO_TEST_CASE(parameters_have_the_names_of_hugging_face_once_each) {
  const auto p = Parameters<double>::zero(small_enough(2, 1, 2, 3, 4));
  std::vector<std::string> names;
  for_each_parameter(p, [&](const std::string& name, const auto&) { names.push_back(name); });
  const std::vector<std::string> first{"transformer.wte.weight",
                                       "transformer.wpe.weight",
                                       "transformer.h.0.ln_1.weight",
                                       "transformer.h.0.ln_1.bias",
                                       "transformer.h.0.attn.c_attn.weight",
                                       "transformer.h.0.attn.c_attn.bias",
                                       "transformer.h.0.attn.c_proj.weight",
                                       "transformer.h.0.attn.c_proj.bias",
                                       "transformer.h.0.ln_2.weight",
                                       "transformer.h.0.ln_2.bias",
                                       "transformer.h.0.mlp.c_fc.weight",
                                       "transformer.h.0.mlp.c_fc.bias",
                                       "transformer.h.0.mlp.c_proj.weight",
                                       "transformer.h.0.mlp.c_proj.bias"};
  BOOST_TEST_REQUIRE(names.size() == 2 + 2 * 12 + 2);
  BOOST_TEST((std::vector(names.begin(), names.begin() + 14) == first));
  BOOST_TEST(names.back() == "transformer.ln_f.bias");
  BOOST_TEST((std::set(names.begin(), names.end()).size() == names.size()));
}

BOOST_AUTO_TEST_CASE(without_weights_every_token_is_equally_likely) {
  const auto c = small_enough(1, 2, 4, 5, 3);
  const auto p = Parameters<double>::zero(c);
  auto grad = p;
  const std::vector<int> ids{1, 4, 0};
  BOOST_TEST(gpt2_loss_grad<Double>(c, p, ids, next_tokens(ids), {}, 1.0, grad) == std::log(5.0));
}

namespace {

// Tokens (1, 3) and (3, 1), mean 2 and variance 1; with epsilon = 3 and gamma = 2, LayerNorm gives
// (-1, 1) and (1, -1). Queries and keys are 0, values and attention's output the input itself: each
// token gets the mean of the LayerNorms up to it, (-1, 1) and (0, 0). The MLP's first hidden unit
// is 64, which GELU leaves as it is, the others 0; it adds (1, -1).
Gpt2Configuration<> by_hand() {
  auto c = small_enough(1, 1, 2, 2, 2);
  c.epsilon = 3;
  return c;
}

Parameters<double> parameters_by_hand() {
  auto p = Parameters<double>::zero(by_hand());
  p.wte << 1, 3, 3, 1;
  Gpt2Block<double>& block = p.blocks[0];
  for (auto* n : {&block.ln_1, &block.ln_2, &p.ln_f}) n->weight << 2, 2;
  block.attention.projection.qkv.weight.bottomRows(2) << 1, 0, 0, 1;
  block.attention.output.weight << 1, 0, 0, 1;
  block.c_fc.bias[0] = 64;
  block.c_proj.weight.col(0) << 1 / 64.0, -1 / 64.0;
  return p;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_block_by_hand) {
  const auto state = gpt2_forward<Double>(by_hand(), parameters_by_hand(), {0, 1});
  Matrix<double> middle(2, 2), output(2, 2), hidden(2, 2), logits(2, 2);
  middle << 1 - 1, 3 + 1, 3 + 0, 1 + 0;
  output << 1, 3, 4, 0;
  BOOST_TEST((state.blocks[0].middle == middle));
  BOOST_TEST((state.output == output));
  // The second token: mean 2, variance 4, 2 (4 - 2) / sqrt(4 + 3).
  const double x = 2 * (2 / std::sqrt(7.0));
  hidden << -1, 1, x, -x;
  BOOST_TEST((state.hidden == hidden));
  logits << -1 + 3, -3 + 1, x - 3 * x, 3 * x - x;
  BOOST_TEST((gpt2_logits<Double>(parameters_by_hand(), state.hidden) == logits));
}

BOOST_AUTO_TEST_CASE(positions_are_added_to_the_embeddings) {
  auto c = by_hand();
  auto p = parameters_by_hand();
  p.wpe << 0, 0, 10, 20;
  const auto state = gpt2_forward<Double>(c, p, {0, 1});
  BOOST_TEST((state.blocks[0].input.row(1) == Eigen::RowVector2d(13, 21)));
  BOOST_TEST((gpt2_embedding(c, p, {1}, 1) == Eigen::RowVector2d(13, 21)));

  // P_1 = (sin 1, cos 1), times the amplitude.
  c.embedding.kind = EmbeddedPositions::sinusoidal;
  c.embedding.amplitude = 0.5;
  const Matrix<double> X = gpt2_embedding(c, p, {1}, 1);
  BOOST_TEST(X(0, 0) == 3 + 0.5 * std::sin(1.0));
  BOOST_TEST(X(0, 1) == 1 + 0.5 * std::cos(1.0));
}

BOOST_AUTO_TEST_CASE(a_token_sees_its_own_document_alone) {
  // The second token, of another document, sees itself: (3, 1) + (1, -1).
  const Mask mask{.documents = {7, 8}};
  const auto state = gpt2_forward<Double>(by_hand(), parameters_by_hand(), {0, 1}, mask);
  BOOST_TEST((state.blocks[0].middle.row(1) == Eigen::RowVector2d(4, 0)));
}

BOOST_AUTO_TEST_CASE(the_last_token_has_no_next) {
  BOOST_TEST((next_tokens({3, 1, 2}) == Targets{1, 2, std::nullopt}));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const auto c = by_hand();
  const auto p = parameters_by_hand();
  BOOST_CHECK_THROW(gpt2_forward<Double>(c, p, {}), std::invalid_argument);
  BOOST_CHECK_THROW(gpt2_forward<Double>(c, p, {2}), std::invalid_argument);
  BOOST_CHECK_THROW(gpt2_forward<Double>(c, p, {0, 0, 0}), std::invalid_argument);
  BOOST_CHECK_THROW(Parameters<double>::zero(small_enough(0, 1, 2, 3, 4)), std::invalid_argument);
  BOOST_CHECK_THROW(Parameters<double>::zero(small_enough(1, 3, 4, 3, 4)), std::invalid_argument);
  BOOST_CHECK_THROW(Parameters<double>::zero(small_enough(1, 1, 2, 0, 4)), std::invalid_argument);
  BOOST_CHECK_THROW(Parameters<double>::zero(small_enough(1, 1, 2, 3, 0)), std::invalid_argument);
  auto other_layers = c;
  other_layers.layers = 2;
  BOOST_CHECK_THROW(gpt2_forward<Double>(other_layers, p, {0}), std::invalid_argument);
  auto grad = Parameters<double>::zero(other_layers);
  const auto state = gpt2_forward<Double>(c, p, {0});
  BOOST_CHECK_THROW(gpt2_grad<Double>(c, p, {0}, state, state.hidden, grad), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(blocks_of_another_shape_are_refused) {
  const auto refused = [](const auto& change) {
    auto p = parameters_by_hand();
    change(p.blocks[0]);
    BOOST_CHECK_THROW(gpt2_forward<Double>(by_hand(), p, {0}), std::invalid_argument);
  };
  // A layer may be without bias, but not GPT-2's.
  refused([](auto& block) { block.attention.projection.qkv.bias = {}; });
  refused([](auto& block) { block.attention.output.bias = {}; });
  refused([](auto& block) { block.c_fc.bias = {}; });
  refused([](auto& block) { block.c_proj.bias = {}; });
  refused([](auto& block) {
    block.c_fc = zero_linear<double>(9, 2);
    block.c_proj = zero_linear<double>(2, 9);
  });
  refused([](auto& block) { block.attention.ssmax_scale = zeros<double>(1); });
}

BOOST_AUTO_TEST_CASE(readings_and_adjoint_agree) {
  const auto c = small_enough(2, 2, 4, 5, 3);
  const std::vector<int> ids{2, 0, 2};  // one token twice
  const auto equation = [&](const auto& x) {
    using R = ScalarOf<decltype(x)>;
    Reader<R> reader(x);
    auto p = Parameters<R>::zero(c);
    read_parameters(reader, p);
    Writer<R> results;
    results.matrix(gpt2_logits<Equations<R>>(p, gpt2_forward<Equations<R>>(c, p, ids).hidden));
    return results.result();
  };
  const auto adjoint = [&](const auto& x, const auto& upstream) {
    using R = ScalarOf<decltype(x)>;
    Reader<R> reader(x), grad_results(upstream);
    auto p = Parameters<R>::zero(c), grad = p;
    read_parameters(reader, p);
    const auto state = gpt2_forward<Equations<R>>(c, p, ids);
    const Matrix<R> grad_logits = grad_results.matrix(3, c.vocabulary);
    gpt2_grad<Equations<R>>(
        c, p, ids, state, gpt2_logits_grad<Equations<R>>(p, state.hidden, grad_logits, grad), grad);
    Writer<R> results;
    write_parameters(results, grad);
    return results.result();
  };
  const auto count = static_cast<int>(count_by_hand(c));
  expect_readings_and_adjoint(equation, adjoint, Numbers(1).between(-0.3, 0.3, count), 1);
}

BOOST_AUTO_TEST_CASE(the_loss_s_adjoint_agrees) {
  const auto c = small_enough(1, 1, 2, 3, 3);
  const std::vector<int> ids{2, 0, 2};
  const auto loss_and_grad = [&](const auto& x, auto& loss) {
    using R = ScalarOf<decltype(x)>;
    Reader<R> reader(x);
    auto p = Parameters<R>::zero(c), grad = p;
    read_parameters(reader, p);
    loss = gpt2_loss_grad<Equations<R>>(c, p, ids, next_tokens(ids), {}, R(1.5), grad);
    Writer<R> results;
    write_parameters(results, grad);
    return results.result();
  };
  expect_adjoint(
      [&](const auto& x) {
        using R = ScalarOf<decltype(x)>;
        R loss(0.0);
        loss_and_grad(x, loss);
        return Vector<R>(Vector<R>::Constant(1, R(1.5) * loss));
      },
      [&](const auto& x) {
        ScalarOf<decltype(x)> unused(0.0);
        return loss_and_grad(x, unused);
      },
      Numbers(2).between(-0.5, 0.5, static_cast<int>(count_by_hand(c))));
}

BOOST_AUTO_TEST_SUITE_END()
