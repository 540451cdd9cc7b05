// SPDX-License-Identifier: Apache-2.0
// CoPE in an attention layer. Source: Golovneva et al., arXiv:2405.18719, section 4.
#pragma once

#include <string>
#include <vector>

#include "reference/attention/cope_tables.hpp"
#include "reference/position/layer_position.hpp"

namespace plumbline::reference {

/// The embeddings of the positions, a table of every head's own; 0 at first, as published.
struct CopePosition : BiasAlone {
  static constexpr bool own_logits = true;
  int positions = 64;

  template <Real R>
  struct Parameters {
    Matrix<R> embedding;  ///< [heads * positions, head_dim]

    template <class Self, class Visit>
    static void each(Self& self, const std::string& name, const Visit& visit) {
      visit(name + ".embedding", self.embedding);
    }
  };
  template <Real R>
  struct Cache {};

  template <Real R>
  Parameters<R> zero_parameters(int heads, int width) const {
    return {zeros<R>(heads * positions, width / heads)};
  }
  template <Real R>
  std::vector<Nope<R>> biases(const Parameters<R>&, const Matrix<R>&, int heads, Cache<R>&) const {
    return std::vector<Nope<R>>(heads);
  }
  template <Real R, class Grad>
  Matrix<R> biases_grad(const Parameters<R>&, const Matrix<R>&, const std::vector<Grad>&,
                        Parameters<R>&) const {
    return {};
  }

  template <Real R>
  std::vector<Matrix<R>> logits(const Parameters<R>& p, const AttentionInputs<R>& x,
                                const std::vector<Nope<R>>&) const {
    return cope_tables(x, tables(p));
  }
  template <Real R>
  std::vector<typename Nope<R>::Grad> logits_grad(
      const Parameters<R>& p, const AttentionInputs<R>& x, const std::vector<Nope<R>>& biases,
      const std::vector<Matrix<R>>& grad_logits, Parameters<R>& grad,
      std::vector<Matrix<R>>& grad_q, std::vector<Matrix<R>>& grad_k) const {
    cope_tables_grad(x, tables(p), grad_logits, grad_q, grad_k, [&](int h, const Matrix<R>& by) {
      for (int n = 0; n < positions; ++n) {
        for (Eigen::Index d = 0; d < by.cols(); ++d) {
          grad.embedding(h * positions + n, d) += by(n, d);
        }
      }
    });
    return std::vector<typename Nope<R>::Grad>(biases.size());
  }

 private:
  template <Real R>
  auto tables(const Parameters<R>& p) const {
    return [this, &p](int h) {
      return Matrix<R>(p.embedding.middleRows(static_cast<Eigen::Index>(h) * positions, positions));
    };
  }
};

}  // namespace plumbline::reference
