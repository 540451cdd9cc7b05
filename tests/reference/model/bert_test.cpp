// SPDX-License-Identifier: Apache-2.0
#include "reference/model/bert.hpp"

#include <set>

#include "reference/model/bert_grad.hpp"
#include "reference/position/context_position.hpp"
#include "reference/position/learned_position.hpp"
#include "tests/reference/model/model_parameters.hpp"
#include "tests/reference/weighted.hpp"

BOOST_AUTO_TEST_SUITE(bert_test)

using namespace plumbline::reference;

namespace {

template <Real R>
using Parameters = BertParameters<R>;
using Double = Equations<double>;

BertConfiguration<> small_enough(int layers, int heads, int width) {
  BertConfiguration<> c{.layers = layers, .heads = heads, .width = width};
  c.intermediate = width + 1;
  c.vocabulary = 5;
  c.positions = 3;
  return c;
}

// Three tables and a LayerNorm; four linear layers, the feed-forward layer and two LayerNorms a
// layer; a linear layer, a LayerNorm and the decoder's bias.
std::int64_t count_by_hand(const BertConfiguration<>& c) {
  const std::int64_t C = c.width, M = c.intermediate, V = c.vocabulary;
  return (V + c.positions + c.token_types) * C + 2 * C +
         c.layers * (4 * (C * C + C) + C * M + M + M * C + C + 4 * C) + C * C + C + 2 * C + V;
}

// One layer without weights: attention and feed-forward layer add nothing, so the hidden state is
// LN(LN(LN(word + type + position))). With C = 2, epsilon = 3 and the sums (1, 3) and (6, 2), gamma
// 2 gives (-1, 1) and 2 (2, -2) / sqrt(7), the others have gamma 1.
BertConfiguration<> by_hand() {
  auto c = small_enough(1, 1, 2);
  c.epsilon = 3;
  return c;
}

Parameters<double> parameters_by_hand() {
  auto p = Parameters<double>::zero(by_hand());
  p.word.row(1) << 1, 2;
  p.token_type << 0, 1, 5, 0;
  p.positions.row(1) << 0, 0;
  p.positions.row(2) << 100, 200;
  p.embedding_norm.weight << 2, 2;
  p.layers[0].attention_norm.weight << 1, 1;
  p.layers[0].output_norm.weight << 1, 1;
  return p;
}

}  // namespace

BOOST_AUTO_TEST_CASE(bert_base_has_110_million_parameters) {
  const auto c = small_enough(2, 2, 4);
  BOOST_TEST(parameter_count(Parameters<double>::zero(c)) == count_by_hand(c));
  // BertForMaskedLM of bert-base-uncased: 109,482,240 of BERT with its pooler of C^2 + C = 590,592,
  // less the pooler, and 622,650 of the head.
  BOOST_TEST(count_by_hand(bert_base()) == 109'514'298);
}

BOOST_AUTO_TEST_CASE(parameters_have_the_names_of_hugging_face_once_each) {
  const auto p = Parameters<double>::zero(small_enough(2, 2, 4));
  std::set<std::string> names;
  int count = 0;
  for_each_parameter(p, [&](const std::string& name, const auto&) {
    names.insert(name);
    ++count;
  });
  BOOST_TEST(count == 5 + 2 * 16 + 5);
  BOOST_TEST(static_cast<int>(names.size()) == count);
  for (const char* name :
       {"bert.embeddings.word_embeddings.weight", "bert.embeddings.position_embeddings.weight",
        "bert.embeddings.token_type_embeddings.weight", "bert.embeddings.LayerNorm.bias",
        "bert.encoder.layer.1.attention.self.query.weight",
        "bert.encoder.layer.1.attention.self.key.bias",
        "bert.encoder.layer.1.attention.self.value.bias",
        "bert.encoder.layer.1.attention.output.dense.weight",
        "bert.encoder.layer.1.attention.output.LayerNorm.weight",
        "bert.encoder.layer.1.intermediate.dense.bias", "bert.encoder.layer.1.output.dense.weight",
        "bert.encoder.layer.1.output.LayerNorm.bias", "cls.predictions.transform.dense.weight",
        "cls.predictions.transform.LayerNorm.weight", "cls.predictions.bias"}) {
    BOOST_TEST(names.contains(name), name);
  }
}

BOOST_AUTO_TEST_CASE(every_sum_is_normalised_by_hand) {
  const auto state = bert_forward<Double>(by_hand(), parameters_by_hand(), {1, 1}, {0, 1});
  Matrix<double> sum(2, 2);
  sum << 1, 3, 6, 2;
  BOOST_TEST((state.embedding_sum == sum));
  // (-1, 1) has mean 0 and variance 1: each of the two LayerNorms halves 1, then divides 1/2 by
  // sqrt(1/4 + 3).
  BOOST_TEST(state.layers[0].input(0, 0) == -1);
  BOOST_TEST(state.layers[0].attention_sum(0, 1) == 1);
  BOOST_TEST(state.layers[0].output_sum(0, 1) == 0.5);
  BOOST_TEST(state.hidden(0, 0) == -0.5 / std::sqrt(3.25));
  BOOST_TEST(state.layers[0].input(1, 0) == 2 * (2 / std::sqrt(7.0)));
}

BOOST_AUTO_TEST_CASE(without_weights_the_head_gives_its_bias) {
  auto p = parameters_by_hand();
  p.decoder_bias << 1, 2, 3, 4, 5;
  const auto mlm = bert_mlm<Double>(by_hand(), p, zeros<double>(3, 2));
  for (int t = 0; t < 3; ++t) BOOST_TEST((mlm.logits.row(t).transpose() == p.decoder_bias));
}

BOOST_AUTO_TEST_CASE(padding_changes_nothing_for_the_tokens_before) {
  const auto c = small_enough(2, 2, 4);
  auto p = Parameters<double>::zero(c);
  const auto numbers =
      lifted<double>(Numbers(1).between(-0.3, 0.3, static_cast<int>(parameter_count(p))));
  Reader<double> reader(numbers);
  read_parameters(reader, p);
  const auto alone = bert_forward<Double>(c, p, {3, 1}, {0, 1});
  const auto padded = bert_forward<Double>(c, p, {3, 1, 4}, {0, 1, 1}, {.lengths = {2}});
  BOOST_TEST((padded.hidden.topRows(2) == alone.hidden));
  // Both directions: the first token sees the second.
  const auto other = bert_forward<Double>(c, p, {3, 2}, {0, 1});
  BOOST_TEST((other.hidden.row(0) != alone.hidden.row(0)));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const auto c = by_hand();
  const auto p = parameters_by_hand();
  BOOST_CHECK_THROW(bert_forward<Double>(c, p, {}, {}), std::invalid_argument);
  BOOST_CHECK_THROW(bert_forward<Double>(c, p, {1, 1}, {0}), std::invalid_argument);
  BOOST_CHECK_THROW(bert_forward<Double>(c, p, {5}, {0}), std::invalid_argument);
  BOOST_CHECK_THROW(bert_forward<Double>(c, p, {1}, {2}), std::invalid_argument);
  BOOST_CHECK_THROW(bert_forward<Double>(c, p, {1, 1, 1, 1}, {0, 0, 0, 0}), std::invalid_argument);
  auto other_layers = c;
  other_layers.layers = 2;
  BOOST_CHECK_THROW(bert_forward<Double>(other_layers, p, {1}, {0}), std::invalid_argument);
  auto grad = Parameters<double>::zero(other_layers);
  const auto state = bert_forward<Double>(c, p, {1}, {0});
  BOOST_CHECK_THROW(bert_grad<Double>(c, p, {1}, {0}, state, state.hidden, grad),
                    std::invalid_argument);
  for (int BertConfiguration<>::*size :
       {&BertConfiguration<>::layers, &BertConfiguration<>::intermediate,
        &BertConfiguration<>::vocabulary, &BertConfiguration<>::positions,
        &BertConfiguration<>::token_types}) {
    auto none = c;
    none.*size = 0;
    BOOST_CHECK_THROW(Parameters<double>::zero(none), std::invalid_argument);
  }
}

BOOST_AUTO_TEST_CASE(a_method_for_one_direction_is_refused) {
  const auto refused = [](const auto& position) {
    using Position = std::decay_t<decltype(position)>;
    BertConfiguration<Position> c{.layers = 1, .heads = 1, .width = 2, .position = position};
    c.intermediate = c.vocabulary = c.positions = 1;
    BOOST_CHECK_THROW((BertParameters<double, Position>::zero(c)), std::invalid_argument);
    BertParameters<double, Position> p;
    p.layers.resize(1);
    BOOST_CHECK_EXCEPTION(bert_forward<Double>(c, p, {0}, {0}), std::invalid_argument,
                          [](const auto& error) {
                            return std::string(error.what()).starts_with("position.causal_only()");
                          });
  };
  refused(FoxPosition());
  refused(t5_position(false, 4, 5));
  refused(TablePosition<ClippedDistance>{{}, {ClippedDistance(3)}});
  BOOST_TEST(!CablePosition().causal_only());
  BOOST_TEST(!t5_position(true).causal_only());
  BOOST_TEST(!TablePosition<ClippedOffset>({}, {ClippedOffset(3)}).causal_only());
}

BOOST_AUTO_TEST_CASE(a_mask_of_other_sequences_is_refused) {
  const auto p = parameters_by_hand();
  for (const Mask& mask : std::vector<Mask>{{.lengths = {-1}},
                                            {.lengths = {4}},
                                            {.lengths = {3, 3}},
                                            {.documents = {0, 0, 0, 1, 1, 1}}}) {
    BOOST_CHECK_THROW(bert_forward<Double>(by_hand(), p, {1, 1, 1}, {0, 0, 0}, mask),
                      std::invalid_argument);
  }
  for (const Mask& mask : std::vector<Mask>{{.lengths = {0}}, {.lengths = {3}}}) {
    BOOST_CHECK_NO_THROW(bert_forward<Double>(by_hand(), p, {1, 1, 1}, {0, 0, 0}, mask));
  }
}

BOOST_AUTO_TEST_CASE(layers_of_another_shape_are_refused) {
  const auto c = by_hand();
  const auto refused = [&](const auto& change) {
    auto p = parameters_by_hand();
    change(p.layers[0]);
    BOOST_CHECK_THROW(bert_forward<Double>(c, p, {1}, {0}), std::invalid_argument);
  };
  refused([](auto& layer) { layer.attention.projection.key.bias = {}; });
  refused([](auto& layer) { layer.attention.output.bias = {}; });
  refused([](auto& layer) { layer.intermediate.bias = {}; });
  refused([](auto& layer) {
    layer.intermediate = zero_linear<double>(4, 2);
    layer.output = zero_linear<double>(2, 4);
  });
}

BOOST_AUTO_TEST_CASE(readings_and_adjoint_agree) {
  const auto c = small_enough(1, 2, 4);
  const std::vector<int> ids{2, 0, 2}, types{0, 1, 1};
  const auto equation = [&](const auto& x) {
    using R = ScalarOf<decltype(x)>;
    Reader<R> reader(x);
    auto p = Parameters<R>::zero(c);
    read_parameters(reader, p);
    Writer<R> results;
    const auto state = bert_forward<Equations<R>>(c, p, ids, types);
    results.matrix(bert_mlm<Equations<R>>(c, p, state.hidden).logits);
    return results.result();
  };
  const auto adjoint = [&](const auto& x, const auto& upstream) {
    using R = ScalarOf<decltype(x)>;
    Reader<R> reader(x), grad_results(upstream);
    auto p = Parameters<R>::zero(c), grad = p;
    read_parameters(reader, p);
    const auto state = bert_forward<Equations<R>>(c, p, ids, types);
    const auto mlm = bert_mlm<Equations<R>>(c, p, state.hidden);
    const Matrix<R> grad_hidden = bert_mlm_grad<Equations<R>>(
        c, p, state.hidden, mlm, grad_results.matrix(3, c.vocabulary), grad);
    bert_grad<Equations<R>>(c, p, ids, types, state, grad_hidden, grad);
    Writer<R> results;
    write_parameters(results, grad);
    return results.result();
  };
  const auto count = static_cast<int>(count_by_hand(c));
  expect_readings_and_adjoint(equation, adjoint, Numbers(1).between(-0.5, 0.5, count), 1);
}

BOOST_AUTO_TEST_SUITE_END()
