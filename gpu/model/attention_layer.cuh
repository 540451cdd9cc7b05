// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_MODEL_ATTENTION_LAYER_CUH
#define PLUMBLINE_GPU_MODEL_ATTENTION_LAYER_CUH

#include <algorithm>
#include <string>
#include <vector>

#include "attention/attention.cuh"
#include "model/attention_problem.hpp"
#include "model/attention_weights.hpp"
#include "model/layers.cuh"
#include "model/position.cuh"
#include "model/upload.cuh"
#include "ops/heads.cuh"

namespace plumbline::gpu {

/// Names of an attention layer's linear layers: one for q, k and v side by side, or one each; and
/// the output's.
struct AttentionNames {
  std::vector<std::string> inputs;
  std::string output;
};

/// The kernels, the tables and the workspace of all layers.
struct SharedAttention {
  const Attention& attention;
  const PositionWorkspace& position;
};

/// Y = concat_h(attention of head h) W_o + b_o on X W + b, with the model's position method.
template <class Element>
class AttentionLayer {
 public:
  /// Room for the passes of all layers, one after the other.
  struct Workspace {
    Element* inputs;             ///< [rows, columns of q, k and v]
    Element* merged;             ///< [rows, width]
    Element *o, *q, *k, *v, *x;  ///< gradients: by heads, and [rows, width]
    Workspace(const Step<Element>& step, Arena& arena) {
      const ModelConfiguration& c = step.configuration;
      const std::size_t rows = step.max_rows();
      const std::size_t keys = rows * c.kv_heads * c.head_dim(), width = rows * c.width;
      inputs = arena.take<Element>(width + 2 * keys);
      merged = arena.take<Element>(width);
      o = arena.take<Element>(width);
      q = arena.take<Element>(width);
      k = arena.take<Element>(keys);
      v = arena.take<Element>(keys);
      x = arena.take<Element>(width);
    }
  };

  /// `shared` serves all layers.
  AttentionLayer(Step<Element>& step, Arena& arena, const AttentionNames& names, int layer,
                 const SharedAttention& shared)
      : step_(step),
        attention_(shared.attention),
        position_(step.stream, step.configuration, step.layout, layer, step.master.data(),
                  step.gradients.data(),
                  arena.take<float>(LayerPosition<Element>::activations(
                      step.configuration, step.max_batch, step.max_length)),
                  shared.position),
        output_(step, names.output) {
    for (const std::string& name : names.inputs) inputs_.emplace_back(step, name);
    const ModelConfiguration& c = step.configuration;
    const std::size_t rows = step.max_rows();
    q_ = arena.take<Element>(rows * c.width);
    k_ = arena.take<Element>(rows * c.kv_heads * c.head_dim());
    v_ = arena.take<Element>(rows * c.kv_heads * c.head_dim());
    o_ = arena.take<Element>(rows * c.width);
    lse_ = arena.take<float>(rows * c.heads);
  }

  void forward(const Tokens& tokens, const Element* x, Element* y, const Workspace& workspace) {
    const int rows = tokens.rows();
    Element* const heads[3] = {q_, k_, v_};
    int column = 0;
    for (int n = 0; n < 3; ++n) {
      const bool fused = inputs_.size() == 1;
      if (n == 0 || !fused) inputs_[n].forward(rows, x, workspace.inputs);
      split(columns(tokens, n), workspace.inputs + (fused ? column : 0), heads[n]);
      column += inputs_of(n);
    }
    plumbline_problem problem = problem_of(tokens);
    position_.forward(tokens.batch, tokens.length, x, problem);
    attention_.forward(problem, {o_, lse_});
    merge(output_columns(tokens), o_, workspace.merged);
    output_.forward(rows, workspace.merged, y);
  }

  /// After forward: attention once more, on one-hot values, whose o_i = sum_j p_ij e_j is a row of
  /// weights; as many keys at a time as a head has numbers. Overwrites workspace.o and workspace.v.
  AttentionWeights weights(const Tokens& tokens, const Workspace& workspace) {
    const ModelConfiguration& c = step_.configuration;
    const int dim = c.head_dim(), length = tokens.length;
    const std::size_t rows = static_cast<std::size_t>(tokens.rows()) * c.heads;
    AttentionWeights result{tokens.batch, c.heads, c.kv_heads, length, dim, {}, {}, {}, {}};
    result.p.resize(rows * length);
    const std::size_t keys = static_cast<std::size_t>(tokens.batch) * c.kv_heads * length;
    for (int first = 0; first < length; first += dim) {
      const int count = std::min(dim, length - first);
      std::vector<Element> v(keys * dim, Element{});
      for (std::size_t head = 0; head < keys / length; ++head)
        for (int n = 0; n < count; ++n)
          v[(head * length + first + n) * dim + n] = element_on_host<Element>(1.0f);
      upload(step_.stream, v, workspace.v);
      plumbline_problem problem = problem_of(tokens);
      problem.v = workspace.v;
      plumbline_gradients unused{};
      position_.prepare_backward(problem, unused);
      const plumbline_outputs outputs{workspace.o, lse_};  // nvcc takes no list of dependent types
      attention_.forward(problem, outputs);
      const std::vector<float> o = fetched(workspace.o, rows * dim);
      for (std::size_t row = 0; row < rows; ++row)
        for (int n = 0; n < count; ++n) result.p[row * length + first + n] = o[row * dim + n];
    }
    result.lse = fetched(lse_, rows);
    result.q = fetched(q_, rows * dim);
    result.k = fetched(k_, keys * dim);
    return result;
  }

  void backward(const Tokens& tokens, const Element* x, const Element* grad_y, Element* grad_x,
                const Workspace& workspace) {
    const int rows = tokens.rows();
    merge(output_columns(tokens), o_, workspace.merged);
    output_.backward_weight(rows, workspace.merged, grad_y);
    output_.backward_input(rows, grad_y, workspace.merged);
    split(output_columns(tokens), workspace.merged, workspace.o);

    plumbline_problem problem = problem_of(tokens);
    plumbline_gradients gradients{o_,          lse_,        workspace.o, nullptr,
                                  workspace.q, workspace.k, workspace.v, {}};
    position_.prepare_backward(problem, gradients);
    attention_.backward(problem, gradients, Gradient::accumulate);
    backward_projections(tokens, x, grad_x, workspace);
    position_.backward(tokens.batch, tokens.length, x, grad_x);
  }

 private:
  void backward_projections(const Tokens& tokens, const Element* x, Element* grad_x,
                            const Workspace& workspace) {
    const int rows = tokens.rows();
    const bool fused = inputs_.size() == 1;
    const Element* const grads[3] = {workspace.q, workspace.k, workspace.v};
    int column = 0;
    for (int n = 0; n < 3; ++n) {
      merge(columns(tokens, n), grads[n], workspace.inputs + (fused ? column : 0));
      column += inputs_of(n);
      if (fused) continue;
      inputs_[n].backward_weight(rows, x, workspace.inputs);
      inputs_[n].backward_input(rows, workspace.inputs, n == 0 ? grad_x : workspace.x);
      if (n > 0)
        add(step_.stream, grad_x, workspace.x, grad_x,
            static_cast<std::size_t>(rows) * inputs_[n].in());
    }
    if (!fused) return;
    inputs_[0].backward_weight(rows, x, workspace.inputs);
    inputs_[0].backward_input(rows, workspace.inputs, grad_x);
  }

  /// Columns that q, k or v (n = 0, 1, 2) takes.
  int inputs_of(int n) const {
    const ModelConfiguration& c = step_.configuration;
    return (n == 0 ? c.heads : c.kv_heads) * c.head_dim();
  }
  HeadColumns columns(const Tokens& tokens, int n) const {
    const ModelConfiguration& c = step_.configuration;
    return {tokens.batch, tokens.length, n == 0 ? c.heads : c.kv_heads, c.head_dim(),
            inputs_[inputs_.size() == 1 ? 0 : n].out()};
  }
  HeadColumns output_columns(const Tokens& tokens) const {
    const ModelConfiguration& c = step_.configuration;
    return {tokens.batch, tokens.length, c.heads, c.head_dim(), c.width};
  }
  void split(const HeadColumns& shape, const Element* columns, Element* heads) const {
    split_heads(step_.stream, step_.configuration.format, shape, columns, heads);
  }
  void merge(const HeadColumns& shape, const Element* heads, Element* columns) const {
    merge_heads(step_.stream, step_.configuration.format, shape, heads, columns);
  }

  template <class Number>
  std::vector<float> fetched(const Number* device, std::size_t count) const {
    std::vector<float> floats(count);
    download_floats(step_.stream, device, count, floats.data());
    return floats;
  }

  plumbline_problem problem_of(const Tokens& tokens) const {
    plumbline_problem problem = attention_problem(step_.configuration, tokens.batch, tokens.length);
    problem.q = q_;
    problem.k = k_;
    problem.v = v_;
    problem.lengths = tokens.lengths;
    problem.documents = tokens.documents;
    return problem;
  }

  Step<Element>& step_;
  const Attention& attention_;
  LayerPosition<Element> position_;
  std::vector<LinearLayer<Element>> inputs_;
  LinearLayer<Element> output_;
  Element *q_, *k_, *v_, *o_;  ///< by heads
  float* lse_;
};

}  // namespace plumbline::gpu

#endif
