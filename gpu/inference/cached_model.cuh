// SPDX-License-Identifier: Apache-2.0
// A decoder's layers for tokens that come after those in its cache. Equations and names of the
// parameters: those of model/model.cuh, without dropout.
#ifndef PLUMBLINE_GPU_INFERENCE_CACHED_MODEL_CUH
#define PLUMBLINE_GPU_INFERENCE_CACHED_MODEL_CUH

#include <algorithm>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "inference/cached_attention.cuh"
#include "inference/cached_embedding.cuh"
#include "inference/decoder.hpp"
#include "inference/token_step.cuh"
#include "model/feed_forward.cuh"
#include "model/sublayer_names.cuh"
#include "model/upload.cuh"

namespace plumbline::gpu {

/// A sequence's next tokens, all in the vocabulary, and where the logits after the last of them go,
/// in host memory; null: nowhere.
struct NewTokens {
  int sequence, before;
  std::span<const int> ids;
  float* logits;
};

class CachedModelBase {
 public:
  virtual ~CachedModelBase() = default;
  /// Tokens of a sequence in one call.
  virtual int most_at_once() const = 0;
  virtual void forward(std::span<const NewTokens>) = 0;
  virtual void copy(int from, int to) = 0;
  /// Nodes of the CUDA graph of a sequence's single tokens; 0 while there is none.
  virtual std::size_t graph_nodes(int sequence) const = 0;
};

template <class Element>
class CachedModel final : public CachedModelBase {
 public:
  CachedModel(const Stream& stream, const ModelConfiguration& c, const DecoderRun& run,
              const std::vector<float>& parameters)
      : shape_{run.batch, run.capacity + keys_beyond(c), keys_beyond(c)},
        chunk_(std::min(most_tokens(c), run.capacity)),
        step_(stream, c, run.deterministic ? 1 : run.batch, chunk_, false),
        reader_(stream, c, shape_, chunk_),
        rotation_(stream, c, shape_.capacity),
        position_(stream, c, 1, chunk_),
        memory_(stream, bytes()) {
    if (parameters.size() != step_.layout.size())
      throw std::invalid_argument("there are " + std::to_string(parameters.size()) +
                                  " parameters, expected " + std::to_string(step_.layout.size()));
    upload(stream, parameters, step_.master.data());
    step_.refresh_copies();
    if (shape_.beyond > 0) fill_zero(stream, memory_.data(), memory_.size());  // keys to be read
    Arena arena(memory_.data());
    parts_ = std::make_unique<Parts>(*this, arena);
    stream.wait();
  }

  int most_at_once() const override { return chunk_; }

  void forward(std::span<const NewTokens> tokens) override {
    const ModelConfiguration& c = step_.configuration;
    Parts& p = *parts_;
    if (p.one_token && tokens.size() == 1 && tokens[0].ids.size() == 1) {
      const NewTokens& one = tokens[0];
      p.one_token->forward(one.sequence, one.ids[0], one.before, one.logits);
      return;
    }
    std::vector<Chunk> chunks;
    std::vector<int> ids, before;
    for (const NewTokens& one : tokens) {
      chunks.push_back({one.sequence, static_cast<int>(ids.size()),
                        static_cast<int>(one.ids.size()), one.before, p.before + before.size()});
      ids.insert(ids.end(), one.ids.begin(), one.ids.end());
      before.push_back(one.before);
    }
    const int rows = static_cast<int>(ids.size());
    const std::size_t numbers = static_cast<std::size_t>(rows) * c.width;
    upload(step_.stream, ids, p.ids);
    upload(step_.stream, before, p.before);
    p.embedding.forward(chunks, p.ids, p.x);
    for (const auto& layer : p.layers) {
      layer->attention_norm.forward(rows, p.x, p.normed);
      layer->attention.forward(chunks, rows, p.normed, p.update);
      add(step_.stream, p.x, p.update, p.x, numbers);
      layer->feed_forward_norm.forward(rows, p.x, p.normed);
      layer->feed_forward.forward(rows, p.normed, p.update);
      add(step_.stream, p.x, p.update, p.x, numbers);
    }
    copy_logits_to_host(tokens, chunks);
  }

  std::size_t graph_nodes(int sequence) const override {
    return parts_->one_token ? parts_->one_token->graph_nodes(sequence) : 0;
  }

  void copy(int from, int to) override {
    const std::size_t keys = LayerCache<Element>::keys(step_.configuration, shape_);
    const std::size_t sums = LayerCache<Element>::sum_count(step_.configuration, shape_);
    for (const LayerCache<Element>& cache : parts_->caches) {
      copy_on_device(step_.stream, cache.k + from * keys, keys, cache.k + to * keys);
      copy_on_device(step_.stream, cache.v + from * keys, keys, cache.v + to * keys);
      copy_on_device(step_.stream, cache.sums + from * sums, sums, cache.sums + to * sums);
    }
  }

 private:
  struct Layer {
    Norm<Element> attention_norm, feed_forward_norm;
    CachedAttention<Element> attention;
    FeedForward<Element> feed_forward;
  };

  /// What takes its memory from an arena. No layer needs what another one left, so that they all
  /// work in the same place.
  struct Parts {
    std::vector<LayerCache<Element>> caches;
    CachedEmbedding<Element> embedding;
    typename CachedAttention<Element>::Workspace workspace;
    Norm<Element> norm;  ///< before the head
    Element *x, *normed, *update;
    Element *last, *logits;  ///< [batch, width], [batch, vocabulary]
    int *ids, *before;       ///< [rows], [batch]
    std::vector<std::unique_ptr<Layer>> layers;
    std::unique_ptr<TokenStep<Element>> one_token;

    Parts(CachedModel& model, Arena& arena)
        : caches(caches_of(model, arena)),
          embedding(model.step_, arena, model.shape_.capacity),
          workspace(model.step_, arena, model.chunk_),
          norm(model.step_, arena, model.is_llama() ? "model.norm" : "transformer.ln_f") {
      Step<Element>& step = model.step_;
      const ModelConfiguration& c = step.configuration;
      for (Element** chunk : {&x, &normed, &update})
        *chunk = arena.take<Element>(step.max_rows() * c.width);
      last = arena.take<Element>(static_cast<std::size_t>(step.max_batch) * c.width);
      logits = arena.take<Element>(static_cast<std::size_t>(step.max_batch) * c.vocabulary);
      ids = arena.take<int>(step.max_rows());
      before = arena.take<int>(step.max_batch);
      Arena end = arena;
      for (int n = 0; n < c.layers; ++n) {
        Arena own = arena;
        const SublayerNames attends = names_of(c.architecture, 2 * n);
        const SublayerNames feeds = names_of(c.architecture, 2 * n + 1);
        layers.push_back(std::unique_ptr<Layer>(
            new Layer{{step, own, attends.norm},
                      {step, own, feeds.norm},
                      {step, attends.attention, n, model.reader_, model.rotation_.rotation(),
                       model.position_, workspace, model.shape_, caches[n]},
                      {step, own, feeds.feed_forward, GeluForm::tanh}}));
        end = own;
      }
      arena = end;
      if (!needs_scores(position_method(c.position).bias))
        one_token = std::make_unique<TokenStep<Element>>(
            step, arena, embedding, model.reader_, model.rotation_.rotation(), model.position_,
            workspace, model.shape_, caches);
    }

    static std::vector<LayerCache<Element>> caches_of(const CachedModel& model, Arena& arena) {
      std::vector<LayerCache<Element>> all;
      for (int n = 0; n < model.step_.configuration.layers; ++n)
        all.emplace_back(model.step_.configuration, model.shape_, arena);
      return all;
    }
  };

  bool is_llama() const { return step_.configuration.architecture == Architecture::llama_style; }

  /// As many as keep a GPU busy; with CoPE and DAPE few, as scores of all keys are in memory.
  static int most_tokens(const ModelConfiguration& c) {
    return needs_scores(position_method(c.position).bias) ? CacheReader<Element>::kMostToDecode
                                                          : 512;
  }

  std::size_t bytes() {
    Arena counting;
    Parts(*this, counting);
    return counting.bytes();
  }

  /// The logits of those rows alone that are asked for.
  void copy_logits_to_host(std::span<const NewTokens> tokens, const std::vector<Chunk>& chunks) {
    const ModelConfiguration& c = step_.configuration;
    Parts& p = *parts_;
    std::vector<float*> wanted;
    for (std::size_t n = 0; n < tokens.size(); ++n) {
      if (!tokens[n].logits) continue;
      const std::size_t row = chunks[n].first_row + chunks[n].count - 1;
      copy_on_device(step_.stream, p.x + row * c.width, c.width, p.last + wanted.size() * c.width);
      wanted.push_back(tokens[n].logits);
    }
    if (wanted.empty()) return step_.stream.wait();
    const int rows = static_cast<int>(wanted.size());
    p.norm.forward(rows, p.last, p.normed);
    step_.linear.forward({rows, c.width, c.vocabulary}, c.format, p.normed,
                         step_.operand(is_llama() ? "lm_head.weight" : "transformer.wte.weight"),
                         nullptr, p.logits);
    std::vector<float> all(static_cast<std::size_t>(rows) * c.vocabulary);
    download_floats(step_.stream, p.logits, all.size(), all.data());
    for (int n = 0; n < rows; ++n)
      std::copy_n(all.begin() + static_cast<long>(n) * c.vocabulary, c.vocabulary, wanted[n]);
  }

  const CacheShape shape_;
  const int chunk_;  ///< tokens of the largest chunk
  Step<Element> step_;
  CacheReader<Element> reader_;
  CacheRotation rotation_;
  PositionWorkspace position_;
  DeviceBuffer<unsigned char> memory_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace plumbline::gpu

#endif
