// SPDX-License-Identifier: Apache-2.0
// A layer's attention for tokens that come after those in a cache.
#ifndef PLUMBLINE_GPU_INFERENCE_CACHED_ATTENTION_CUH
#define PLUMBLINE_GPU_INFERENCE_CACHED_ATTENTION_CUH

#include <algorithm>
#include <vector>

#include "attention/cache.cuh"
#include "attention/check_problem.cuh"
#include "attention/score_methods.cuh"
#include "model/attention_layer.cuh"
#include "model/position_method.hpp"

namespace plumbline::gpu {

/// New tokens of one sequence among the rows that go through the layers together.
struct Piece {
  int sequence, first_row, count;
  int before;  ///< tokens of the sequence that the cache holds already
};

/// Sizes of a cache; the last `beyond` places of its capacity stay empty.
struct CacheShape {
  int batch, capacity;
  int beyond;
};

/// Keys after the query that a method takes notice of: DAPE's second convolution, where it is 3
/// wide, reads what the first one made of the key after the query out of 0 and the keys before. In
/// training that key is there for every token but the last one, which is as if it were not there.
/// Here it always is: what a token leaves in the cache must not change when others follow.
inline int keys_beyond(const ModelConfiguration& c) {
  return dape_taps(position_method(c.position).bias) / 2;
}

/// What a layer keeps of the tokens, [batch, heads, capacity, ...] (attention/cache.cuh).
template <class Element>
struct LayerCache {
  Element *k, *v;
  double* sums;  ///< prefix sums of what the method sums; else null

  LayerCache(const ModelConfiguration& c, const CacheShape& shape, Arena& arena)
      : k(arena.take<Element>(shape.batch * keys(c, shape))),
        v(arena.take<Element>(shape.batch * keys(c, shape))),
        sums(sum_count(c, shape) > 0 ? arena.take<double>(shape.batch * sum_count(c, shape))
                                     : nullptr) {}

  /// Numbers a sequence.
  static std::size_t keys(const ModelConfiguration& c, const CacheShape& shape) {
    return static_cast<std::size_t>(c.kv_heads) * shape.capacity * c.head_dim();
  }
  static std::size_t sum_count(const ModelConfiguration& c, const CacheShape& shape) {
    const bool sums = summed_parameter(position_method(c.position).bias) >= 0;
    return sums ? static_cast<std::size_t>(c.heads) * shape.capacity : 0;
  }
};

/// attention_layer of model/attention_layer.cuh for the last rows alone.
template <class Element>
class CachedAttention {
 public:
  /// Room for a call, of all layers one after the other. The largest piece has `piece` tokens.
  struct Room {
    Element *inputs, *merged;  ///< [rows, columns of q, k and v], [rows, width]
    Element *q, *k, *v, *o;    ///< of a piece, by heads
    float *gates, *lse;
    const int* page;  ///< 0: a sequence's cache is one page

    Room(const Step<Element>& step, Arena& arena, int piece) {
      const ModelConfiguration& c = step.configuration;
      const std::size_t key_width = static_cast<std::size_t>(c.kv_heads) * c.head_dim();
      inputs = arena.take<Element>(step.max_rows() * (c.width + 2 * key_width));
      merged = arena.take<Element>(step.max_rows() * c.width);
      for (Element** of_queries : {&q, &o}) *of_queries = arena.take<Element>(piece * c.width);
      for (Element** of_keys : {&k, &v}) *of_keys = arena.take<Element>(piece * key_width);
      gates = arena.take<float>(LayerPosition<Element>::activations(c, 1, piece));
      lse = arena.take<float>(static_cast<std::size_t>(piece) * c.heads);
      int* const of_page = arena.take<int>(1);
      if (of_page) fill_zero(step.stream, of_page, 1);
      page = of_page;
    }
  };

  CachedAttention(Step<Element>& step, const AttentionNames& names, int layer,
                  const SharedAttention& shared, const Room& room, const CacheShape& shape,
                  const LayerCache<Element>& cache)
      : step_(step),
        attention_(shared.attention),
        position_(step.stream, step.configuration, step.layout, layer, step.master.data(),
                  step.gradients.data(), room.gates, shared.position),
        output_(step, names.output),
        room_(room),
        shape_(shape),
        cache_(cache) {
    for (const std::string& name : names.inputs) inputs_.emplace_back(step, name);
  }

  /// y [rows, width] for x [rows, width]; the pieces' tokens are in the cache then.
  void forward(const std::vector<Piece>& pieces, int rows, const Element* x, Element* y) {
    const ModelConfiguration& c = step_.configuration;
    Columns columns[3];
    project(rows, x, columns);
    for (const Piece& piece : pieces) {
      const std::size_t row = piece.first_row;
      attend(piece, x + row * c.width, columns);
      merge_heads(step_.stream, c.format, {1, piece.count, c.heads, c.head_dim(), c.width}, room_.o,
                  room_.merged + row * c.width);
    }
    output_.forward(rows, room_.merged, y);
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
    Element* next = room_.inputs;
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

  /// The output of a piece's heads, in room_.o.
  void attend(const Piece& piece, const Element* x, const Columns (&columns)[3]) {
    const ModelConfiguration& c = step_.configuration;
    const Stream& stream = step_.stream;
    Element* const heads[3] = {room_.q, room_.k, room_.v};
    for (int n = 0; n < 3; ++n) {
      const std::size_t start = static_cast<std::size_t>(piece.first_row) * columns[n].stride;
      split_heads(stream, c.format,
                  {1, piece.count, n == 0 ? c.heads : c.kv_heads, c.head_dim(), columns[n].stride},
                  columns[n].first + start, heads[n]);
    }
    const std::size_t keys = piece.sequence * LayerCache<Element>::keys(c, shape_);
    const Appended of_keys{1, c.kv_heads, shape_.capacity, piece.before, piece.count};
    append_rows(stream, c.format, of_keys, c.head_dim(), room_.k, cache_.k + keys);
    append_rows(stream, c.format, of_keys, c.head_dim(), room_.v, cache_.v + keys);

    plumbline_problem problem = attention_problem(c, 1, piece.count);
    problem.keys = piece.before + piece.count + shape_.beyond;
    problem.query_offset = piece.before;
    problem.page_size = shape_.capacity;
    problem.pages = room_.page;
    problem.q = room_.q;
    problem.k = cache_.k + keys;
    problem.v = cache_.v + keys;
    position_.forward(1, piece.count, x, problem);
    if (cache_.sums) {
      double* const sums = cache_.sums + piece.sequence * LayerCache<Element>::sum_count(c, shape_);
      const float*& summed = problem.parameters[summed_parameter(problem.bias)];
      append_prefix_sums(stream, {1, c.heads, shape_.capacity, piece.before, piece.count}, summed,
                         sums);
      summed = nullptr;
      problem.prefix_sums = sums;
    }
    const plumbline_outputs outputs{room_.o, room_.lse};
    attention_.decode(problem, outputs, shape_.capacity);
  }

  Step<Element>& step_;
  const Attention& attention_;
  LayerPosition<Element> position_;
  std::vector<LinearLayer<Element>> inputs_;
  LinearLayer<Element> output_;
  const Room room_;
  const CacheShape shape_;
  const LayerCache<Element> cache_;
};

}  // namespace plumbline::gpu

#endif
