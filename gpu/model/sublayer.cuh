// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_MODEL_SUBLAYER_CUH
#define PLUMBLINE_GPU_MODEL_SUBLAYER_CUH

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "model/attention_layer.cuh"
#include "model/feed_forward.cuh"

namespace plumbline::gpu {

/// What the sublayers of a model work in, one after the other.
template <class Element>
struct Workspace {
  Element *a, *b, *c;  ///< [rows, width] each
  float* norm_workspace;
  typename AttentionLayer<Element>::Workspace attention;
  typename FeedForward<Element>::Workspace feed_forward;

  Workspace(const Step<Element>& step, Arena& arena)
      : attention(step, arena), feed_forward(step, arena) {
    const int width = step.configuration.width;
    for (Element** piece : {&a, &b, &c}) *piece = arena.take<Element>(step.max_rows() * width);
    // Fewer rows never need more than 8192 do: 128 chunks (ops/column_sums.cuh).
    const int rows = static_cast<int>(std::min<std::size_t>(step.max_rows(), 8192));
    norm_workspace = arena.take<float>(gpu::norm_workspace({rows, width}));
  }
};

/// f being an attention layer or a feed-forward network, before its norm or after it:
///   norm first (GPT-2, LLaMA-style): y = x + dropout(f(norm(x)));
///   norm last (BERT):                y = norm(x + dropout(f(x))).
template <class Element>
class Sublayer {
 public:
  Sublayer(Step<Element>& step, Arena& arena, const std::string& norm, int place,
           std::unique_ptr<AttentionLayer<Element>> attention,
           std::unique_ptr<FeedForward<Element>> feed_forward)
      : step_(step),
        norm_first_(step.configuration.architecture != Architecture::bert),
        norm_(step, arena, norm),
        dropout_(step, place),
        attention_(std::move(attention)),
        feed_forward_(std::move(feed_forward)) {
    inner_ = arena.take<Element>(step.max_rows() * step.configuration.width);
    y_ = arena.take<Element>(step.max_rows() * step.configuration.width);
  }

  /// [rows, width]. x must stay as it is until the backward pass.
  const Element* forward(const Tokens& tokens, const Element* x,
                         const Workspace<Element>& workspace) {
    const int rows = tokens.rows();
    x_ = x;
    if (norm_first_) norm_.forward(rows, x, inner_);
    Element* const result = norm_first_ ? y_ : inner_;
    apply(tokens, norm_first_ ? inner_ : x, result, workspace);
    if (dropout_.on()) dropout_.apply(tokens, result);
    add(step_.stream, x, result, result, count(tokens));
    if (!norm_first_) norm_.forward(rows, inner_, y_);
    return y_;
  }

  /// grad, dL/dy [rows, width], becomes dL/dx.
  void backward(const Tokens& tokens, Element* grad, const Workspace<Element>& workspace) {
    const int rows = tokens.rows();
    if (norm_first_) {
      apply_adjoint(tokens, inner_, dropout_.adjoint(tokens, grad, workspace.a), workspace.b,
                    workspace);
      norm_.backward(rows, x_, workspace.b, workspace.a, workspace.norm_workspace);
      add(step_.stream, grad, workspace.a, grad, count(tokens));
    } else {
      norm_.backward(rows, inner_, grad, workspace.a, workspace.norm_workspace);
      apply_adjoint(tokens, x_, dropout_.adjoint(tokens, workspace.a, workspace.c), workspace.b,
                    workspace);
      add(step_.stream, workspace.a, workspace.b, grad, count(tokens));
    }
  }

  /// After forward, of an attention sublayer.
  AttentionWeights attention_weights(const Tokens& tokens, const Workspace<Element>& workspace) {
    return attention_->weights(tokens, workspace.attention);
  }

 private:
  void apply(const Tokens& tokens, const Element* x, Element* y,
             const Workspace<Element>& workspace) {
    if (attention_)
      attention_->forward(tokens, x, y, workspace.attention);
    else
      feed_forward_->forward(tokens.rows(), x, y);
  }
  void apply_adjoint(const Tokens& tokens, const Element* x, const Element* grad_y, Element* grad_x,
                     const Workspace<Element>& workspace) {
    if (attention_)
      attention_->backward(tokens, x, grad_y, grad_x, workspace.attention);
    else
      feed_forward_->backward(tokens.rows(), x, grad_y, grad_x, workspace.feed_forward);
  }
  std::size_t count(const Tokens& tokens) const {
    return static_cast<std::size_t>(tokens.rows()) * step_.configuration.width;
  }

  Step<Element>& step_;
  bool norm_first_;
  Norm<Element> norm_;
  DropoutLayer<Element> dropout_;
  std::unique_ptr<AttentionLayer<Element>> attention_;
  std::unique_ptr<FeedForward<Element>> feed_forward_;
  const Element* x_ = nullptr;
  Element *inner_, *y_;  ///< norm(x), or x + f(x); y
};

}  // namespace plumbline::gpu

#endif
