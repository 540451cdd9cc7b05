// SPDX-License-Identifier: Apache-2.0
// Decoding with a cache: a decoder's new tokens alone, the tokens before them out of the cache.
// Source: CABLE, section 3 (every S_j and the running sum are kept, the gain is the new query's).
#pragma once

#include <utility>
#include <vector>

#include "reference/attention/attention_layer.hpp"
#include "reference/model/gpt2.hpp"
#include "reference/model/llama_style.hpp"

namespace plumbline::reference {

/// What one layer keeps of the tokens that it has seen.
template <Real R, class Position>
struct AttentionCache {
  std::vector<Matrix<R>> k,
      v;  ///< [kv_heads], each [tokens, head_dim]; keys after they are rotated
  typename Position::template Cache<R> position;  ///< CABLE's forms and FoX: the prefix sums

  int length() const { return k.empty() ? 0 : static_cast<int>(k[0].rows()); }
};

/// What a model keeps: one cache a layer; {} before the first token.
template <Real R, class Position>
struct DecodingCache {
  std::vector<AttentionCache<R, Position>> layers;

  int length() const { return layers.empty() ? 0 : layers[0].length(); }
};

/// @throws std::invalid_argument unless the cache is empty, or has `layers` layers that have seen
/// the same number of tokens.
template <Real R, class Position>
void check_cache(const DecodingCache<R, Position>& cache, int layers) {
  const int count = static_cast<int>(cache.layers.size());
  require(count == 0 || count == layers, "cache.layers.size()", count,
          "0, or the configuration's layers");
  for (const auto& layer : cache.layers) {
    require(layer.length() == cache.length(), "cache.layers.length()", layer.length(),
            "that of the first layer");
  }
}

/// all = [all; more]. @throws std::invalid_argument if the columns differ.
template <Real R>
void append_rows(Matrix<R>& all, const Matrix<R>& more) {
  if (all.size() == 0) {
    all = more;
    return;
  }
  require(more.cols() == all.cols(), "more.cols()", more.cols(), "the columns of the rows before");
  Matrix<R> longer(all.rows() + more.rows(), all.cols());
  longer << all, more;
  all = std::move(longer);
}

/// attention_layer for the tokens X [n, width] that come after those in the cache, causal. Extends
/// the cache by them. Rows of the result are those rows of attention_layer on all tokens: with the
/// tier of the equations bit for bit, as every operation is the same.
/// @throws std::invalid_argument as attention_layer does, or for a cache of other heads.
template <class Tier, class Parameters, class Position, Real R = typename Tier::Scalar>
auto attention_layer_step(const Parameters& p, const HeadLayout& layout, const Position& position,
                          const Matrix<R>& X, AttentionCache<R, Position>& cache) {
  check(layout);
  check_position_parameters(p, layout, position);
  const auto of_these_heads = [&](std::size_t count) {
    require(count == 0 || count == static_cast<std::size_t>(layout.kv_heads), "heads of the cache",
            count, "0, or kv_heads");
  };
  of_these_heads(cache.k.size());
  of_these_heads(cache.v.size());
  Heads<R> heads = rotated_heads<Tier>(p, layout, position, X, cache.length());
  auto biases = position.biases(p.position, X, layout.heads, cache.position);
  cache.k.resize(layout.kv_heads);
  cache.v.resize(layout.kv_heads);
  for (int h = 0; h < layout.kv_heads; ++h) {
    append_rows(cache.k[h], heads.k[h]);
    append_rows(cache.v[h], heads.v[h]);
  }
  return attended<Tier>(p, layout, position, {std::move(heads.q), cache.k, cache.v},
                        std::move(biases), {.causal = true});
}

/// The logits [n, vocabulary] of GPT-2 after each of the tokens ids [n], which follow those in the
/// cache: one token a call, or a whole prompt. Extends the cache by them. Equal to those rows of
/// gpt2_forward and gpt2_logits on all tokens (see attention_layer_step). In another tier, whose
/// products sum in an order that depends on their size, the two differ by rounding.
/// @throws std::invalid_argument as gpt2_forward does, the cache's tokens counting as part of the
/// sequence, and for the cache of another model. The cache is of no use then.
template <class Tier, class Position, Real R = typename Tier::Scalar>
Matrix<R> gpt2_decode(const Gpt2Configuration<Position>& c, const Gpt2Parameters<R, Position>& p,
                      const std::vector<int>& ids, DecodingCache<R, Position>& cache) {
  require(!ids.empty(), "ids.size()", ids.size(), "at least 1");
  p.check(c);
  check_cache(cache, c.layers);
  Matrix<R> X = gpt2_embedding(c, p, ids, cache.length());
  cache.layers.resize(p.blocks.size());
  const auto attend = [&](int layer, const Matrix<R>& normed) {
    return attention_layer_step<Tier>(p.blocks[layer].attention, c.layout(), c.position, normed,
                                      cache.layers[layer]);
  };
  return gpt2_logits<Tier>(p, gpt2_blocks<Tier>(c, p, std::move(X), attend).hidden);
}

/// The same for the LLaMA-style decoder.
template <class Tier, class Position, Real R = typename Tier::Scalar>
Matrix<R> llama_style_decode(const LlamaStyleConfiguration<Position>& c,
                             const LlamaStyleParameters<R, Position>& p,
                             const std::vector<int>& ids, DecodingCache<R, Position>& cache) {
  require(!ids.empty(), "ids.size()", ids.size(), "at least 1");
  p.check(c);
  check_cache(cache, c.layers);
  Matrix<R> X = llama_style_embedding(c, p, ids, cache.length());
  cache.layers.resize(p.layers.size());
  const auto attend = [&](int layer, const Matrix<R>& normed) {
    return attention_layer_step<Tier>(p.layers[layer].attention, c.layout(), c.position, normed,
                                      cache.layers[layer]);
  };
  return llama_style_logits<Tier>(p, llama_style_layers<Tier>(c, p, std::move(X), attend).hidden);
}

}  // namespace plumbline::reference
