// SPDX-License-Identifier: Apache-2.0
// Adaptors of the biases that see nothing but the distance, and of NoPE.
#pragma once

#include "reference/bias/alibi.hpp"
#include "reference/bias/nope.hpp"
#include "reference/bias/of_heads.hpp"
#include "reference/methods/problem.hpp"

namespace plumbline::reference::methods {

struct NopeMethod {
  static constexpr const char* name = "nope";
  static constexpr Kind kind = Kind::bias;
  static std::vector<const char*> options() { return {}; }
  static std::vector<NamedShape> parameters(const Problem&) { return {}; }
  template <Real R>
  static Nope<R> bias(const MethodInputs<R>&, int, int) {
    return {};
  }
  template <Real R>
  static void add_grad(const MethodInputs<R>&, int, int, const typename Nope<R>::Grad&,
                       Tensors<R>&) {}
};

/// slopes [heads], given: the official schedule's, or any others. Not learned.
struct AlibiMethod {
  static constexpr const char* name = "alibi";
  static constexpr Kind kind = Kind::bias;
  static std::vector<const char*> options() { return {}; }
  static std::vector<NamedShape> parameters(const Problem& p) {
    return {{"slopes", {p.shape.heads}}};
  }
  template <Real R>
  static Alibi<R> bias(const MethodInputs<R>& in, int, int h) {
    return {in.number("slopes", h)};
  }
  template <Real R>
  static void add_grad(const MethodInputs<R>&, int, int, const typename Alibi<R>::Grad&,
                       Tensors<R>&) {}
};

/// The article's slopes 2^(-8 (h+1) / heads), for every number of heads; not rounded.
struct AlibiGeometricMethod {
  static constexpr const char* name = "alibi_geometric";
  static constexpr Kind kind = Kind::bias;
  static std::vector<const char*> options() { return {}; }
  static std::vector<NamedShape> parameters(const Problem&) { return {}; }
  template <Real R>
  static Alibi<R> bias(const MethodInputs<R>& in, int, int h) {
    return {alibi_slopes_geometric<R>(in.shape().heads).at(h)};
  }
  template <Real R>
  static void add_grad(const MethodInputs<R>&, int, int, const typename Alibi<R>::Grad&,
                       Tensors<R>&) {}
};

/// Its parameters [heads] each; those that a model clamps after the clamp.
template <template <class> class Form>
struct OfHeads {
  static constexpr const char* name = Form<double>::name;
  static constexpr Kind kind = Kind::bias;
  static std::vector<const char*> options() {
    return {Form<double>::options.begin(), Form<double>::options.end()};
  }
  static std::vector<NamedShape> parameters(const Problem& p) {
    std::vector<NamedShape> all;
    for (const char* parameter : Form<double>::parameters)
      all.push_back({parameter, {p.shape.heads}});
    return all;
  }
  template <Real R>
  static Form<R> bias(const MethodInputs<R>& in, int, int h) {
    return bias_of_head<Form, R>([&](const char* parameter) { return in.number(parameter, h); },
                                 [&](const char* option) { return in.option(option); });
  }
  template <Real R>
  static void add_grad(const MethodInputs<R>& in, int, int h, const typename Form<R>::Grad& grad,
                       Tensors<R>& out) {
    each_of_head<Form, R>(grad, [&](const std::string& parameter, const R& by) {
      add(out, "grad_" + parameter, {in.shape().heads}, h, by);
    });
  }
};

}  // namespace plumbline::reference::methods
