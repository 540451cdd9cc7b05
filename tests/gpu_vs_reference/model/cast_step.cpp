// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu_vs_reference/model/cast_step.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "model/parameters.hpp"
#include "reference/attention/projections.hpp"
#include "reference/model/embedding.hpp"
#include "reference/model/gelu.hpp"
#include "reference/model/loss.hpp"
#include "tests/gpu_vs_reference/model/cast_attention.hpp"
#include "tests/gpu_vs_reference/model/cast_layers.hpp"

namespace plumbline::gpu_tests {

namespace {

using Matrix = reference::Matrix<double>;

/// The names of a layer's parameters.
struct LayerNames {
  std::string attention_norm, position, ssmax, projection, output, feed_norm, up, down;
};

LayerNames gpt2_names(int layer) {
  const std::string name = "transformer.h." + std::to_string(layer);
  return {name + ".ln_1",        name + ".attn.position", name + ".attn.ssmax.scale",
          name + ".attn.c_attn", name + ".attn.c_proj",   name + ".ln_2",
          name + ".mlp.c_fc",    name + ".mlp.c_proj"};
}

LayerNames bert_names(int layer) {
  const std::string name = "bert.encoder.layer." + std::to_string(layer);
  const std::string attention = name + ".attention.";
  return {attention + "output.LayerNorm", attention + "self.position",
          attention + "self.ssmax.scale", attention + "self.",
          attention + "output.dense",     name + ".output.LayerNorm",
          name + ".intermediate.dense",   name + ".output.dense"};
}

/// What a sublayer keeps: its input, the input of its norm, and its own.
struct AttentionState {
  std::unique_ptr<LayerBiases> biases;
  std::unique_ptr<CastAttention> attention;
  Matrix merged;
};
struct LayerState {
  Matrix x, attention_inner, middle, feed_inner, pre, active;
  AttentionState attention;
};

/// One sequence.
class Sequence {
 public:
  Sequence(const CastModel& model, const CastStep& step, int b)
      : model_(model),
        step_(step),
        b_(b),
        bert_(step.configuration.architecture == gpu::Architecture::bert),
        ids_(step.batch.of(step.batch.ids, b)) {
    if (bert_) types_ = step.batch.of(step.batch.types, b);
    mask_ = step.batch.mask_of(b);
    mask_.causal = !bert_;
    mask_ = step.position->mask(mask_);
    for (int n = 0; n < step.configuration.layers; ++n)
      names_.push_back(bert_ ? bert_names(n) : gpt2_names(n));
  }

  /// Adds the gradients and returns the sequence's share of the loss.
  double run() {
    const reference::Targets targets = step_.batch.targets_of(b_);
    const double share = step_.batch.share_of(b_);
    Matrix x = embedded();
    for (const LayerNames& names : names_) x = forward(names, states_.emplace_back(), x);

    // The head.
    const std::string transform = "cls.predictions.transform.dense";
    const std::string norm = bert_ ? "cls.predictions.transform.LayerNorm" : "transformer.ln_f";
    const std::string bias = "cls.predictions.bias";
    Matrix dense, head_x = x;
    if (bert_) {
      dense = model_.linear(transform, x);
      head_x = stored(gelu(dense));
      dense = stored(dense);
    }
    const Matrix hidden = model_.norm(norm, head_x);
    const Matrix logits = stored(model_.linear(word(), bias, hidden));
    const double loss = share * reference::cross_entropy(logits, targets);

    const Matrix grad_logits = stored(reference::cross_entropy_grad(logits, targets, share));
    Matrix grad = stored(model_.linear_grad(word(), bias, hidden, grad_logits));
    grad = model_.norm_grad(norm, head_x, grad);
    if (bert_) {
      const Matrix grad_dense = stored(grad.cwiseProduct(gelu_slope(dense)));
      grad = stored(model_.linear_grad(transform, x, grad_dense));
    }
    for (std::size_t n = names_.size(); n-- > 0;) grad = backward(names_[n], states_[n], grad);
    embedded_grad(grad);
    return loss;
  }

 private:
  Matrix stored(const Matrix& x) const { return model_.casts.stored(x); }

  std::string word() const {
    return bert_ ? "bert.embeddings.word_embeddings.weight" : "transformer.wte.weight";
  }
  std::string positions() const {
    return bert_ ? "bert.embeddings.position_embeddings.weight" : "transformer.wpe.weight";
  }
  const std::string types_name_ = "bert.embeddings.token_type_embeddings.weight";
  const std::string embedding_norm_ = "bert.embeddings.LayerNorm";

  Matrix gelu(const Matrix& x) const {
    return x.unaryExpr([this](double element) {
      return bert_ ? reference::gelu_erf(element) : reference::gelu_tanh(element);
    });
  }
  Matrix gelu_slope(const Matrix& x) const {
    return x.unaryExpr([this](double element) {
      return bert_ ? reference::gelu_erf_derivative(element)
                   : reference::gelu_tanh_derivative(element);
    });
  }

  Matrix embedded() {
    Matrix sum = reference::embedding(model_.values.at(word()), ids_);
    if (bert_) sum += reference::embedding(model_.values.at(types_name_), types_);
    if (model_.values.contains(positions()))
      sum += model_.values.at(positions()).topRows(sum.rows());
    embedding_sum_ = stored(sum);
    return bert_ ? model_.norm(embedding_norm_, embedding_sum_) : embedding_sum_;
  }
  void embedded_grad(Matrix grad) const {
    if (bert_) grad = model_.norm_grad(embedding_norm_, embedding_sum_, grad);
    const auto add = [&](const std::string& name, const std::vector<int>& rows) {
      Matrix& to = model_.grads.at(name);
      to += reference::embedding_grad(static_cast<int>(to.rows()), rows, grad);
    };
    add(word(), ids_);
    if (bert_) add(types_name_, types_);
    if (model_.values.contains(positions()))
      model_.grads.at(positions()).topRows(grad.rows()) += grad;
  }

  /// GPT-2: m = x + attention(LN x), y = m + feed(LN m); BERT: m = LN(x + attention(x)), y = LN(m +
  /// feed(m)). `inner` is what a sublayer's norm made, or what it reads.
  Matrix forward(const LayerNames& names, LayerState& s, const Matrix& x) const {
    s.x = x;
    s.attention_inner =
        bert_ ? stored(x + attend(names, s.attention, x)) : model_.norm(names.attention_norm, x);
    s.middle = bert_ ? model_.norm(names.attention_norm, s.attention_inner)
                     : stored(x + attend(names, s.attention, s.attention_inner));
    s.feed_inner = bert_ ? stored(s.middle + feed(names, s, s.middle))
                         : model_.norm(names.feed_norm, s.middle);
    return bert_ ? model_.norm(names.feed_norm, s.feed_inner)
                 : stored(s.middle + feed(names, s, s.feed_inner));
  }
  Matrix backward(const LayerNames& names, const LayerState& s, Matrix grad) const {
    if (bert_) {
      grad = model_.norm_grad(names.feed_norm, s.feed_inner, grad);
      grad = stored(grad + feed_grad(names, s, s.middle, grad));
      grad = model_.norm_grad(names.attention_norm, s.attention_inner, grad);
      return stored(grad + attend_grad(names, s.attention, s.x, grad));
    }
    grad = stored(grad + model_.norm_grad(names.feed_norm, s.middle,
                                          feed_grad(names, s, s.feed_inner, grad)));
    return stored(grad +
                  model_.norm_grad(names.attention_norm, s.x,
                                   attend_grad(names, s.attention, s.attention_inner, grad)));
  }

  Matrix feed(const LayerNames& names, LayerState& s, const Matrix& x) const {
    const Matrix pre = model_.linear(names.up, x);
    s.pre = stored(pre);
    s.active = stored(gelu(pre));
    return stored(model_.linear(names.down, s.active));
  }
  Matrix feed_grad(const LayerNames& names, const LayerState& s, const Matrix& x,
                   const Matrix& grad) const {
    const Matrix by_active = model_.linear_grad(names.down, s.active, grad);
    return stored(
        model_.linear_grad(names.up, x, stored(by_active.cwiseProduct(gelu_slope(s.pre)))));
  }

  /// The linear layers of queries, keys and values: one for all, or one each.
  std::vector<std::string> projections(const LayerNames& names) const {
    if (!bert_) return {names.projection};
    return {names.projection + "query", names.projection + "key", names.projection + "value"};
  }
  int heads() const { return step_.configuration.heads; }

  Matrix attend(const LayerNames& names, AttentionState& s, const Matrix& x) const {
    const int width = static_cast<int>(x.cols()), head_dim = step_.configuration.head_dim();
    Matrix columns(x.rows(), 3 * width);
    int column = 0;
    for (const std::string& name : projections(names)) {
      const Matrix some = stored(model_.linear(name, x));
      columns.middleCols(column, some.cols()) = some;
      column += static_cast<int>(some.cols());
    }
    std::vector<Matrix> of[3];
    for (int n = 0; n < 3; ++n)
      of[n] = reference::split_heads(columns, n * width, heads(), head_dim);
    if (step_.position->rotates())
      for (int n = 0; n < 2; ++n)
        for (Matrix& head : of[n]) head = stored(step_.position->rotated(head));
    std::vector<double> scale;
    if (const auto found = model_.values.find(names.ssmax); found != model_.values.end())
      scale.assign(found->second.data(), found->second.data() + found->second.size());
    s.biases = step_.position->biases(model_.values, names.position, x, heads());
    s.attention = std::make_unique<CastAttention>(
        CastAttention{model_.casts, mask_, *s.biases, scale, of[0], of[1], of[2]});
    s.attention->forward();
    s.merged = Matrix(x.rows(), width);
    reference::merge_heads(s.attention->o, s.merged, 0);
    return stored(model_.linear(names.output, s.merged));
  }
  Matrix attend_grad(const LayerNames& names, const AttentionState& s, const Matrix& x,
                     const Matrix& grad) const {
    const int width = static_cast<int>(x.cols());
    const Matrix grad_merged = stored(model_.linear_grad(names.output, s.merged, grad));
    auto by = s.attention->backward(
        reference::split_heads(grad_merged, 0, heads(), step_.configuration.head_dim()));
    for (std::size_t h = 0; h < by.ssmax_scale.size(); ++h)
      model_.grads.at(names.ssmax).data()[h] += by.ssmax_scale[h];
    Matrix columns(x.rows(), 3 * width);
    std::vector<Matrix>* const of[3] = {&by.q, &by.k, &by.v};
    for (int n = 0; n < 3; ++n) {
      for (Matrix& head : *of[n]) head = stored(n < 2 ? step_.position->rotated_grad(head) : head);
      reference::merge_heads(*of[n], columns, n * width);
    }
    Matrix grad_x;
    int column = 0;
    for (const std::string& name : projections(names)) {
      const auto outputs = model_.values.at(name + ".weight").rows();
      const Matrix share = stored(model_.linear_grad(name, x, columns.middleCols(column, outputs)));
      grad_x = column == 0 ? share : stored(grad_x + share);
      column += static_cast<int>(outputs);
    }
    for (const Matrix& share : s.biases->finish(model_.grads)) grad_x = stored(grad_x + share);
    return grad_x;
  }

  const CastModel& model_;
  const CastStep& step_;
  int b_;
  bool bert_;
  std::vector<int> ids_, types_;
  reference::Mask mask_;
  std::vector<LayerNames> names_;
  std::vector<LayerState> states_;
  Matrix embedding_sum_;
};

}  // namespace

CastStep::CastStep(const gpu::ModelConfiguration& c, StepBatch of,
                   std::shared_ptr<const CastPosition> method)
    : configuration(c), batch(std::move(of)), position(std::move(method)) {
  const gpu::ParameterLayout layout(c);
  for (const gpu::Parameter& p : layout.all()) {
    std::vector<float> numbers(p.size());
    set_test_values(p, numbers);
    Matrix& matrix = values[p.name];
    matrix.resize(p.shape[0], p.shape.size() == 2 ? p.shape[1] : 1);
    std::copy(numbers.begin(), numbers.end(), matrix.data());
  }
}

CastStepResult CastStep::run(const Casts& casts) const {
  CastStepResult result;
  Tensors weights;
  for (const auto& [name, value] : values) {
    result.gradients[name] = Matrix::Zero(value.rows(), value.cols());
    weights[name] = value.cols() > 1
                        ? casts.weight(value)
                        : Matrix(value.unaryExpr([&](double x) { return casts.bias(x); }));
  }
  const CastModel model{casts, values, weights, result.gradients, configuration.epsilon};
  for (int b = 0; b < batch.batch; ++b) result.loss += Sequence(model, *this, b).run();
  return result;
}

}  // namespace plumbline::gpu_tests
