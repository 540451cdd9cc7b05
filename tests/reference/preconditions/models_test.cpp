// SPDX-License-Identifier: Apache-2.0
// What whole models refuse: sizes and ids, which are integers and no scalars. So they are read in
// double alone; what their layers refuse, in every reading, is in layers_test.cpp and others.
#include <boost/test/unit_test.hpp>

#include "reference/model/bert_grad.hpp"
#include "reference/model/decode.hpp"
#include "reference/model/gpt2_grad.hpp"
#include "reference/model/llama_style_grad.hpp"
#include "reference/position/context_position.hpp"
#include "reference/scalars/double.hpp"

BOOST_AUTO_TEST_SUITE(models_test)

using namespace plumbline::reference;
using Double = Equations<double>;

namespace {

template <class Call>
void expect_refused(const std::string& message, const Call& call) {
  std::string thrown = "nothing thrown";
  try {
    call();
  } catch (const std::invalid_argument& error) {
    thrown = error.what();
  }
  BOOST_TEST(thrown == message);
}

using Position = CablePosition;

Gpt2Configuration<Position> small_gpt2() {
  Gpt2Configuration<Position> c = gpt2(2, 2, 4, Position());
  c.vocabulary = 3;
  return c;
}

LlamaStyleConfiguration<Position> small_llama_style() {
  return {.layers = 2, .heads = 2, .kv_heads = 1, .width = 4, .hidden = 4, .vocabulary = 3};
}

BertConfiguration<Position> small_bert() {
  BertConfiguration<Position> c = bert_base(Position());
  c.layers = 2, c.heads = 2, c.width = 4, c.intermediate = 8, c.vocabulary = 3, c.positions = 4;
  return c;
}

/// Every size of a configuration, made `value` by `change`.
template <class Parameters, class Configuration, class Change>
void expect_size_refused(const std::string& message, Configuration c, const Change& change) {
  change(c);
  expect_refused(message, [&] { Parameters::zero(c); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_configuration_without_some_size_is_refused) {
  using Gpt2 = Gpt2Parameters<double, Position>;
  const auto gpt2 = [](const std::string& message, const auto& change) {
    expect_size_refused<Gpt2>(message, small_gpt2(), change);
  };
  gpt2("layers is 0; expected at least 1", [](auto& c) { c.layers = 0; });
  gpt2("vocabulary is 0; expected at least 1", [](auto& c) { c.vocabulary = 0; });
  gpt2("positions is -1; expected at least 1", [](auto& c) { c.positions = -1; });
  gpt2("kv_heads is 0; expected at least 1", [](auto& c) { c.heads = 0; });
  gpt2("width is 4; expected a multiple of heads", [](auto& c) { c.heads = 3; });

  using Bert = BertParameters<double, Position>;
  const auto bert = [](const std::string& message, const auto& change) {
    expect_size_refused<Bert>(message, small_bert(), change);
  };
  bert("layers is 0; expected at least 1", [](auto& c) { c.layers = 0; });
  bert("intermediate is 0; expected at least 1", [](auto& c) { c.intermediate = 0; });
  bert("vocabulary is 0; expected at least 1", [](auto& c) { c.vocabulary = 0; });
  bert("positions is 0; expected at least 1", [](auto& c) { c.positions = 0; });
  bert("token_types is 0; expected at least 1", [](auto& c) { c.token_types = 0; });
  bert("width is 5; expected a multiple of heads", [](auto& c) { c.width = 5; });

  using LlamaStyle = LlamaStyleParameters<double, Position>;
  const auto llama_style = [](const std::string& message, const auto& change) {
    expect_size_refused<LlamaStyle>(message, small_llama_style(), change);
  };
  llama_style("layers is 0; expected at least 1", [](auto& c) { c.layers = 0; });
  llama_style("hidden is 0; expected at least 1", [](auto& c) { c.hidden = 0; });
  llama_style("vocabulary is 0; expected at least 1", [](auto& c) { c.vocabulary = 0; });
  llama_style("positions is 0; expected at least 1", [](auto& c) { c.positions = 0; });
  llama_style("heads is 2; expected a multiple of kv_heads", [](auto& c) { c.kv_heads = 3; });
}

BOOST_AUTO_TEST_CASE(a_decoder_refuses_ids_and_parameters_that_do_not_fit) {
  const auto expect = [](const auto& small, const auto& zero, const std::string& layers,
                         const auto& forward, const auto& decode) {
    const auto both = [&](const std::string& message, const auto& c, const auto& p,
                          const std::vector<int>& ids) {
      expect_refused(message, [&] { forward(c, p, ids); });
      expect_refused(message, [&] { decode(c, p, ids); });
    };
    const auto p = zero(small);
    both("ids.size() is 0; expected at least 1", small, p, {});
    both("ids is 3; expected a row of the table", small, p, {0, 3});
    auto deeper = small;
    deeper.layers = 3;
    both(layers + " is 2; expected the configuration's layers", deeper, p, {0});
  };
  expect(
      small_gpt2(), [](const auto& c) { return Gpt2Parameters<double, Position>::zero(c); },
      "blocks",
      [](const auto& c, const auto& p, const auto& ids) { gpt2_forward<Double>(c, p, ids); },
      [](const auto& c, const auto& p, const auto& ids) {
        DecodingCache<double, Position> cache;
        gpt2_decode<Double>(c, p, ids, cache);
      });
  expect(
      small_llama_style(),
      [](const auto& c) { return LlamaStyleParameters<double, Position>::zero(c); }, "layers",
      [](const auto& c, const auto& p, const auto& ids) { llama_style_forward<Double>(c, p, ids); },
      [](const auto& c, const auto& p, const auto& ids) {
        DecodingCache<double, Position> cache;
        llama_style_decode<Double>(c, p, ids, cache);
      });
}

BOOST_AUTO_TEST_CASE(layers_check_the_shapes_of_what_their_position_learns) {
  // Less than a head needs: it would be read beyond its end.
  const std::string refused =
      "position.increment.weight.rows() is 1; expected what the layer's heads and width ask for";
  const auto c = small_gpt2();
  const auto right = Gpt2Parameters<double, Position>::zero(c);
  auto wrong = right;
  wrong.blocks[1].attention.position.increment.weight.conservativeResize(1, 4);
  expect_refused(refused, [&] { gpt2_forward<Double>(c, wrong, {0}); });
  expect_refused(refused, [&] {
    DecodingCache<double, Position> cache;
    gpt2_decode<Double>(c, wrong, {0}, cache);
  });
  const auto state = gpt2_forward<Double>(c, right, {0});
  expect_refused(refused,
                 [&] { gpt2_grad<Double>(c, right, {0}, state, zeros<double>(1, 4), wrong); });
  wrong = right;
  wrong.blocks[1].attention.ssmax_scale = zeros<double>(2);
  expect_refused("grad.ssmax_scale.size() is 2; expected that of the parameters",
                 [&] { gpt2_grad<Double>(c, right, {0}, state, zeros<double>(1, 4), wrong); });
}

BOOST_AUTO_TEST_CASE(bert_refuses_ids_and_parameters_that_do_not_fit) {
  const auto c = small_bert();
  const auto p = BertParameters<double, Position>::zero(c);
  const auto expect = [&](const std::string& message, const auto& with, const std::vector<int>& ids,
                          const std::vector<int>& types) {
    expect_refused(message, [&] { bert_forward<Double>(with, p, ids, types); });
  };
  expect("ids.size() is 0; expected at least 1", c, {}, {});
  expect("token_types.size() is 1; expected the number of ids", c, {0, 1}, {0});
  expect("ids is -1; expected a row of the table", c, {-1}, {0});
  expect("ids is 2; expected a row of the table", c, {0}, {2});
  auto deeper = c;
  deeper.layers = 3;
  expect("layers is 2; expected the configuration's layers", deeper, {0}, {0});
}

BOOST_AUTO_TEST_CASE(a_backward_pass_refuses_gradients_and_states_of_other_depth) {
  const auto expect = [](const std::string& what, const auto& grad_of, auto state,
                         const auto& right, const auto& pop) {
    auto grad = right;
    pop(grad);
    expect_refused("grad." + what + " is 1; expected as many as there are parameters of",
                   [&] { grad_of(state, grad); });
    grad = right;
    pop(state);
    expect_refused("state." + what + " is 1; expected as many as there are parameters of",
                   [&] { grad_of(state, grad); });
  };
  const Matrix<double> grad_hidden = zeros<double>(1, 4);
  const auto gpt2 = small_gpt2();
  const auto gpt2_p = Gpt2Parameters<double, Position>::zero(gpt2);
  expect(
      "blocks",
      [&](const auto& state, auto& grad) {
        gpt2_grad<Double>(gpt2, gpt2_p, {0}, state, grad_hidden, grad);
      },
      gpt2_forward<Double>(gpt2, gpt2_p, {0}), gpt2_p, [](auto& of) { of.blocks.pop_back(); });
  const auto pop_layer = [](auto& of) { of.layers.pop_back(); };
  const auto llama = small_llama_style();
  const auto llama_p = LlamaStyleParameters<double, Position>::zero(llama);
  expect(
      "layers",
      [&](const auto& state, auto& grad) {
        llama_style_grad<Double>(llama, llama_p, {0}, state, grad_hidden, grad);
      },
      llama_style_forward<Double>(llama, llama_p, {0}), llama_p, pop_layer);
  const auto bert = small_bert();
  const auto bert_p = BertParameters<double, Position>::zero(bert);
  expect(
      "layers",
      [&](const auto& state, auto& grad) {
        bert_grad<Double>(bert, bert_p, {0}, {0}, state, grad_hidden, grad);
      },
      bert_forward<Double>(bert, bert_p, {0}, {0}), bert_p, pop_layer);
}

BOOST_AUTO_TEST_SUITE_END()
