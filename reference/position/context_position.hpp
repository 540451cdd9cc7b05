// SPDX-License-Identifier: Apache-2.0
// Position methods of the tokens' content in an attention layer: CABLE and its forms, FoX. Linear
// maps of the layer's full-width input give every head an increment at each token, which add up,
// and, with weights, a gain at each query. Source: CABLE, equations 2-7, with biases in the linear
// maps and the layer's whole input as in the published code; FoX, section 3.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "reference/bias/cable.hpp"
#include "reference/bias/cable_nw.hpp"
#include "reference/bias/cable_parameters.hpp"
#include "reference/bias/fox.hpp"
#include "reference/bias/k_cable.hpp"
#include "reference/bias/k_cable_nw.hpp"
#include "reference/model/layer_parameters.hpp"
#include "reference/position/layer_position.hpp"

namespace plumbline::reference {

/// CABLE's increments: ReLU of a linear map.
struct ReluIncrements {
  static constexpr const char* name = "increment";
  template <Real R>
  static Vector<R> of(const Matrix<R>& X, const Vector<R>& w, const R& b) {
    return increments(X, w, b);
  }
  template <Real R>
  static LinearGrad<R> grad(const Matrix<R>& X, const Vector<R>& w, const R& b,
                            const Vector<R>& grad_f) {
    return increments_grad(X, w, b, grad_f);
  }
};

/// FoX's: the logarithms of forget gates.
struct ForgetGates {
  static constexpr const char* name = "forget_gate";
  template <Real R>
  static Vector<R> of(const Matrix<R>& X, const Vector<R>& w, const R& b) {
    return log_forget_gates(X, w, b);
  }
  template <Real R>
  static LinearGrad<R> grad(const Matrix<R>& X, const Vector<R>& w, const R& b,
                            const Vector<R>& grad_f) {
    return log_forget_gates_grad(X, w, b, grad_f);
  }
};

/// B is the bias, of prefix sums and, if `weighted`, gains. A layer learns heads (width + 1)
/// numbers for the increments, and as many again for the gains.
template <template <class> class B, class Increments, bool weighted>
struct ContextPosition : BiasAlone {
  template <Real R>
  struct Parameters {
    LinearParameters<R> increment;  ///< [heads, width], [heads]
    LinearParameters<R> gain;       ///< likewise, or empty without weights

    template <class Self, class Visit>
    static void each(Self& self, const std::string& name, const Visit& visit) {
      visit_weight_and_bias(self.increment, name + "." + Increments::name, visit);
      if (weighted) visit_weight_and_bias(self.gain, name + ".gain", visit);
    }
  };

  /// For decoding: S_j of every token before; the last of them is the running sum. Gains are not
  /// kept, they belong to queries.
  template <Real R>
  struct Cache {
    std::vector<Vector<R>> sums;  ///< [heads], each [tokens before]; empty before the first
  };

  bool causal_only() const { return std::is_same_v<Increments, ForgetGates>; }

  template <Real R>
  Parameters<R> zero_parameters(int heads, int width) const {
    return {zero_linear<R>(heads, width), zero_linear<R>(weighted ? heads : 0, width)};
  }

  template <Real R>
  std::vector<B<R>> biases(const Parameters<R>& p, const Matrix<R>& X, int heads,
                           Cache<R>& cache) const {
    require(cache.sums.empty() || cache.sums.size() == static_cast<std::size_t>(heads),
            "cache.sums.size()", cache.sums.size(), "0, or heads");
    cache.sums.resize(heads);
    std::vector<B<R>> of_heads;
    for (int h = 0; h < heads; ++h) {
      const int before = static_cast<int>(cache.sums[h].size());
      append(cache.sums[h], Increments::of(X, weights(p.increment, h), p.increment.bias[h]));
      if constexpr (weighted) {
        of_heads.push_back({cache.sums[h], gain(X, weights(p.gain, h), p.gain.bias[h]), before});
      } else {
        of_heads.push_back({cache.sums[h]});
      }
    }
    return of_heads;
  }

  template <Real R>
  Matrix<R> biases_grad(const Parameters<R>& p, const Matrix<R>& X,
                        const std::vector<typename B<R>::Grad>& grads, Parameters<R>& grad) const {
    Matrix<R> grad_x = zeros<R>(static_cast<int>(X.rows()), static_cast<int>(X.cols()));
    for (int h = 0; h < static_cast<int>(grads.size()); ++h) {
      const LinearGrad<R> by_increment = Increments::grad(
          X, weights(p.increment, h), p.increment.bias[h], prefix_sum_grad(grads[h].prefix_sum));
      add(by_increment, h, grad.increment, grad_x);
      if constexpr (weighted) {
        const LinearGrad<R> by_gain =
            gain_grad(X, weights(p.gain, h), p.gain.bias[h], grads[h].gain);
        add(by_gain, h, grad.gain, grad_x);
      }
    }
    return grad_x;
  }

 private:
  template <Real R>
  static Vector<R> weights(const LinearParameters<R>& p, int h) {
    return p.weight.row(h);
  }

  template <Real R>
  static void append(Vector<R>& sums, const Vector<R>& increments) {
    const Eigen::Index before = sums.size();
    Vector<R> all(before + increments.size());
    all.head(before) = sums;
    for (Eigen::Index t = 0; t < increments.size(); ++t) {
      const Eigen::Index at = before + t;
      all[at] = at == 0 ? increments[t] : all[at - 1] + increments[t];
    }
    sums = all;
  }

  template <Real R>
  static void add(const LinearGrad<R>& by, int h, LinearParameters<R>& grad, Matrix<R>& grad_x) {
    for (Eigen::Index c = 0; c < by.w.size(); ++c) grad.weight(h, c) += by.w[c];
    grad.bias[h] += by.b;
    add_to(grad_x, by.x);
  }
};

using CablePosition = ContextPosition<Cable, ReluIncrements, true>;
using CableNwPosition = ContextPosition<CableNw, ReluIncrements, false>;
using KCablePosition = ContextPosition<KCable, ReluIncrements, true>;
using KCableNwPosition = ContextPosition<KCableNw, ReluIncrements, false>;
using FoxPosition = ContextPosition<Fox, ForgetGates, false>;

}  // namespace plumbline::reference
