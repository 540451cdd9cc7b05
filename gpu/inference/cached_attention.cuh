// SPDX-License-Identifier: Apache-2.0
// A layer's attention for tokens that come after those in a cache.
#ifndef PLUMBLINE_GPU_INFERENCE_CACHED_ATTENTION_CUH
#define PLUMBLINE_GPU_INFERENCE_CACHED_ATTENTION_CUH

#include <vector>

#include "inference/layer_cache.cuh"
#include "model/attention_layer.cuh"

namespace plumbline::gpu {

/// attention_layer of model/attention_layer.cuh for the last rows alone.
template <class Element>
class CachedAttention {
 public:
  /// Room for a call, of all layers one after the other. The largest chunk has `chunk` tokens.
  struct Workspace {
    Element *inputs, *merged;  ///< [rows, columns of q, k and v], [rows, width]
    Element *q, *o;            ///< of a chunk, by heads
    float *gates, *lse;

    Workspace(const Step<Element>& step, Arena& arena, int chunk) {
      const ModelConfiguration& c = step.configuration;
      inputs = arena.take<Element>(step.max_rows() * (c.width + 2 * key_width(c)));
      merged = arena.take<Element>(step.max_rows() * c.width);
      for (Element** of_queries : {&q, &o}) *of_queries = arena.take<Element>(chunk * c.width);
      gates = arena.take<float>(LayerPosition<Element>::activations(c, 1, chunk));
      lse = arena.take<float>(static_cast<std::size_t>(chunk) * c.heads);
    }
  };

  CachedAttention(Step<Element>& step, const AttentionNames& names, int layer,
                  const CacheReader<Element>& reader, const Rotation& rotation,
                  const PositionWorkspace& position, const Workspace& workspace,
                  const CacheShape& shape, const LayerCache<Element>& cache)
      : step_(step),
        reader_(reader),
        rotation_(rotation),
        position_(step.stream, step.configuration, step.layout, layer, step.master.data(),
                  step.gradients.data(), workspace.gates, position),
        output_(step, names.output),
        workspace_(workspace),
        shape_(shape),
        cache_(cache) {
    for (const std::string& name : names.inputs) inputs_.emplace_back(step, name);
  }

  /// y [rows, width] for x [rows, width]; the chunks' tokens are in the cache then.
  void forward(const std::vector<Chunk>& chunks, int rows, const Element* x, Element* y) {
    const ModelConfiguration& c = step_.configuration;
    HeadRows columns[3];
    project(rows, x, columns);
    for (const Chunk& chunk : chunks) {
      const std::size_t row = chunk.first_row;
      attend(chunk, x + row * c.width, columns);
      merge_heads(step_.stream, c.format, {1, chunk.count, c.heads, c.head_dim(), c.width},
                  workspace_.o, workspace_.merged + row * c.width);
    }
    output_.forward(rows, workspace_.merged, y);
  }

 private:
  void project(int rows, const Element* x, HeadRows (&columns)[3]) {
    const ModelConfiguration& c = step_.configuration;
    const int widths[3] = {c.width, key_width(c), key_width(c)};
    Element* next = workspace_.inputs;
    if (inputs_.size() == 1) inputs_[0].forward(rows, x, next);
    for (int n = 0; n < 3; ++n) {
      if (inputs_.size() == 1) {  // side by side
        columns[n] = {next, inputs_[0].out()};
        next += widths[n];
      } else {
        inputs_[n].forward(rows, x, next);
        columns[n] = {next, widths[n]};
        next += static_cast<std::size_t>(rows) * widths[n];
      }
    }
  }

  /// The output of a chunk's heads, in workspace_.o.
  void attend(const Chunk& chunk, const Element* x, const HeadRows (&columns)[3]) {
    const ModelConfiguration& c = step_.configuration;
    const auto of_chunk = [&](const HeadRows& rows) {
      const auto* first = static_cast<const Element*>(rows.first);
      return HeadRows{first + static_cast<std::size_t>(chunk.first_row) * rows.stride, rows.stride};
    };
    plumbline_problem problem = cached_problem(c, chunk.count);
    problem.q = workspace_.q;
    position_.forward(1, chunk.count, x, problem);
    cache_.append(step_.stream, c, shape_, chunk.sequence, chunk.count, chunk.before_on_device,
                  {of_chunk(columns[0]), of_chunk(columns[1]), of_chunk(columns[2])}, rotation_,
                  workspace_.q, problem);
    reader_.attend(chunk, problem, cache_, {workspace_.o, workspace_.lse});
  }

  Step<Element>& step_;
  const CacheReader<Element>& reader_;
  const Rotation rotation_;
  LayerPosition<Element> position_;
  std::vector<LinearLayer<Element>> inputs_;
  LinearLayer<Element> output_;
  const Workspace workspace_;
  const CacheShape shape_;
  const LayerCache<Element> cache_;
};

}  // namespace plumbline::gpu

#endif
