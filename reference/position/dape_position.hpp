// SPDX-License-Identifier: Apache-2.0
// DAPE in an attention layer, over a position method that is a bias. Source: Zheng et al.,
// arXiv:2405.14722 (version 1), arXiv:2410.04798 (version 2).
#pragma once

#include <string>
#include <vector>

#include "reference/attention/dape_tables.hpp"
#include "reference/model/layer_parameters.hpp"
#include "reference/position/context_position.hpp"
#include "reference/position/layer_position.hpp"
#include "reference/position/learned_position.hpp"

namespace plumbline::reference {

/// Base is AlibiPosition or another layer position whose method is a bias alone.
template <class Base, int version>
struct DapePosition : BiasAlone {
  static_assert(version == 1 || version == 2);
  static constexpr bool own_logits = true;
  static constexpr int taps = version == 1 ? 1 : 3;
  Base base;
  int hidden = 32;

  template <Real R>
  struct Parameters {
    typename Base::template Parameters<R> base;
    LinearParameters<R> first;   ///< [hidden, 2 heads taps], [hidden]
    LinearParameters<R> second;  ///< [heads, hidden taps], [heads]

    template <class Self, class Visit>
    static void each(Self& self, const std::string& name, const Visit& visit) {
      Base::template Parameters<R>::each(self.base, name, visit);
      visit_weight_and_bias(self.first, name + ".hidden", visit);
      visit_weight_and_bias(self.second, name + ".output", visit);
    }
  };
  template <Real R>
  using Cache = typename Base::template Cache<R>;

  bool causal_only() const { return base.causal_only(); }

  template <Real R>
  Parameters<R> zero_parameters(int heads, int width) const {
    return {base.template zero_parameters<R>(heads, width),
            zero_linear<R>(hidden, 2 * heads * taps), zero_linear<R>(heads, hidden * taps)};
  }
  template <Real R>
  auto biases(const Parameters<R>& p, const Matrix<R>& X, int heads, Cache<R>& cache) const {
    return base.biases(p.base, X, heads, cache);
  }
  template <Real R, class Grad>
  Matrix<R> biases_grad(const Parameters<R>& p, const Matrix<R>& X, const std::vector<Grad>& grads,
                        Parameters<R>& grad) const {
    return base.biases_grad(p.base, X, grads, grad.base);
  }

  template <Real R, class Bias>
  std::vector<Matrix<R>> logits(const Parameters<R>& p, const AttentionInputs<R>& x,
                                const std::vector<Bias>& biases) const {
    return dape_tables(x, written_out<R>(biases, x.shape), layers(p));
  }
  template <Real R, class Bias>
  std::vector<typename Bias::Grad> logits_grad(const Parameters<R>& p, const AttentionInputs<R>& x,
                                               const std::vector<Bias>& biases,
                                               const std::vector<Matrix<R>>& grad_logits,
                                               Parameters<R>& grad, std::vector<Matrix<R>>& grad_q,
                                               std::vector<Matrix<R>>& grad_k) const {
    const std::vector<Matrix<R>> grad_biases =
        dape_tables_grad(x, written_out<R>(biases, x.shape), layers(p), grad_logits, grad_q, grad_k,
                         [&](const DapeGrad<R>& by) {
                           add_to(grad.first.weight, by.first.weight);
                           add_to(grad.first.bias, by.first.bias);
                           add_to(grad.second.weight, by.second.weight);
                           add_to(grad.second.bias, by.second.bias);
                         });
    std::vector<typename Bias::Grad> of_heads;
    for (std::size_t h = 0; h < biases.size(); ++h) {
      of_heads.push_back(biases[h].zero_grad());
      for (int r = 0; r < x.shape.queries; ++r) {
        for (int j = 0; j < x.shape.keys; ++j) {
          biases[h].accumulate_grad(of_heads[h], r + x.shape.query_offset, j, grad_biases[h](r, j));
        }
      }
    }
    return of_heads;
  }

 private:
  template <Real R>
  static DapeLayers<R> layers(const Parameters<R>& p) {
    return {{p.first.weight, p.first.bias, taps}, {p.second.weight, p.second.bias, taps}};
  }

  /// b_ij of every head, query row and key: [heads], each [queries, keys].
  template <Real R, class Bias>
  static std::vector<Matrix<R>> written_out(const std::vector<Bias>& biases,
                                            const AttentionShape& s) {
    std::vector<Matrix<R>> tables;
    for (const Bias& bias : biases) {
      tables.push_back(zeros<R>(s.queries, s.keys));
      for (int r = 0; r < s.queries; ++r) {
        for (int j = 0; j < s.keys; ++j) tables.back()(r, j) = bias(r + s.query_offset, j);
      }
    }
    return tables;
  }
};

}  // namespace plumbline::reference
