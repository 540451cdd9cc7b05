// SPDX-License-Identifier: Apache-2.0
// One token of one sequence through a decoder's layers, with few launches: seven a layer.
#ifndef PLUMBLINE_GPU_INFERENCE_TOKEN_STEP_CUH
#define PLUMBLINE_GPU_INFERENCE_TOKEN_STEP_CUH

#include <memory>
#include <string>
#include <vector>

#include "core/graph.cuh"
#include "inference/cached_embedding.cuh"
#include "model/sublayer_names.cuh"
#include "model/upload.cuh"
#include "ops/row_products.cuh"

namespace plumbline::gpu {

/// The same layers as CachedModel's, for one row: q, k, v and the position method's gates of the
/// normed row; the cache's new row; attention and its merge; the output; the feed-forward network's
/// two maps. Norms, GELU, SwiGLU and residuals belong to the products. No launch knows the token or
/// its position but from device memory: each sequence has one CUDA graph for all of its tokens.
template <class Element>
class TokenStep {
 public:
  using AttentionWorkspace = typename CachedAttention<Element>::Workspace;

  TokenStep(Step<Element>& step, Arena& arena, const CachedEmbedding<Element>& embedding,
            const CacheReader<Element>& reader, const Rotation& rotation,
            const PositionWorkspace& position, const AttentionWorkspace& workspace,
            const CacheShape& shape, const std::vector<LayerCache<Element>>& caches)
      : step_(step),
        embedding_(embedding),
        reader_(reader),
        rotation_(rotation),
        workspace_(workspace),
        shape_(shape),
        caches_(caches),
        graphs_(shape.batch) {
    const ModelConfiguration& c = step.configuration;
    token_ = arena.take<int>(3);
    x_ = arena.take<Element>(c.width);
    hidden_ = arena.take<Element>(c.hidden);
    logits_ = arena.take<Element>(c.vocabulary);
    for (int n = 0; n < c.layers; ++n)
      positions_.push_back(std::make_unique<LayerPosition<Element>>(
          step.stream, c, step.layout, n, step.master.data(), step.gradients.data(),
          workspace.gates, position));
  }

  /// The logits after a token, of which the cache holds `before` others, to host memory.
  void forward(int sequence, int token, int before, float* logits) {
    const int numbers[] = {token, before, before + 1};
    upload(step_.stream, numbers, 3, token_);
    graphs_[sequence].run(step_.stream, [&] { run_layers(sequence); });
    download_floats(step_.stream, logits_, step_.configuration.vocabulary, logits);
  }

  std::size_t graph_nodes(int sequence) const { return graphs_[sequence].nodes(); }

 private:
  void run_layers(int sequence) {
    const ModelConfiguration& c = step_.configuration;
    const bool llama = c.architecture == Architecture::llama_style;
    embedding_.forward_one(token_, token_ + 1, x_);
    for (int n = 0; n < c.layers; ++n) {
      attend(n, sequence);
      feed_forward(names_of(c.architecture, 2 * n + 1));
    }
    const std::string head = llama ? "lm_head.weight" : "transformer.wte.weight";
    row_products(
        step_.stream, normed(llama ? "model.norm" : "transformer.ln_f"),
        {{.out = c.vocabulary, .format = c.format, .w = step_.operand(head), .y = logits_}});
  }

  /// x += attention(norm(x))
  void attend(int layer, int sequence) {
    const ModelConfiguration& c = step_.configuration;
    const SublayerNames names = names_of(c.architecture, 2 * layer);
    const LayerPosition<Element>& position = *positions_[layer];
    std::vector<RowMap> maps;
    Element* next = workspace_.inputs;
    for (const std::string& name : names.attention.inputs) {
      maps.push_back(map(name, next));
      next += maps.back().out;
    }
    for (const RowMap& gate : position.gate_maps()) maps.push_back(gate);
    row_products(step_.stream, normed(names.norm), maps);

    plumbline_problem problem = cached_problem(c, 1);
    problem.q = workspace_.q;
    position.give(problem);
    const int stride = c.width + 2 * key_width(c);
    const Element* const q = workspace_.inputs;
    caches_[layer].append(
        step_.stream, c, shape_, sequence, 1, token_ + 1,
        {{q, stride}, {q + c.width, stride}, {q + c.width + key_width(c), stride}}, rotation_,
        workspace_.q, problem);
    reader_.attend_newest(sequence, token_ + 2, problem, caches_[layer],
                          {workspace_.o, workspace_.lse});
    RowMap output = map(names.attention.output, x_);
    output.residual = x_;
    row_products(step_.stream, {.in = c.width, .format = c.format, .x = workspace_.o}, {output});
  }

  /// x += feed_forward(norm(x))
  void feed_forward(const SublayerNames& names) {
    const ModelConfiguration& c = step_.configuration;
    RowMap up = map(names.feed_forward.up, hidden_);
    up.function = RowFunction::gelu;
    if (!names.feed_forward.gate.empty()) {
      up.function = RowFunction::swiglu;
      up.gate = step_.operand(names.feed_forward.gate + ".weight");
    }
    row_products(step_.stream, normed(names.norm), {up});
    RowMap down = map(names.feed_forward.down, x_);
    down.residual = x_;
    row_products(step_.stream, {.in = c.hidden, .format = c.format, .x = hidden_}, {down});
  }

  RowInput normed(const std::string& norm) const {
    const ModelConfiguration& c = step_.configuration;
    const bool centred = step_.layout.has(norm + ".bias");
    return {.in = c.width,
            .format = c.format,
            .x = x_,
            .gamma = step_.value(norm + ".weight"),
            .beta = centred ? step_.value(norm + ".bias") : nullptr,
            .epsilon = static_cast<float>(c.epsilon)};
  }

  RowMap map(const std::string& name, Element* y) const {
    return {.out = static_cast<int>(step_.layout[name + ".weight"].shape[0]),
            .format = step_.configuration.format,
            .w = step_.operand(name + ".weight"),
            .b = step_.layout.has(name + ".bias") ? step_.operand(name + ".bias") : nullptr,
            .y = y};
  }

  Step<Element>& step_;
  const CachedEmbedding<Element>& embedding_;
  const CacheReader<Element>& reader_;
  const Rotation rotation_;
  const AttentionWorkspace workspace_;
  const CacheShape shape_;
  const std::vector<LayerCache<Element>> caches_;
  std::vector<std::unique_ptr<LayerPosition<Element>>> positions_;  ///< of the layers
  std::vector<Graph> graphs_;                                       ///< of the sequences
  int* token_;  ///< its id, its position, and how many there are with it
  Element *x_, *hidden_, *logits_;
};

}  // namespace plumbline::gpu

#endif
