// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_MODEL_FEED_FORWARD_CUH
#define PLUMBLINE_GPU_MODEL_FEED_FORWARD_CUH

#include <optional>
#include <string>

#include "model/layers.cuh"
#include "ops/swiglu.cuh"

namespace plumbline::gpu {

/// Names of a feed-forward network's linear layers; `gate` only in SwiGLU's.
struct FeedForwardNames {
  std::string gate, up, down;
};

/// y = W_down gelu(W_up x + b) + b', or, with a gate, y = W_down (silu(W_gate x) W_up x).
template <class Element>
class FeedForward {
 public:
  /// Room for the backward passes of all layers, one after the other.
  struct Workspace {
    Element* hidden[3];  ///< [rows, hidden] each; two of them only for a gate
    Element* x;          ///< [rows, width], only for a gate
    Workspace(const Step<Element>& step, Arena& arena) : hidden{}, x(nullptr) {
      const bool gated = step.configuration.architecture == Architecture::llama_style;
      for (int n = 0; n < (gated ? 3 : 1); ++n)
        hidden[n] = arena.take<Element>(step.max_rows() * step.configuration.hidden);
      if (gated) x = arena.take<Element>(step.max_rows() * step.configuration.width);
    }
  };

  FeedForward(Step<Element>& step, Arena& arena, const FeedForwardNames& names, GeluForm form)
      : step_(step), form_(form), up_(step, names.up), down_(step, names.down) {
    const std::size_t count = step.max_rows() * up_.out();
    if (!names.gate.empty()) {
      gate_.emplace(step, names.gate);
      gate_of_x_ = arena.take<Element>(count);
    }
    up_of_x_ = arena.take<Element>(count);
    active_ = arena.take<Element>(count);
  }

  void forward(int rows, const Element* x, Element* y) {
    if (gate_) {
      gate_->forward(rows, x, gate_of_x_);
      up_.forward(rows, x, up_of_x_);
      swiglu(step_.stream, gate_of_x_, up_of_x_, active_, count(rows));
    } else {
      up_.forward_gelu(rows, form_, x, up_of_x_, active_);
    }
    down_.forward(rows, active_, y);
  }

  void backward(int rows, const Element* x, const Element* grad_y, Element* grad_x,
                const Workspace& workspace) {
    down_.backward_weight(rows, active_, grad_y);
    if (!gate_) {
      down_.backward_input_gelu(rows, form_, grad_y, up_of_x_, workspace.hidden[0], up_);
      up_.backward_weight_alone(rows, x, workspace.hidden[0]);
      up_.backward_input(rows, workspace.hidden[0], grad_x);
      return;
    }
    down_.backward_input(rows, grad_y, workspace.hidden[0]);
    swiglu_backward(step_.stream, gate_of_x_, up_of_x_, workspace.hidden[0], workspace.hidden[1],
                    workspace.hidden[2], count(rows));
    gate_->backward_weight(rows, x, workspace.hidden[1]);
    up_.backward_weight(rows, x, workspace.hidden[2]);
    gate_->backward_input(rows, workspace.hidden[1], grad_x);
    up_.backward_input(rows, workspace.hidden[2], workspace.x);
    add(step_.stream, grad_x, workspace.x, grad_x, static_cast<std::size_t>(rows) * up_.in());
  }

 private:
  std::size_t count(int rows) const { return static_cast<std::size_t>(rows) * up_.out(); }

  Step<Element>& step_;
  GeluForm form_;
  std::optional<LinearLayer<Element>> gate_;
  LinearLayer<Element> up_, down_;
  Element *gate_of_x_ = nullptr, *up_of_x_, *active_;  ///< [rows, hidden] each
};

}  // namespace plumbline::gpu

#endif
