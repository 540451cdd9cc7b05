// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_MODEL_HEAD_CUH
#define PLUMBLINE_GPU_MODEL_HEAD_CUH

#include <algorithm>
#include <memory>

#include "model/layers.cuh"
#include "model/upload.cuh"
#include "ops/chunked_cross_entropy.cuh"

namespace plumbline::gpu {

/// From the last layer's x to logits and loss:
///   GPT-2, LLaMA-style: logits = norm(x) W^T, W the word table or the head's own;
///   BERT's MLM head:    logits = LN(gelu(W' x + b')) W^T + b, W the word table.
template <class Element>
class Head {
 public:
  static constexpr int kChunkRows = 1024;  ///< tokens whose logits are in memory at a time

  Head(Step<Element>& step, Arena& arena)
      : step_(step), bert_(step.configuration.architecture == Architecture::bert) {
    const ModelConfiguration& c = step.configuration;
    const std::string head = "cls.predictions.";
    if (bert_) transform_ = std::make_unique<LinearLayer<Element>>(step, head + "transform.dense");
    const bool llama = c.architecture == Architecture::llama_style;
    norm_ = std::make_unique<Norm<Element>>(step, arena,
                                            bert_   ? head + "transform.LayerNorm"
                                            : llama ? "model.norm"
                                                    : "transformer.ln_f");
    weight_ = bert_   ? "bert.embeddings.word_embeddings.weight"
              : llama ? "lm_head.weight"
                      : "transformer.wte.weight";
    if (bert_) {
      bias_ = step.operand(head + "bias");
      grad_bias_ = step.gradient(head + "bias");
    }
    const std::size_t rows = step.max_rows();
    for (Element** piece : {&pre_, &active_, &hidden_, &grad_hidden_})
      *piece = arena.take<Element>(rows * c.width);
    logits_ = arena.take<Element>(std::min<std::size_t>(rows, kChunkRows) * c.vocabulary);
    losses_ = arena.take<float>(rows);
    sum_ = arena.take<double>(1);
  }

  /// Up to what the classifier reads.
  void forward(int rows, const Element* x) {
    x_ = x;
    if (bert_) transform_->forward_gelu(rows, GeluForm::erf, x, pre_, active_);
    norm_->forward(rows, bert_ ? active_ : x, hidden_);
  }

  /// The logits of rows first .. first + rows - 1, at most kChunkRows; [rows, vocabulary].
  const Element* logits(int first, int rows) {
    step_.linear.forward(shape(rows), step_.configuration.format, hidden(first),
                         step_.operand(weight_), bias_, logits_);
    return logits_;
  }

  /// Asks for the losses, after forward; with `gradients` also for the classifier's, and dL/d
  /// hidden, where `share` is the gradient of each loss.
  void loss(int rows, const Targets& targets, bool gradients, float share) {
    Classifier<Element> classifier;
    classifier.forward = [&](int first, int count, Element*) { logits(first, count); };
    if (gradients)
      classifier.backward = [&](int first, int count, const Element* grad_logits) {
        const Format format = step_.configuration.format;
        step_.linear.backward_input(shape(count), format, grad_logits, step_.operand(weight_),
                                    grad_hidden_ + place(first));
        step_.linear.backward_weight(shape(count), format, hidden(first), grad_logits,
                                     step_.gradient(weight_), grad_bias_, Gradient::accumulate);
      };
    const int vocabulary = step_.configuration.vocabulary;
    launch_chunked_cross_entropy(step_.stream, {rows, vocabulary, vocabulary}, targets, classifier,
                                 std::min(rows, kChunkRows), logits_, losses_, share, sum_);
  }

  /// Waits for the sum of the losses that were asked for.
  double wait_for_sum() const {
    double sum = 0.0;
    download(step_.stream, sum_, 1, &sum);
    return sum;
  }

  /// After loss with gradients: dL/dx. `workspace` [rows, width].
  void backward(int rows, Element* grad_x, Element* workspace, float* norm_workspace) {
    if (!bert_) return norm_->backward(rows, x_, grad_hidden_, grad_x, norm_workspace);
    norm_->backward(rows, active_, grad_hidden_, workspace, norm_workspace);
    gelu_backward(step_.stream, GeluForm::erf, pre_, workspace, workspace, place(rows));
    transform_->backward_weight(rows, x_, workspace);
    transform_->backward_input(rows, workspace, grad_x);
  }

  const float* losses() const { return losses_; }  ///< [rows], 0 where there is no target

 private:
  LinearShape shape(int rows) const {
    return {rows, step_.configuration.width, step_.configuration.vocabulary};
  }
  std::size_t place(int row) const {
    return static_cast<std::size_t>(row) * step_.configuration.width;
  }
  const Element* hidden(int first) const { return hidden_ + place(first); }

  Step<Element>& step_;
  bool bert_;
  std::unique_ptr<LinearLayer<Element>> transform_;  ///< BERT's
  std::unique_ptr<Norm<Element>> norm_;
  std::string weight_;
  const Element* bias_ = nullptr;
  float* grad_bias_ = nullptr;
  const Element* x_ = nullptr;
  Element *pre_, *active_, *hidden_, *grad_hidden_, *logits_;
  float* losses_;
  double* sum_;  ///< of the losses
};

}  // namespace plumbline::gpu

#endif
