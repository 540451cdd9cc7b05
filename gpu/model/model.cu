// SPDX-License-Identifier: Apache-2.0
#include "model/model.cuh"

#include <climits>
#include <string>

#include "core/graph.cuh"
#include "model/embedding_layer.cuh"
#include "model/head.cuh"
#include "model/sublayer.cuh"
#include "model/sublayer_names.cuh"
#include "ops/check_ids.cuh"
#include "ops/pooling.cuh"
#include "support/error.hpp"

namespace plumbline::gpu {

namespace {

void expect(bool holds, const char* field, int value, const std::string& expected) {
  if (!holds) throw BadInput(field, std::to_string(value), expected);
}

const ModelRun& checked(const ModelRun& run) {
  expect(run.batch >= 1, "batch", run.batch, "at least 1");
  expect(run.length >= 1 && run.length <= INT_MAX / run.batch, "length", run.length,
         "at least 1, and batch x length below 2^31");
  return run;
}

/// What the launches of add_gradients depend on, beside what is in device memory: those of equal
/// calls are the same.
struct GradientCall {
  Tokens tokens;
  float share = 0.0f;                     ///< the gradient of each loss
  const float* working_memory = nullptr;  ///< of linear layers

  bool operator==(const GradientCall&) const = default;
};

/// What takes its memory from an arena.
template <class Element>
struct Layers {
  EmbeddingLayer<Element> embedding;
  std::vector<std::unique_ptr<Sublayer<Element>>> sublayers;
  Head<Element> head;
  Workspace<Element> workspace;
  Element* grad;  ///< [rows, width]: of the residual stream
  int *ids, *targets, *types, *lengths, *documents;
  float *embeddings, *grad_embeddings;  ///< [batch, width]
  float* norms;                         ///< [batch]

  Layers(Step<Element>& step, Arena& arena, const SharedAttention& attention)
      : embedding(step, arena), head(step, arena), workspace(step, arena) {
    const ModelConfiguration& c = step.configuration;
    const GeluForm form = c.architecture == Architecture::bert ? GeluForm::erf : GeluForm::tanh;
    for (int n = 0; n < 2 * c.layers; ++n) {
      const SublayerNames names = names_of(c.architecture, n);
      std::unique_ptr<AttentionLayer<Element>> attends;
      std::unique_ptr<FeedForward<Element>> feeds;
      if (n % 2 == 0)
        attends = std::make_unique<AttentionLayer<Element>>(step, arena, names.attention, n / 2,
                                                            attention);
      else
        feeds = std::make_unique<FeedForward<Element>>(step, arena, names.feed_forward, form);
      sublayers.push_back(std::make_unique<Sublayer<Element>>(
          step, arena, names.norm, n + 1, std::move(attends), std::move(feeds)));
    }
    grad = arena.take<Element>(step.max_rows() * c.width);
    for (int** piece : {&ids, &targets, &types, &lengths, &documents})
      *piece = arena.take<int>(step.max_rows());
    for (float** piece : {&embeddings, &grad_embeddings})
      *piece = arena.take<float>(static_cast<std::size_t>(step.max_batch) * c.width);
    norms = arena.take<float>(step.max_batch);
  }
};

template <class Element>
class Transformer : public Model {
 public:
  Transformer(const Stream& stream, const ModelConfiguration& c, const ModelRun& run)
      : step_(stream, c, run.batch, run.length),
        attention_(stream, attention_problem(c, run.batch, run.length),
                   attention_kernels(c.format, run.tensor_cores, run.deterministic),
                   {.backward = true}),
        position_(stream, c, run.batch, run.length),
        memory_(stream, bytes()) {
    step_.dropout_seed = run.dropout_seed;
    Arena arena(memory_.data());
    layers_ = std::make_unique<Layers<Element>>(step_, arena, shared());
    parameters_changed();
  }

  const ParameterLayout& layout() const override { return step_.layout; }
  float* parameters() override { return step_.master.data(); }
  float* gradients() override { return step_.gradients.data(); }
  void parameters_changed() override { step_.refresh_copies(); }
  void zero_gradients() override { fill_zero(step_.stream, gradients(), step_.gradients.size()); }

  ChunkedLoss loss(const SequenceBatch& batch, std::int64_t denominator) override {
    const Tokens tokens = uploaded(batch, true, false);
    const double n = mean_divisor(targets_, denominator);
    forward(tokens);
    layers_->head.loss(rows_, targets(), false, static_cast<float>(1.0 / n));
    return waited_for_loss(n);
  }

  ChunkedLoss add_gradients(const SequenceBatch& batch, double grad_loss,
                            std::int64_t denominator) override {
    const Tokens tokens = uploaded(batch, true, true);
    const double n = mean_divisor(targets_, denominator);
    const auto share = static_cast<float>(grad_loss / n);
    const GradientCall call{tokens, share, step_.linear.working_memory()};
    if (call != graph_call_) {
      graph_ = std::make_unique<Graph>();
      graph_call_ = call;
    }
    graph_->run(step_.stream, [&] {
      forward(tokens);
      layers_->head.loss(rows_, targets(), true, share);
      const Workspace<Element>& workspace = layers_->workspace;
      layers_->head.backward(rows_, layers_->grad, workspace.a, workspace.norm_workspace);
      backward(tokens);
    });
    graph_call_.working_memory = step_.linear.working_memory();  // the first call may let it grow
    return waited_for_loss(n);
  }

  std::size_t graph_nodes() const override { return graph_ ? graph_->nodes() : 0; }

  std::vector<float> losses() override {
    std::vector<float> of_tokens(rows_);
    download(step_.stream, layers_->head.losses(), of_tokens.size(), of_tokens.data());
    return of_tokens;
  }

  std::vector<float> logits(const SequenceBatch& batch) override {
    forward(uploaded(batch, false, false));
    const std::size_t vocabulary = step_.configuration.vocabulary;
    std::vector<float> all(rows_ * vocabulary);
    for (int first = 0; first < rows_; first += Head<Element>::kChunkRows) {
      const int rows = std::min(Head<Element>::kChunkRows, rows_ - first);
      download_floats(step_.stream, layers_->head.logits(first, rows), rows * vocabulary,
                      all.data() + first * vocabulary);
    }
    return all;
  }

  std::vector<float> embeddings(const SequenceBatch& batch, Pooling pooling,
                                bool with_dropout) override {
    const Tokens tokens = uploaded_for_embeddings(batch, with_dropout);
    pool(tokens, pooling);
    std::vector<float> all(static_cast<std::size_t>(batch.batch) * step_.configuration.width);
    download(step_.stream, layers_->embeddings, all.size(), all.data());
    return all;
  }

  void add_embedding_gradients(const SequenceBatch& batch, Pooling pooling,
                               const std::vector<float>& grad) override {
    const Tokens tokens = uploaded_for_embeddings(batch, true);
    require(grad.size() == static_cast<std::size_t>(batch.batch) * step_.configuration.width,
            "grad.size()", grad.size(), "batch x width");
    pool(tokens, pooling);
    upload(step_.stream, grad, layers_->grad_embeddings);
    pooled_backward(step_.stream, pooling_shape(tokens, pooling), tokens.lengths,
                    layers_->embeddings, layers_->norms, layers_->grad_embeddings, layers_->grad);
    backward(tokens);
  }

  AttentionWeights attention_weights(int layer) override {
    if (layer < 0 || layer >= step_.configuration.layers || rows_ == 0)
      throw std::out_of_range("layer " + std::to_string(layer) + ", or no call before");
    return layers_->sublayers[2 * layer]->attention_weights(last_, layers_->workspace);
  }

 private:
  std::size_t bytes() {
    Arena counting;
    Layers<Element>(step_, counting, shared());
    return counting.bytes();
  }

  SharedAttention shared() const { return {attention_, position_}; }

  /// The last hidden states, [rows, width].
  const Element* hidden(const Tokens& tokens) {
    const Element* x = layers_->embedding.forward(tokens);
    for (const auto& sublayer : layers_->sublayers)
      x = sublayer->forward(tokens, x, layers_->workspace);
    return x;
  }

  void forward(const Tokens& tokens) { layers_->head.forward(rows_, hidden(tokens)); }

  /// From their gradients, in layers_->grad.
  void backward(const Tokens& tokens) {
    const Workspace<Element>& workspace = layers_->workspace;
    for (std::size_t n = layers_->sublayers.size(); n-- > 0;)
      layers_->sublayers[n]->backward(tokens, layers_->grad, workspace);
    layers_->embedding.backward(tokens, layers_->grad, workspace.a, workspace.norm_workspace);
  }

  /// The batch whose embeddings are asked for, in device memory.
  Tokens uploaded_for_embeddings(const SequenceBatch& batch, bool with_dropout) {
    if (step_.configuration.architecture != Architecture::bert)
      throw BadInput("architecture", "a causal model", "bert, for embeddings of texts");
    const Tokens tokens = uploaded(batch, false, with_dropout);
    for (int b = 0; batch.lengths && b < batch.batch; ++b)
      require(batch.lengths[b] >= 1 && batch.lengths[b] <= batch.length, "lengths",
              batch.lengths[b], "1 to the length of the batch");
    return tokens;
  }

  PoolingShape pooling_shape(const Tokens& tokens, Pooling pooling) const {
    return {pooling, tokens.batch, tokens.length, step_.configuration.width};
  }

  void pool(const Tokens& tokens, Pooling pooling) {
    pooled_forward(step_.stream, pooling_shape(tokens, pooling), hidden(tokens), tokens.lengths,
                   layers_->embeddings, layers_->norms);
  }

  /// The batch in device memory.
  Tokens uploaded(const SequenceBatch& batch, bool with_targets, bool with_dropout) {
    const ModelConfiguration& c = step_.configuration;
    expect(batch.batch >= 1 && batch.batch <= step_.max_batch, "batch", batch.batch,
           "from 1 to " + std::to_string(step_.max_batch));
    expect(batch.length >= 1 && batch.length <= step_.max_length, "length", batch.length,
           "from 1 to " + std::to_string(step_.max_length));
    expect(batch.position_offset >= 0, "position_offset", batch.position_offset, "at least 0");
    if (position_method(c.position).embedded == EmbeddedPositions::learnable)
      expect(batch.length <= c.context - batch.position_offset, "length", batch.length,
             "at most " + std::to_string(c.context - batch.position_offset) +
                 ", where the table of learnable positions ends");
    const int rows = batch.batch * batch.length;
    check_ids_on_host("ids", batch.ids, rows, c.vocabulary);
    if (batch.types && c.architecture == Architecture::bert)
      check_ids_on_host("types", batch.types, rows, c.token_types);
    if (with_targets)
      targets_ = check_ids_on_host("targets", batch.targets, rows, c.vocabulary,
                                   {.some_are_ignored = true, .ignored = Targets{}.ignored});
    step_.drops = with_dropout;
    rows_ = rows;
    const auto send = [&](const int* host, int count, int* device) -> const int* {
      if (!host) return nullptr;
      upload(step_.stream, host, static_cast<std::size_t>(count), device);
      return device;
    };
    Tokens tokens{.batch = batch.batch,
                  .length = batch.length,
                  .ids = send(batch.ids, rows_, layers_->ids),
                  .types = send(batch.types, rows_, layers_->types),
                  .lengths = send(batch.lengths, batch.batch, layers_->lengths),
                  .documents = send(batch.documents, rows_, layers_->documents),
                  .position_offset = batch.position_offset};
    if (!tokens.types) {
      fill_zero(step_.stream, layers_->types, rows_);
      tokens.types = layers_->types;
    }
    if (with_targets) send(batch.targets, rows_, layers_->targets);
    if (with_dropout) {
      const std::uint64_t draw = batch.draw * DropoutLayer<Element>::places(c);
      upload(step_.stream, &draw, 1, step_.dropout_draw.data());
    }
    last_ = tokens;
    return tokens;
  }

  ChunkedLoss waited_for_loss(double n) const {
    const double sum = layers_->head.wait_for_sum();
    return {sum, sum / n, targets_};
  }

  Targets targets() const { return {.ids = layers_->targets, .counted = targets_}; }

  Step<Element> step_;
  Attention attention_;
  PositionWorkspace position_;
  DeviceBuffer<unsigned char> memory_;
  std::unique_ptr<Layers<Element>> layers_;
  Tokens last_;                   ///< of the last call
  std::unique_ptr<Graph> graph_;  ///< of graph_call_
  GradientCall graph_call_;
  int rows_ = 0;
  int targets_ = 0;  ///< how many there are
};

}  // namespace

std::unique_ptr<Model> make_model(const Stream& stream, const ModelConfiguration& c,
                                  const ModelRun& run) {
  validate(c);
  checked(run);
  switch (c.format) {
    case Format::bf16:
      return std::make_unique<Transformer<bfloat16>>(stream, c, run);
    case Format::fp16:
      return std::make_unique<Transformer<float16>>(stream, c, run);
    default:
      return std::make_unique<Transformer<float>>(stream, c, run);
  }
}

}  // namespace plumbline::gpu
