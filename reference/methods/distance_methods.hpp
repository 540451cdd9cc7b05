// SPDX-License-Identifier: Apache-2.0
// Adaptors of the biases that see nothing but the distance, and of NoPE.
#pragma once

#include "reference/bias/alibi.hpp"
#include "reference/bias/ggd.hpp"
#include "reference/bias/kerple.hpp"
#include "reference/bias/nope.hpp"
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

/// p, a [heads], after the clamp.
template <template <class> class Form>
struct Kerple {
  static constexpr Kind kind = Kind::bias;
  static std::vector<const char*> options() { return {}; }
  static std::vector<NamedShape> parameters(const Problem& p) {
    return {{"p", {p.shape.heads}}, {"a", {p.shape.heads}}};
  }
  template <Real R>
  static Form<R> bias(const MethodInputs<R>& in, int, int h) {
    return {in.number("p", h), in.number("a", h)};
  }
  template <Real R>
  static void add_grad(const MethodInputs<R>& in, int, int h, const KerpleGrad<R>& grad,
                       Tensors<R>& out) {
    add(out, "grad_p", {in.shape().heads}, h, grad.p);
    add(out, "grad_a", {in.shape().heads}, h, grad.a);
  }
};

struct KerpleLogMethod : Kerple<KerpleLog> {
  static constexpr const char* name = "kerple_log";
};
struct KerplePowerMethod : Kerple<KerplePower> {
  static constexpr const char* name = "kerple_power";
};

/// theta_alpha, theta_beta, theta_mu [heads].
struct GgdMethod {
  static constexpr const char* name = "ggd";
  static constexpr Kind kind = Kind::bias;
  static std::vector<const char*> options() { return {"epsilon"}; }
  static std::vector<NamedShape> parameters(const Problem& p) {
    const std::vector<int> heads = {p.shape.heads};
    return {{"theta_alpha", heads}, {"theta_beta", heads}, {"theta_mu", heads}};
  }
  template <Real R>
  static Ggd<R> bias(const MethodInputs<R>& in, int, int h) {
    return {in.number("theta_alpha", h), in.number("theta_beta", h), in.number("theta_mu", h),
            in.option("epsilon")};
  }
  template <Real R>
  static void add_grad(const MethodInputs<R>& in, int, int h, const GgdGrad<R>& grad,
                       Tensors<R>& out) {
    const std::vector<int> heads = {in.shape().heads};
    add(out, "grad_theta_alpha", heads, h, grad.theta_alpha);
    add(out, "grad_theta_beta", heads, h, grad.theta_beta);
    add(out, "grad_theta_mu", heads, h, grad.theta_mu);
  }
};

}  // namespace plumbline::reference::methods
