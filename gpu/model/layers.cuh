// SPDX-License-Identifier: Apache-2.0
// Layers with their parameters. Gradients of parameters are added to the flat buffer, those of
// inputs overwrite. Adjoints and shapes: the ops'.
#ifndef PLUMBLINE_GPU_MODEL_LAYERS_CUH
#define PLUMBLINE_GPU_MODEL_LAYERS_CUH

#include <cstdint>
#include <string>

#include "model/step.cuh"
#include "ops/layernorm.cuh"
#include "ops/residual.cuh"
#include "ops/rmsnorm.cuh"

namespace plumbline::gpu {

/// NAME.weight [out, in] and, if there is one, NAME.bias [out].
template <class Element>
class LinearLayer {
 public:
  LinearLayer(Step<Element>& step, const std::string& name)
      : step_(step), out_(extent(name, 0)), in_(extent(name, 1)) {
    weight_ = step.operand(name + ".weight");
    grad_weight_ = step.gradient(name + ".weight");
    if (!step.layout.has(name + ".bias")) return;
    bias_ = step.operand(name + ".bias");
    grad_bias_ = step.gradient(name + ".bias");
  }

  void forward(int rows, const Element* x, Element* y) {
    step_.linear.forward(shape(rows), step_.configuration.format, x, weight_, bias_, y);
  }
  /// y = gelu(pre), pre = W x + b
  void forward_gelu(int rows, GeluForm form, const Element* x, Element* pre, Element* y) {
    step_.linear.forward_gelu(shape(rows), step_.configuration.format, form, x, weight_, bias_, pre,
                              y);
  }
  void backward_input(int rows, const Element* grad_y, Element* grad_x) {
    step_.linear.backward_input(shape(rows), step_.configuration.format, grad_y, weight_, grad_x);
  }
  void backward_weight(int rows, const Element* x, const Element* grad_y) {
    step_.linear.backward_weight(shape(rows), step_.configuration.format, x, grad_y, grad_weight_,
                                 grad_bias_, Gradient::accumulate);
  }
  /// This layer's x being gelu(pre) and `before` the layer that made pre: grad_pre, and what comes
  /// from it to the bias of `before`.
  void backward_input_gelu(int rows, GeluForm form, const Element* grad_y, const Element* pre,
                           Element* grad_pre, LinearLayer& before) {
    step_.linear.backward_input_gelu(shape(rows), step_.configuration.format, form, grad_y, weight_,
                                     pre, grad_pre, before.grad_bias_, Gradient::accumulate);
  }
  /// backward_weight without the bias, which backward_input_gelu has served.
  void backward_weight_alone(int rows, const Element* x, const Element* grad_y) {
    step_.linear.backward_weight(shape(rows), step_.configuration.format, x, grad_y, grad_weight_,
                                 nullptr, Gradient::accumulate);
  }

  int in() const { return in_; }
  int out() const { return out_; }

 private:
  int extent(const std::string& name, int n) const {
    return static_cast<int>(step_.layout[name + ".weight"].shape[n]);
  }
  LinearShape shape(int rows) const { return {rows, in_, out_}; }

  Step<Element>& step_;
  int out_, in_;
  const Element *weight_, *bias_ = nullptr;
  float *grad_weight_, *grad_bias_ = nullptr;
};

/// LayerNorm, or, where NAME has no bias, RMSNorm, of rows of the model's width.
template <class Element>
class Norm {
 public:
  Norm(Step<Element>& step, Arena& arena, const std::string& name)
      : step_(step),
        gamma_(step.value(name + ".weight")),
        grad_gamma_(step.gradient(name + ".weight")) {
    rstd_ = arena.take<float>(step.max_rows());
    if (!step.layout.has(name + ".bias")) return;
    beta_ = step.value(name + ".bias");
    grad_beta_ = step.gradient(name + ".bias");
    mean_ = arena.take<float>(step.max_rows());
  }

  void forward(int rows, const Element* x, Element* y) {
    const auto epsilon = static_cast<float>(step_.configuration.epsilon);
    if (beta_)
      layernorm_forward(step_.stream, shape(rows), x, gamma_, beta_, epsilon, y, mean_, rstd_);
    else
      rmsnorm_forward(step_.stream, shape(rows), x, gamma_, epsilon, y, rstd_);
  }
  /// `workspace`: norm_workspace of the rows. grad_x and grad_y must not overlap.
  void backward(int rows, const Element* x, const Element* grad_y, Element* grad_x,
                float* workspace) {
    if (beta_)
      layernorm_backward(step_.stream, shape(rows), x, gamma_, mean_, rstd_, grad_y, grad_x,
                         grad_gamma_, grad_beta_, Gradient::accumulate, workspace);
    else
      rmsnorm_backward(step_.stream, shape(rows), x, gamma_, rstd_, grad_y, grad_x, grad_gamma_,
                       Gradient::accumulate, workspace);
  }

 private:
  RowShape shape(int rows) const { return {rows, step_.configuration.width}; }

  Step<Element>& step_;
  const float *gamma_, *beta_ = nullptr;
  float *grad_gamma_, *grad_beta_ = nullptr;
  float *mean_ = nullptr, *rstd_;
};

/// Dropout of one place in the model; the adjoint is the same function.
template <class Element>
class DropoutLayer {
 public:
  DropoutLayer(const Step<Element>& step, int place) : step_(step), place_(place) {}

  /// x becomes dropout(x).
  void apply(const Tokens& tokens, Element* x) const { apply(tokens, x, x); }
  void apply(const Tokens& tokens, const Element* x, Element* y) const {
    dropout(step_.stream, of_place(), x, y,
            static_cast<std::size_t>(tokens.rows()) * step_.configuration.width);
  }
  /// grad_y itself where nothing is dropped, else dropout(grad_y), in `workspace`.
  const Element* adjoint(const Tokens& tokens, const Element* grad_y, Element* workspace) const {
    if (!on()) return grad_y;
    apply(tokens, grad_y, workspace);
    return workspace;
  }
  /// Places of a model, whose draws follow one another.
  static std::uint64_t places(const ModelConfiguration& c) { return 2 * c.layers + 1; }
  bool on() const { return step_.drops && step_.configuration.dropout > 0.0; }

 private:
  Dropout of_place() const {
    return {step_.configuration.dropout, step_.dropout_seed, static_cast<std::uint64_t>(place_),
            step_.dropout_draw.data()};
  }

  const Step<Element>& step_;
  int place_;
};

}  // namespace plumbline::gpu

#endif
