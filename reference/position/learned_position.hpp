// SPDX-License-Identifier: Apache-2.0
// Position methods with parameters of their own in an attention layer: GGD, Kerple, T5, FIRE. The
// tokens' content plays no part, so nothing flows back to the layer's input.
#pragma once

#include <array>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "reference/bias/fire.hpp"
#include "reference/bias/ggd.hpp"
#include "reference/bias/kerple.hpp"
#include "reference/bias/of_heads.hpp"
#include "reference/bias/t5.hpp"
#include "reference/model/layer_parameters.hpp"
#include "reference/position/layer_position.hpp"
#include "reference/scalars/double.hpp"

namespace plumbline::reference {

/// A Method has Parameters<R> and zero_parameters as a layer position has, and
///   bias(parameters, h)            the bias of head h
///   add_grad(grad_bias, h, grad)   adds what that head's bias gradient does to the parameters
///   causal_only()                  if that depends on the method; else it serves both directions
template <class Method>
struct LearnedPosition : BiasAlone {
  Method method;

  template <Real R>
  using Parameters = typename Method::template Parameters<R>;
  template <Real R>
  struct Cache {};

  bool causal_only() const {
    if constexpr (requires { method.causal_only(); }) return method.causal_only();
    return false;
  }

  template <Real R>
  auto zero_parameters(int heads, int) const {
    return method.template zero_parameters<R>(heads);
  }

  template <class LayerParameters, Real R>
  auto biases(const LayerParameters& p, const Matrix<R>&, int heads, Cache<R>&) const {
    std::vector<decltype(method.template bias<R>(p, 0))> of_heads;
    for (int h = 0; h < heads; ++h) of_heads.push_back(method.template bias<R>(p, h));
    return of_heads;
  }

  template <class LayerParameters, Real R, class Grad>
  Matrix<R> biases_grad(const LayerParameters&, const Matrix<R>&, const std::vector<Grad>& grads,
                        LayerParameters& grad) const {
    for (std::size_t h = 0; h < grads.size(); ++h) {
      method.template add_grad<R>(grads[h], static_cast<int>(h), grad);
    }
    return {};
  }
};

/// BAM's prior, three numbers per head and layer. (BAM freezes theta_mu at 0 by default: that is
/// the optimizer's choice.) Starts: "uniform", all 0; "slope", theta_beta = 1, theta_alpha = ln of
/// ALiBi's slope.
struct GgdOfLayer {
  double epsilon = 1e-5;

  template <Real R>
  struct Parameters {
    Vector<R> theta_alpha, theta_beta, theta_mu;  ///< [heads]

    template <class Self, class Visit>
    static void each(Self& self, const std::string& name, const Visit& visit) {
      visit(name + ".theta_alpha", self.theta_alpha);
      visit(name + ".theta_beta", self.theta_beta);
      visit(name + ".theta_mu", self.theta_mu);
    }
  };
  template <Real R>
  Parameters<R> zero_parameters(int heads) const {
    return {zeros<R>(heads), zeros<R>(heads), zeros<R>(heads)};
  }
  template <Real R>
  Ggd<R> bias(const Parameters<R>& p, int h) const {
    return {p.theta_alpha[h], p.theta_beta[h], p.theta_mu[h], R(epsilon)};
  }
  template <Real R>
  void add_grad(const GgdGrad<R>& by, int h, Parameters<R>& grad) const {
    grad.theta_alpha[h] += by.theta_alpha;
    grad.theta_beta[h] += by.theta_beta;
    grad.theta_mu[h] += by.theta_mu;
  }
};

/// The parameters of a form (bias/of_heads.hpp) without options; Kerple's after the clamp.
template <template <class> class Form>
struct NumbersOfLayer {
  static_assert(Form<double>::options.empty());

  template <Real R>
  struct Parameters {
    std::array<Vector<R>, Form<R>::parameters.size()> of;  ///< each [heads]

    template <class Self, class Visit>
    static void each(Self& self, const std::string& name, const Visit& visit) {
      for (std::size_t n = 0; n < self.of.size(); ++n) {
        visit(name + "." + Form<R>::parameters[n], self.of[n]);
      }
    }
  };
  template <Real R>
  Parameters<R> zero_parameters(int heads) const {
    Parameters<R> zeros_of;
    zeros_of.of.fill(zeros<R>(heads));
    return zeros_of;
  }
  template <Real R>
  Form<R> bias(const Parameters<R>& p, int h) const {
    std::size_t n = 0;
    return bias_of_head<Form, R>([&](const char*) { return p.of[n++][h]; },
                                 [](const char*) { return R(0.0); });
  }
  template <Real R>
  void add_grad(const typename Form<R>::Grad& by, int h, Parameters<R>& grad) const {
    std::size_t n = 0;
    each_of_head<Form, R>(by, [&](const char*, const R& number) { grad.of[n++][h] += number; });
  }
};

/// A table of every layer's own. (T5 itself has one table for all layers.)
template <RelativeRow Row>
struct TableOfLayer {
  Row row;

  bool causal_only() const { return row.causal_only(); }

  template <Real R>
  struct Parameters {
    Matrix<R> table;  ///< [heads, rows]

    template <class Self, class Visit>
    static void each(Self& self, const std::string& name, const Visit& visit) {
      visit(name + ".table", self.table);
    }
  };
  template <Real R>
  Parameters<R> zero_parameters(int heads) const {
    return {zeros<R>(heads, row.rows())};
  }
  template <Real R>
  RelativeTable<R, Row> bias(const Parameters<R>& p, int h) const {
    return {p.table.row(h), row};
  }
  template <Real R>
  void add_grad(const RelativeTableGrad<R>& by, int h, Parameters<R>& grad) const {
    for (int n = 0; n < row.rows(); ++n) grad.table(h, n) += by.table[n];
  }
};

/// The hidden layer, c and L serve all heads of a layer. c starts at 0.1 and L at 1; L0 is fixed.
struct FireOfLayer {
  double L0 = 512, epsilon = 1e-6;
  int hidden = 32;

  template <Real R>
  struct Parameters {
    Vector<R> hidden_weight, hidden_bias;  ///< [hidden]
    Matrix<R> output_weight;               ///< [heads, hidden]
    Vector<R> output_bias;                 ///< [heads]
    Vector<R> c, L;                        ///< [1]

    template <class Self, class Visit>
    static void each(Self& self, const std::string& name, const Visit& visit) {
      visit(name + ".hidden.weight", self.hidden_weight);
      visit(name + ".hidden.bias", self.hidden_bias);
      visit(name + ".output.weight", self.output_weight);
      visit(name + ".output.bias", self.output_bias);
      visit(name + ".c", self.c);
      visit(name + ".L", self.L);
    }
  };
  template <Real R>
  Parameters<R> zero_parameters(int heads) const {
    return {zeros<R>(hidden), zeros<R>(hidden), zeros<R>(heads, hidden),
            zeros<R>(heads),  zeros<R>(1),      zeros<R>(1)};
  }
  template <Real R>
  Fire<R> bias(const Parameters<R>& p, int h) const {
    return {
        {p.hidden_weight, p.hidden_bias, p.output_weight.row(h), p.output_bias[h], p.c[0], p.L[0]},
        R(L0),
        R(epsilon)};
  }
  template <Real R>
  void add_grad(const FireParameters<R>& by, int h, Parameters<R>& grad) const {
    add_to(grad.hidden_weight, by.hidden_weight);
    add_to(grad.hidden_bias, by.hidden_bias);
    for (int w = 0; w < hidden; ++w) grad.output_weight(h, w) += by.output_weight[w];
    grad.output_bias[h] += by.output_bias;
    grad.c[0] += by.c;
    grad.L[0] += by.L;
  }
};

using GgdPosition = LearnedPosition<GgdOfLayer>;
using KerpleLogPosition = LearnedPosition<NumbersOfLayer<KerpleLog>>;
using KerplePowerPosition = LearnedPosition<NumbersOfLayer<KerplePower>>;
using FirePosition = LearnedPosition<FireOfLayer>;
template <RelativeRow Row>
using TablePosition = LearnedPosition<TableOfLayer<Row>>;
using T5Position = TablePosition<T5Buckets>;

/// A form's numbers as its authors have them: nothing is learned.
template <template <class> class Form>
struct PublishedPosition : BiasAlone, NothingLearned {
  template <Real R>
  std::vector<Form<R>> biases(const NothingLearned::Parameters<R>&, const Matrix<R>&, int heads,
                              NothingLearned::Cache<R>&) const {
    std::vector<Form<R>> of_heads;
    for (int h = 0; h < heads; ++h) {
      const auto numbers = Form<R>::published(h, heads);
      std::size_t n = 0;
      of_heads.push_back(bias_of_head<Form, R>([&](const char*) { return R(numbers[n++]); },
                                               [](const char*) { return R(0.0); }));
    }
    return of_heads;
  }
};

/// How a layer has the form.
template <template <class> class Form>
constexpr auto position_of_heads() {
  if constexpr (std::is_same_v<Form<double>, Ggd<double>>) {
    return std::type_identity<GgdPosition>{};
  } else if constexpr (requires { Form<double>::published(0, 1); }) {
    return std::type_identity<PublishedPosition<Form>>{};
  } else {
    return std::type_identity<LearnedPosition<NumbersOfLayer<Form>>>{};
  }
}
template <template <class> class Form>
using PositionOfHeads = typename decltype(position_of_heads<Form>())::type;

/// T5's own buckets: 32, distances to 128.
inline T5Position t5_position(bool bidirectional, int buckets = 32, int max_distance = 128) {
  return {{}, {T5Buckets(buckets, max_distance, bidirectional)}};
}

}  // namespace plumbline::reference
