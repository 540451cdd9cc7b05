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
    Element *q, *k, *v, *o;    ///< of a chunk, by heads
    float *gates, *lse;

    Workspace(const Step<Element>& step, Arena& arena, int chunk) {
      const ModelConfiguration& c = step.configuration;
      const std::size_t key_width = static_cast<std::size_t>(c.kv_heads) * c.head_dim();
      inputs = arena.take<Element>(step.max_rows() * (c.width + 2 * key_width));
      merged = arena.take<Element>(step.max_rows() * c.width);
      for (Element** of_queries : {&q, &o}) *of_queries = arena.take<Element>(chunk * c.width);
      for (Element** of_keys : {&k, &v}) *of_keys = arena.take<Element>(chunk * key_width);
      gates = arena.take<float>(LayerPosition<Element>::activations(c, 1, chunk));
      lse = arena.take<float>(static_cast<std::size_t>(chunk) * c.heads);
    }
  };

  CachedAttention(Step<Element>& step, const AttentionNames& names, int layer,
                  const CacheReader<Element>& reader, const PositionWorkspace& position,
                  const Workspace& workspace, const CacheShape& shape,
                  const LayerCache<Element>& cache)
      : step_(step),
        reader_(reader),
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
    Columns columns[3];
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
  /// q, k or v among the columns of rows.
  struct Columns {
    const Element* first;
    int stride;
  };

  void project(int rows, const Element* x, Columns (&columns)[3]) {
    const ModelConfiguration& c = step_.configuration;
    const int widths[3] = {c.width, c.kv_heads * c.head_dim(), c.kv_heads * c.head_dim()};
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
  void attend(const Chunk& chunk, const Element* x, const Columns (&columns)[3]) {
    const ModelConfiguration& c = step_.configuration;
    const Stream& stream = step_.stream;
    Element* const heads[3] = {workspace_.q, workspace_.k, workspace_.v};
    for (int n = 0; n < 3; ++n) {
      const std::size_t start = static_cast<std::size_t>(chunk.first_row) * columns[n].stride;
      split_heads(stream, c.format,
                  {1, chunk.count, n == 0 ? c.heads : c.kv_heads, c.head_dim(), columns[n].stride},
                  columns[n].first + start, heads[n]);
    }
    const std::size_t keys = chunk.sequence * LayerCache<Element>::keys(c, shape_);
    const Appended of_keys{1, c.kv_heads, shape_.capacity, chunk.before, chunk.count};
    append_rows(stream, c.format, of_keys, c.head_dim(), workspace_.k, cache_.k + keys);
    append_rows(stream, c.format, of_keys, c.head_dim(), workspace_.v, cache_.v + keys);

    plumbline_problem problem = attention_problem(c, 1, chunk.count);
    problem.q = workspace_.q;
    position_.forward(1, chunk.count, x, problem);
    if (cache_.sums) {
      const float*& summed = problem.parameters[summed_parameter(problem.bias)];
      append_prefix_sums(stream, {1, c.heads, shape_.capacity, chunk.before, chunk.count}, summed,
                         cache_.sums + chunk.sequence * LayerCache<Element>::sum_count(c, shape_));
      summed = nullptr;
    }
    const plumbline_outputs outputs{workspace_.o, workspace_.lse};
    reader_.attend(chunk, problem, cache_, outputs);
  }

  Step<Element>& step_;
  const CacheReader<Element>& reader_;
  LayerPosition<Element> position_;
  std::vector<LinearLayer<Element>> inputs_;
  LinearLayer<Element> output_;
  const Workspace workspace_;
  const CacheShape shape_;
  const LayerCache<Element> cache_;
};

}  // namespace plumbline::gpu

#endif
