// SPDX-License-Identifier: Apache-2.0
// Adaptors of DAPE, both versions, over any method of kind bias.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "reference/attention/dape_tables.hpp"
#include "reference/methods/method.hpp"

namespace plumbline::reference::methods {

/// The network's tensors: hidden_weight [hidden, 2 heads * taps], hidden_bias [hidden],
/// output_weight [heads, hidden * taps], output_bias [heads]; taps is 1 in version 1, 3 in 2.
struct DapeNetwork {
  int taps;

  std::vector<NamedShape> parameters(const Problem& p) const {
    const int heads = p.shape.heads, hidden = whole_option(p, "hidden");
    return {{"hidden_weight", {hidden, 2 * heads * taps}},
            {"hidden_bias", {hidden}},
            {"output_weight", {heads, hidden * taps}},
            {"output_bias", {heads}}};
  }

  template <Real R>
  DapeLayers<R> layers(const MethodInputs<R>& in) const {
    const int heads = in.shape().heads, hidden = in.whole_option("hidden");
    return {{in.matrix("hidden_weight", 0, hidden, 2 * heads * taps),
             in.vector("hidden_bias", 0, hidden), taps},
            {in.matrix("output_weight", 0, heads, hidden * taps),
             in.vector("output_bias", 0, heads), taps}};
  }

  template <Real R>
  void add_grad(const MethodInputs<R>& in, const DapeGrad<R>& grad, Tensors<R>& out) const {
    const std::vector<NamedShape> shapes = parameters(in.problem());
    add(out, "grad_hidden_weight", shapes[0].shape, 0, grad.first.weight);
    add(out, "grad_hidden_bias", shapes[1].shape, 0, grad.first.bias);
    add(out, "grad_output_weight", shapes[2].shape, 0, grad.second.weight);
    add(out, "grad_output_bias", shapes[3].shape, 0, grad.second.bias);
  }
};

template <Real R>
std::vector<Matrix<R>> bias_tables(const AttentionShape& s, const BiasFunctions<R>& bias) {
  std::vector<Matrix<R>> tables;
  for (int head = 0; head < s.batch * s.heads; ++head) {
    tables.push_back(bias.table(head / s.heads, head % s.heads));
  }
  return tables;
}

/// The parameters of the base method, then the network's.
template <class Base, int version>
struct DapeMethod {
  /// "dape_v1_alibi".
  static constexpr auto full_name = [] {
    std::array<char, 64> text{};
    std::size_t length = 0;
    for (const std::string_view part : {version == 1 ? "dape_v1_" : "dape_v2_", Base::name}) {
      for (const char letter : part) text.at(length++) = letter;
    }
    return text;
  }();
  static constexpr const char* name = full_name.data();
  static constexpr Kind kind = Kind::logits;
  static constexpr DapeNetwork network{version == 1 ? 1 : 3};

  static std::vector<const char*> options() {
    std::vector<const char*> all = Base::options();
    all.push_back("hidden");
    return all;
  }
  static std::vector<NamedShape> parameters(const Problem& p) {
    std::vector<NamedShape> all = Base::parameters(p);
    for (const NamedShape& shape : network.parameters(p)) all.push_back(shape);
    return all;
  }
  template <Real R>
  static std::vector<Matrix<R>> table(const MethodInputs<R>& in, const AttentionInputs<R>& x) {
    return dape_tables(x, bias_tables(x.shape, bias_functions<Base>(in)), network.layers(in));
  }
  template <Real R>
  static void add_grad(const MethodInputs<R>& in, const AttentionInputs<R>& x,
                       const std::vector<Matrix<R>>& grad_table, AttentionGrad<R, Matrix<R>>& grad,
                       Tensors<R>& out) {
    const AttentionShape& s = x.shape;
    const BiasFunctions<R> bias = bias_functions<Base>(in);
    const std::vector<Matrix<R>> grad_biases =
        dape_tables_grad(x, bias_tables(s, bias), network.layers(in), grad_table, grad.q, grad.k,
                         [&](const DapeGrad<R>& by_row) { network.add_grad(in, by_row, out); });
    for (int head = 0; head < s.batch * s.heads; ++head) {
      bias.add_grad(head / s.heads, head % s.heads, grad_biases[head], out);
    }
  }
};

}  // namespace plumbline::reference::methods
