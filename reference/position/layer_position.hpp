// SPDX-License-Identifier: Apache-2.0
// Where positions enter an attention layer: what a method does there, apart from its equation. A
// method that adds to the embeddings instead is in model/position_embedding.hpp.
#pragma once

#include <string>
#include <vector>

#include "reference/bias/alibi.hpp"
#include "reference/bias/nope.hpp"
#include "reference/core/linear_algebra.hpp"
#include "reference/core/mask.hpp"

namespace plumbline::reference {

// A layer position P has, for every scalar R:
//   P::Parameters<R>           what a layer learns; `each(self, name, visit)` goes through them
//   P::Cache<R>                what it keeps of the tokens before, for decoding; {} for none
//   zero_parameters<R>(heads, width)
//   biases(parameters, X, heads, cache)
//                              the bias of each head, for queries that are the rows of X [T, C],
//                              the layer's full-width input; `cache` holds the tokens before them
//                              and is extended by them
//   biases_grad(parameters, X, grads, grad)
//                              adds to `grad` what the heads' bias gradients do to the parameters,
//                              and returns dX, or an empty matrix where X plays no part; no tokens
//                              before
//   rotated(X, offset), rotated_grad(X, offset)
//                              what becomes of a head's queries or keys [T, D], of which row t is
//                              at position t + offset
//   mask(mask)                 the layer's mask, from that of the model
//   causal_only()              whether the method says nothing of keys after the query
// and where its logits are more than a product and a bias (attention/own_logits.hpp)
//   own_logits                 static, true
//   logits(parameters, inputs, biases)
//                              the logits before SSMax, [heads], each [queries, keys]; those of
//                              visible keys at least
//   logits_grad(parameters, inputs, biases, grad_logits, grad, grad_q, grad_k)
//                              adds to `grad`, grad_q and grad_k what the logits' gradients do, and
//                              returns those of the heads' biases
// The gradients of a layer's parameters are of the type of the parameters.

template <class Position>
concept HasOwnLogits = requires {
  requires Position::own_logits;
};

/// Queries, keys and mask stay as they are: the method is a bias alone.
struct BiasAlone {
  template <Real R>
  const Matrix<R>& rotated(const Matrix<R>& X, int) const {
    return X;
  }
  template <Real R>
  const Matrix<R>& rotated_grad(const Matrix<R>& grad, int) const {
    return grad;
  }
  Mask mask(const Mask& of_model) const { return of_model; }
  bool causal_only() const { return false; }
};

/// Nothing to learn, and nothing to keep of tokens.
struct NothingLearned {
  template <Real R>
  struct Parameters {
    template <class Self, class Visit>
    static void each(Self&, const std::string&, const Visit&) {}
  };
  template <Real R>
  struct Cache {};
  template <Real R>
  Parameters<R> zero_parameters(int, int) const {
    return {};
  }
  template <Real R, class Grad>
  Matrix<R> biases_grad(const Parameters<R>&, const Matrix<R>&, const std::vector<Grad>&,
                        Parameters<R>&) const {
    return {};
  }
};

/// No positional bias: bias/nope.hpp.
struct NopePosition : BiasAlone, NothingLearned {
  template <Real R>
  std::vector<Nope<R>> biases(const Parameters<R>&, const Matrix<R>&, int heads, Cache<R>&) const {
    return std::vector<Nope<R>>(heads);
  }
};

/// ALiBi with the official slopes, or the article's for every number of heads: bias/alibi.hpp.
struct AlibiPosition : BiasAlone, NothingLearned {
  bool geometric_slopes = false;

  template <Real R>
  std::vector<Alibi<R>> biases(const Parameters<R>&, const Matrix<R>&, int heads, Cache<R>&) const {
    std::vector<Alibi<R>> of_heads;
    for (const R& slope :
         geometric_slopes ? alibi_slopes_geometric<R>(heads) : alibi_slopes<R>(heads)) {
      of_heads.push_back({slope});
    }
    return of_heads;
  }
};

}  // namespace plumbline::reference
