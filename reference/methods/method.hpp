// SPDX-License-Identifier: Apache-2.0
// From an adaptor, which says what one method reads and writes, to the method's results.
//
// An adaptor is a struct without data. All have
//   static constexpr const char* name;      snake_case
//   static constexpr Kind kind;
//   static std::vector<const char*> options();                       names, all needed
//   static std::vector<NamedShape> parameters(const Problem&);       in the order of files
// and may have
//   static Mask mask(const Problem&);       where the method has a mask of its own
// Then, by kind, templates over Real R (`in` is a MethodInputs<R>):
//   bias       bias(in, b, h) -> the bias, and add_grad(in, b, h, its Grad, out)
//   rotation   rotate(in, rows, offset), rotate_back(in, rows, offset) -> Matrix<R>
//   embedding  table(in) -> Matrix<R>, add_grad(in, grad_table, out)
//   logits     table(in, x), add_grad(in, x, grad_table, grad, out), as LogitsFunctions says
#pragma once

#include <algorithm>

#include "reference/methods/evaluate.hpp"

namespace plumbline::reference::methods {

/// The mask that the method works under: its own, or the problem's.
template <class Method>
Mask mask_of(const Problem& problem) {
  if constexpr (requires { Method::mask(problem); }) {
    return Method::mask(problem);
  } else {
    return problem.mask;
  }
}

/// The names and shapes of all tensors that a problem has, in the order of files: q, k, v (or x),
/// the parameters, ssmax_scale with SSMax, and the gradients from the rest of the model.
inline std::vector<NamedShape> input_shapes(Kind kind, const Problem& problem, bool ssmax,
                                            const std::vector<NamedShape>& parameters) {
  const AttentionShape& s = problem.shape;
  const std::vector<int> q = {s.batch, s.heads, s.queries, s.head_dim},
                         k = {s.batch, s.kv_heads, s.keys, s.head_dim},
                         v = {s.batch, s.kv_heads, s.keys, s.value_width()},
                         o = {s.batch, s.heads, s.queries, s.value_width()},
                         x = {s.batch, s.queries, s.heads * s.head_dim};
  const bool embedding = kind == Kind::embedding;
  std::vector<NamedShape> all;
  if (embedding) {
    all.push_back({"x", x});
  } else {
    all.push_back({"q", q});
    all.push_back({"k", k});
    all.push_back({"v", v});
  }
  all.insert(all.end(), parameters.begin(), parameters.end());
  if (embedding) {
    all.push_back({"grad_embeddings", x});
    return all;
  }
  if (ssmax) all.push_back({"ssmax_scale", {s.heads}});
  all.push_back({"grad_o", o});
  all.push_back({"grad_lse", {s.batch, s.heads, s.queries}});
  return all;
}

/// The first row at a position from 0 on: those before see no key and have no bias.
inline int first_row(const AttentionShape& s, int b) {
  return std::clamp(-s.first_position(b), 0, s.queries);
}

/// The functions of a method of kind bias.
template <class Method, Real R>
BiasFunctions<R> bias_functions(const MethodInputs<R>& in) {
  return {[&in](int b, int h) {
            const AttentionShape& s = in.shape();
            const auto bias = Method::bias(in, b, h);
            Matrix<R> table = zeros<R>(s.queries, s.keys);
            for (int r = first_row(s, b); r < s.queries; ++r) {
              for (int j = 0; j < s.keys; ++j) table(r, j) = bias(r + s.first_position(b), j);
            }
            return table;
          },
          [&in](int b, int h, const Matrix<R>& grad_table, Tensors<R>& out) {
            const AttentionShape& s = in.shape();
            const auto bias = Method::bias(in, b, h);
            auto grad = bias.zero_grad();
            for (int r = first_row(s, b); r < s.queries; ++r) {
              for (int j = 0; j < s.keys; ++j) {
                bias.accumulate_grad(grad, r + s.first_position(b), j, grad_table(r, j));
              }
            }
            Method::add_grad(in, b, h, grad, out);
          }};
}

/// The results of a problem. @throws std::invalid_argument for tensors or options that are missing
/// or too small, and as the method's equations do.
template <class Method, Real R>
Results<R> evaluate_with(const Problem& problem, const Tensors<R>& tensors, Pass pass) {
  const MethodInputs<R> in(problem, tensors);
  if constexpr (Method::kind == Kind::bias) {
    return evaluate_bias(in, mask_of<Method>(problem), bias_functions<Method>(in), pass);
  } else if constexpr (Method::kind == Kind::rotation) {
    const RotationFunctions<R> rotation{
        [&](const Matrix<R>& rows, int offset) { return Method::rotate(in, rows, offset); },
        [&](const Matrix<R>& rows, int offset) { return Method::rotate_back(in, rows, offset); }};
    return evaluate_rotation(in, mask_of<Method>(problem), rotation, pass);
  } else if constexpr (Method::kind == Kind::embedding) {
    const EmbeddingFunctions<R> embedding{[&] { return Method::table(in); },
                                          [&](const Matrix<R>& grad_table, Tensors<R>& out) {
                                            Method::add_grad(in, grad_table, out);
                                          }};
    return evaluate_embedding(in, embedding, pass);
  } else {
    const LogitsFunctions<R> logits{
        [&](const AttentionInputs<R>& x) { return Method::table(in, x); },
        [&](const AttentionInputs<R>& x, const std::vector<Matrix<R>>& grad_table,
            AttentionGrad<R, Matrix<R>>& grad,
            Tensors<R>& out) { Method::add_grad(in, x, grad_table, grad, out); }};
    return evaluate_logits(in, mask_of<Method>(problem), logits, pass);
  }
}

}  // namespace plumbline::reference::methods
