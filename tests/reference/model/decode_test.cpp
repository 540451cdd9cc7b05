// SPDX-License-Identifier: Apache-2.0
#include "reference/model/decode.hpp"

#include <boost/test/unit_test.hpp>

#include "reference/position/context_position.hpp"
#include "reference/position/learned_position.hpp"
#include "reference/position/rotary_position.hpp"
#include "reference/scalars/double.hpp"
#include "tests/reference/model/model_parameters.hpp"
#include "tests/reference/numbers.hpp"

BOOST_AUTO_TEST_SUITE(decode_test)

using namespace plumbline::reference;

namespace {

using Double = Equations<double>;
const std::vector<int> ids{2, 0, 6, 2, 5, 1, 1};

// Numbers in [0.05, 0.65): inside the domain of every method.
template <class Parameters>
void fill(Parameters& p) {
  Numbers numbers(1);
  for_each_parameter(p, [&](const std::string&, auto& tensor) {
    for (Eigen::Index n = 0; n < tensor.size(); ++n) {
      tensor.data()[n] = numbers.between(0.05, 0.65);
    }
  });
}

/// The tokens in pieces of the given sizes, the rest one by one; all logits.
template <class Decode>
Matrix<double> in_pieces(const Decode& decode, const std::vector<int>& sizes) {
  Matrix<double> all;
  std::size_t at = 0, piece = 0;
  while (at < ids.size()) {
    const std::size_t size = piece < sizes.size() ? sizes[piece++] : 1;
    append_rows(all, decode(std::vector<int>(ids.begin() + at, ids.begin() + at + size)));
    at += size;
  }
  return all;
}

template <class Position>
void expect_decoding_equals_the_whole(Gpt2Configuration<Position> c) {
  c.vocabulary = 7;
  c.positions = 7;
  using Parameters = Gpt2Parameters<double, Position>;
  auto p = Parameters::zero(c);
  fill(p);
  const auto whole = gpt2_logits<Double>(p, gpt2_forward<Double>(c, p, ids).hidden);
  for (const std::vector<int>& sizes : {std::vector<int>{}, {3}, {2, 4}, {7}}) {
    DecodingCache<double, Position> cache;
    const auto decode = [&](const std::vector<int>& more) {
      return gpt2_decode<Double>(c, p, more, cache);
    };
    BOOST_TEST((in_pieces(decode, sizes) == whole));
    BOOST_TEST(cache.length() == 7);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(decoding_equals_the_whole_bit_for_bit) {
  const auto with = [](const auto& position) {
    expect_decoding_equals_the_whole(gpt2(2, 2, 4, position));
  };
  with(NopePosition());
  with(AlibiPosition());
  with(CablePosition());
  with(CableNwPosition());
  with(KCablePosition());
  with(KCableNwPosition());
  with(FoxPosition());
  with(GgdPosition());
  with(KerpleLogPosition());
  with(KerplePowerPosition());
  with(FirePosition{{}, {.L0 = 3, .hidden = 2}});
  with(t5_position(false, 4, 5));
  with(TablePosition<ClippedDistance>{{}, {ClippedDistance(3)}});
  with(TablePosition<ClippedOffset>{{}, {ClippedOffset(3)}});
  with(RopePosition());
  RopePosition local;
  local.window = 2;
  with(local);
}

BOOST_AUTO_TEST_CASE(with_positions_in_the_embeddings_and_ssmax_too) {
  auto c = gpt2(2, 2, 4);
  c.embedding.kind = EmbeddedPositions::sinusoidal;
  c.ssmax = true;
  expect_decoding_equals_the_whole(c);
}

BOOST_AUTO_TEST_CASE(the_llama_style_decoder_too) {
  const LlamaStyleConfiguration<CablePosition> c{.layers = 2,
                                                 .heads = 2,
                                                 .kv_heads = 1,
                                                 .width = 4,
                                                 .hidden = 3,
                                                 .vocabulary = 7,
                                                 .ssmax = true};
  auto p = LlamaStyleParameters<double, CablePosition>::zero(c);
  fill(p);
  const auto whole = llama_style_logits<Double>(p, llama_style_forward<Double>(c, p, ids).hidden);
  DecodingCache<double, CablePosition> cache;
  const auto decode = [&](const std::vector<int>& more) {
    return llama_style_decode<Double>(c, p, more, cache);
  };
  BOOST_TEST((in_pieces(decode, {2}) == whole));
}

// The input is x_t = (1), (2), (3): increments ReLU(2 x - 3) = 0, 1, 3, gains softplus(x).
BOOST_AUTO_TEST_CASE(the_cache_keeps_prefix_sums_and_the_gain_is_the_new_query_s) {
  const CablePosition position;
  auto p = position.zero_parameters<double>(1, 1);
  p.increment.weight(0, 0) = 2;
  p.increment.bias[0] = -3;
  p.gain.weight(0, 0) = 1;
  CablePosition::Cache<double> cache;
  const auto token = [](double x) { return Matrix<double>::Constant(1, 1, x).eval(); };
  position.biases(p, Matrix<double>(token(1)), 1, cache);
  position.biases(p, Matrix<double>(token(2)), 1, cache);
  const auto bias = position.biases(p, Matrix<double>(token(3)), 1, cache)[0];
  BOOST_TEST((cache.sums[0] == Eigen::Vector3d(0, 1, 4)));
  BOOST_TEST(bias.gain.size() == 1);
  BOOST_TEST(bias(2, 2) == 0);
  BOOST_TEST(bias(2, 1) == -softplus(3.0) * 3);
  BOOST_TEST(bias(2, 0) == -softplus(3.0) * 4);
}

BOOST_AUTO_TEST_CASE(a_cache_of_other_heads_is_refused) {
  const LlamaStyleConfiguration<CablePosition> c{
      .layers = 1, .heads = 2, .kv_heads = 2, .width = 4, .hidden = 3, .vocabulary = 7};
  const auto refused = [](const auto& other, auto cache) {
    const auto p = LlamaStyleParameters<double, CablePosition>::zero(other);
    BOOST_CHECK_THROW(llama_style_decode<Double>(other, p, {1}, cache), std::invalid_argument);
  };
  DecodingCache<double, CablePosition> cache;
  llama_style_decode<Double>(c, LlamaStyleParameters<double, CablePosition>::zero(c), {1}, cache);
  auto other = c;
  other.layers = 2;
  refused(other, cache);
  other = c;
  other.kv_heads = 1;
  refused(other, cache);
  cache.layers[0].position.sums.resize(3);
  refused(c, cache);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  auto c = gpt2(1, 1, 2);
  c.vocabulary = 7;
  c.positions = 2;
  auto p = Gpt2Parameters<double>::zero(c);
  fill(p);
  DecodingCache<double, NopePosition> cache;
  BOOST_CHECK_THROW(gpt2_decode<Double>(c, p, {}, cache), std::invalid_argument);
  gpt2_decode<Double>(c, p, {1, 2}, cache);
  BOOST_CHECK_THROW(gpt2_decode<Double>(c, p, {3}, cache), std::invalid_argument);
  // A cache of another model: fewer layers, or layers that saw other numbers of tokens.
  auto deeper = c;
  deeper.layers = 2;
  deeper.positions = 9;
  const auto q = Gpt2Parameters<double>::zero(deeper);
  BOOST_CHECK_THROW(gpt2_decode<Double>(deeper, q, {1}, cache), std::invalid_argument);
  DecodingCache<double, NopePosition> uneven;
  gpt2_decode<Double>(deeper, q, {1}, uneven);
  uneven.layers[1] = {};
  BOOST_CHECK_THROW(gpt2_decode<Double>(deeper, q, {1}, uneven), std::invalid_argument);
  Matrix<double> rows = zeros<double>(1, 2);
  BOOST_CHECK_THROW(append_rows(rows, zeros<double>(1, 3)), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
