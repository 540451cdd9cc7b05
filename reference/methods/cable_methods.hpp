// SPDX-License-Identifier: Apache-2.0
// Adaptors of CABLE's forms: what the equations read are increments and, with weights, gains.
#pragma once

#include "reference/bias/cable.hpp"
#include "reference/bias/cable_nw.hpp"
#include "reference/bias/k_cable.hpp"
#include "reference/bias/k_cable_nw.hpp"
#include "reference/methods/problem.hpp"

namespace plumbline::reference::methods {

/// Adds one head's gradient of S to grad_prefix_sum, and that of the increments to grad_increments.
template <Real R>
void add_prefix_sum_grad(const AttentionShape& s, int b, int h, const Vector<R>& grad,
                         Tensors<R>& out) {
  const std::size_t first = static_cast<std::size_t>(b * s.heads + h) * s.keys;
  add(out, "grad_prefix_sum", {s.batch, s.heads, s.keys}, first, grad);
  add(out, "grad_increments", {s.batch, s.heads, s.keys}, first, prefix_sum_grad(grad));
}

/// increments [batch, heads, keys], >= 0; gain [batch, heads, queries], >= 0.
template <template <class> class Form>
struct WeightedCable {
  static constexpr Kind kind = Kind::bias;
  static std::vector<const char*> options() { return {}; }
  static std::vector<NamedShape> parameters(const Problem& p) {
    const AttentionShape& s = p.shape;
    return {{"increments", {s.batch, s.heads, s.keys}}, {"gain", {s.batch, s.heads, s.queries}}};
  }
  template <Real R>
  static Form<R> bias(const MethodInputs<R>& in, int b, int h) {
    const AttentionShape& s = in.shape();
    const int head = b * s.heads + h;
    return {prefix_sum(in.vector("increments", head, s.keys)), in.vector("gain", head, s.queries),
            s.first_position(b)};
  }
  template <Real R>
  static void add_grad(const MethodInputs<R>& in, int b, int h, const CableGrad<R>& grad,
                       Tensors<R>& out) {
    const AttentionShape& s = in.shape();
    add_prefix_sum_grad(s, b, h, grad.prefix_sum, out);
    add(out, "grad_gain", {s.batch, s.heads, s.queries},
        static_cast<std::size_t>(b * s.heads + h) * s.queries, grad.gain);
  }
};

/// increments [batch, heads, keys], >= 0.
template <template <class> class Form>
struct UnweightedCable {
  static constexpr Kind kind = Kind::bias;
  static std::vector<const char*> options() { return {}; }
  static std::vector<NamedShape> parameters(const Problem& p) {
    return {{"increments", {p.shape.batch, p.shape.heads, p.shape.keys}}};
  }
  template <Real R>
  static Form<R> bias(const MethodInputs<R>& in, int b, int h) {
    return {prefix_sum(in.vector("increments", b * in.shape().heads + h, in.shape().keys))};
  }
  template <Real R>
  static void add_grad(const MethodInputs<R>& in, int b, int h, const CableNwGrad<R>& grad,
                       Tensors<R>& out) {
    add_prefix_sum_grad(in.shape(), b, h, grad.prefix_sum, out);
  }
};

struct CableMethod : WeightedCable<Cable> {
  static constexpr const char* name = "cable";
};
struct CablePaperMethod : WeightedCable<CablePaper> {
  static constexpr const char* name = "cable_paper";
};
struct CableNwMethod : UnweightedCable<CableNw> {
  static constexpr const char* name = "cable_nw";
};
struct CableNwPaperMethod : UnweightedCable<CableNwPaper> {
  static constexpr const char* name = "cable_nw_paper";
};
struct KCableMethod : WeightedCable<KCable> {
  static constexpr const char* name = "k_cable";
};
struct KCablePaperMethod : WeightedCable<KCablePaper> {
  static constexpr const char* name = "k_cable_paper";
};
struct KCableNwMethod : UnweightedCable<KCableNw> {
  static constexpr const char* name = "k_cable_nw";
};

}  // namespace plumbline::reference::methods
